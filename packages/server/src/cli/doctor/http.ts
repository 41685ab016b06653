import type { OutgoingHttpHeaders } from 'node:http'
import type { TLSSocket } from 'node:tls'

/** Time limit for the answer of a server to the doctor, in milliseconds. */
const answerMs = 5_000
/** Characters of an answer that are read. */
const textLengthMax = 65_536

type Asked = {
  readonly status: number
  /** When the certificate of the server expires. Undefined without TLS. */
  readonly certificateExpires: Date | undefined
  /** The beginning of the answer. */
  readonly text: string
}

/** Sends a request to an address of a setting, and reads the answer. Follows no redirect. Rejects with a code. */
export async function ask(
  url: URL,
  {
    method = 'GET',
    headers = {},
    ca,
  }: { method?: string; headers?: OutgoingHttpHeaders; ca?: Buffer | undefined } = {},
): Promise<Asked> {
  const { request } = url.protocol === 'https:' ? await import('node:https') : await import('node:http')
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(answerMs)
    const sent = request(url, { method, headers, signal, agent: false, ...(ca && { ca }) }, (answer) => {
      const { valid_to: until } = (answer.socket as Partial<TLSSocket>).getPeerCertificate?.() ?? {}
      let text = ''
      const end = () => {
        sent.destroy()
        resolve({ status: answer.statusCode ?? 0, certificateExpires: until ? new Date(until) : undefined, text })
      }
      answer.setEncoding('utf8').on('end', end).on('error', reject)
      answer.on('data', (piece: string) => {
        text += piece
        if (text.length > textLengthMax) end()
      })
    })
    sent.on('error', reject)
    sent.end()
  })
}

const certificateCodes = /^(?:SELF_SIGNED|DEPTH_ZERO|UNABLE_TO|CERT_|ERR_TLS|HOSTNAME_MISMATCH)/

/** Why a server could not be asked, as a sentence without what to do. */
export function describeFailure(error: unknown, server: string): string {
  const { code, name } = error as { code?: string; name?: string }
  if (name === 'AbortError' || name === 'TimeoutError' || code === 'ETIMEDOUT' || code === 'ABORT_ERR') {
    return `${server} does not answer within ${answerMs / 1000} seconds.`
  }
  if (code === 'ECONNREFUSED') return `Nothing listens on ${server} (ECONNREFUSED).`
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `The host of ${server} was not found (${code}).`
  if (code === 'CERT_HAS_EXPIRED') return `The TLS certificate of ${server} has expired.`
  if (code === 'EPROTO' || code?.startsWith('ERR_SSL'))
    return `${server} does not speak TLS, or another version of it (${code}).`
  if (certificateCodes.test(code ?? '')) return `The TLS certificate of ${server} is not accepted (${code}).`
  return `${server} cannot be asked (${code ?? name}).`
}

/** Scheme, host and port, and the path: an address without user, password and query. */
export const withoutSecrets = ({ protocol, host, pathname }: URL): string =>
  `${protocol}//${host}${pathname === '/' ? '' : pathname}`
