import { type ConnectorContext, ConnectorError } from '@penstock/connector'
import { errorTextOf, problemName, textOf, transientErrorOf } from '../object-stores/answers.ts'
import { readXml, textAt } from '../object-stores/xml.ts'

/** Temporary credentials of AWS, from its Security Token Service. */

/** An access key, with which requests are signed. */
export type AwsCredentials = {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
}

/** Temporary credentials, and when they end, in milliseconds of the clock. */
export type AwsSession = { readonly credentials: AwsCredentials; readonly endsAt: number }

/** A session that is replaced before it ends. */
export type KeptSession = {
  current(): Promise<AwsCredentials>
  /** Has the next call begin another session, because the current one is refused. */
  forget(): void
}

/** So long before they end, credentials are replaced: a request takes some time. */
const replacedMs = 5 * 60_000

/** An answer has some kilobytes. */
const answerBytesMax = 256 << 10

/** The address of the Security Token Service of a region. */
export const stsUrl = (region: string): string =>
  `https://sts.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}/`

/** Keeps a session until it must be replaced, or is forgotten. */
export function keepSession(begin: () => Promise<AwsSession>): KeptSession {
  let session: Promise<AwsSession> | undefined
  return {
    async current() {
      const known = await session?.catch(() => undefined)
      if (!known || known.endsAt - replacedMs < Date.now()) {
        session = begin()
        return (await session).credentials
      }
      return known.credentials
    },
    forget() {
      session = undefined
    },
  }
}

/**
 * Reads the answer of the service to an action, as XML.
 * @throws ConnectorError `malformed_response`
 */
export function sessionIn(answer: string, action: string, service: string): AwsSession {
  const xml = readXml(answer, service)
  const text = (name: string): string => textAt(xml, `${action}Response`, `${action}Result`, 'Credentials', name).trim()
  const [accessKeyId, secretAccessKey, sessionToken] = ['AccessKeyId', 'SecretAccessKey', 'SessionToken'].map(text)
  const endsAt = Date.parse(text('Expiration'))
  if (!accessKeyId || !secretAccessKey || !sessionToken || Number.isNaN(endsAt)) {
    throw new ConnectorError('malformed_response', `${service} answered ${action} without credentials.`)
  }
  return { credentials: { accessKeyId, secretAccessKey, sessionToken }, endsAt }
}

/** The code in the answer of a refusal; empty if it has none. */
export function codeIn(text: string, service: string): string {
  try {
    const answer = readXml(text, service)
    return textAt(answer, 'ErrorResponse', 'Error', 'Code') || textAt(answer, 'Error', 'Code')
  } catch {
    return ''
  }
}

/** The request for a role by a signed token of an issuer that the role trusts. */
export type WebIdentity = {
  readonly region: string
  readonly roleArn: string
  /** The name of the session in the logs of AWS: 2 to 64 characters of `\w+=,.@-`. */
  readonly sessionName: string
  /** The token, asked for whenever a session begins. */
  readonly token: () => Promise<string>
}

/**
 * Takes on a role with a token of an OpenID Connect issuer (`AssumeRoleWithWebIdentity`), without any key: the request is
 * not signed.
 */
export async function assumeRoleWithWebIdentity(
  { egress, signal }: Pick<ConnectorContext, 'egress' | 'signal'>,
  { region, roleArn, sessionName, token }: WebIdentity,
): Promise<AwsSession> {
  const action = 'AssumeRoleWithWebIdentity'
  const webIdentityToken = await token()
  const body = new URLSearchParams({
    Action: action,
    Version: '2011-06-15',
    RoleArn: roleArn,
    RoleSessionName: sessionName,
    WebIdentityToken: webIdentityToken,
  }).toString()
  const response = await egress.request(stsUrl(region), {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' },
    body,
    signal,
  })
  if (!response.ok) throw await refusalOf(response, webIdentityToken)
  return sessionIn(await textOf(response, answerBytesMax), action, 'AWS')
}

const reasons: Readonly<Record<string, readonly ['invalid_credentials' | 'invalid_address', string]>> = {
  AccessDenied: [
    'invalid_credentials',
    'AWS does not let this identity take on the role. Compare the issuer, the audience and the subject in the trust policy of the role.',
  ],
  InvalidIdentityToken: [
    'invalid_credentials',
    'AWS does not accept the token. Add the issuer to the identity providers of the AWS account, with the audience, and make sure that AWS can reach the issuer.',
  ],
  ExpiredTokenException: [
    'invalid_credentials',
    'AWS reports that the token has expired. Correct the clock of this service.',
  ],
  RegionDisabledException: [
    'invalid_address',
    'The Security Token Service is disabled in this region. Set another region.',
  ],
}

async function refusalOf(response: Response, token: string): Promise<ConnectorError> {
  const passing = transientErrorOf('AWS', response)
  const text = await errorTextOf(response)
  const code = problemName(codeIn(text, 'AWS'), (said) => said.replaceAll(token, ''))
  if (code === 'IDPCommunicationError') {
    return new ConnectorError('platform_error', 'AWS could not reach the issuer of the token.')
  }
  if (code === 'Throttling' || code === 'ThrottlingException') {
    return new ConnectorError('rate_limited', 'AWS limits the rate of AssumeRoleWithWebIdentity.')
  }
  if (passing) return passing
  const [known, message] = reasons[code] ?? []
  if (known && message) return new ConnectorError(known, message)
  const what = `status ${response.status}${code ? `, ${code}` : ''}`
  return new ConnectorError('request_refused', `AWS refused AssumeRoleWithWebIdentity (${what}). Check the role.`)
}
