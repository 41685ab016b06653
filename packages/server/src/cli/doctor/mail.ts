import type { Config } from '../../config.ts'
import { mailTransport } from '../../mail.ts'
import { type Finding, problem, well } from './check.ts'

const answerMs = 5_000

/** Whether the mail server answers, speaks TLS as the setting asks, and accepts the login. Sends no mail. */
export async function checkMail({ mail }: Pick<Config, 'mail'>): Promise<Finding> {
  if (!mail) return well('not set up: links of invitations are copied by hand (PENSTOCK_SMTP_URL, PENSTOCK_MAIL_FROM)')
  const { hostname, port, protocol, username } = new URL(mail.url)
  const server = `${hostname}:${port || (protocol === 'smtps:' ? 465 : 587)}`
  const transport = await mailTransport(mail, answerMs)
  try {
    await transport.verify()
    return well(`${server} answers${username ? ' and accepts the login' : ''}`)
  } catch (error) {
    const {
      code = '',
      responseCode,
      reason,
      cause,
    } = error as {
      code?: string
      responseCode?: number
      reason?: string
      cause?: { code?: string }
    }
    return problem(explain({ code, responseCode, detail: reason ?? cause?.code }, server, protocol))
  } finally {
    transport.close()
  }
}

function explain(
  { code, responseCode, detail }: { code: string; responseCode: number | undefined; detail: string | undefined },
  server: string,
  protocol: string,
): string {
  const answered = responseCode === undefined ? code : `${code}, ${responseCode}`
  if (code === 'EAUTH')
    return `${server} refuses the login (${answered}). Check user and password in PENSTOCK_SMTP_URL; characters such as @, : and / are written as %40, %3A and %2F in it.`
  if (code === 'EDNS' || code === 'ENOTFOUND')
    return `The host of ${server} was not found (${answered}). Check PENSTOCK_SMTP_URL.`
  if (
    code === 'ETLS' ||
    /CERT|SSL|TLS|SIGNED|EPROTO/.test(`${code} ${detail ?? ''}`) ||
    (code === 'ESOCKET' && protocol === 'smtps:')
  ) {
    return `TLS with ${server} fails (${detail ?? answered}). Check its certificate, or use smtp:// with the port of STARTTLS, or smtps:// with the port of TLS, in PENSTOCK_SMTP_URL.`
  }
  return `${server} does not answer as a mail server (${answered}). Check host and port in PENSTOCK_SMTP_URL, and that firewalls let this machine through.`
}
