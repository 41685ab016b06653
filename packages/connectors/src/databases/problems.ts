import { asConnectorError, ConnectorError } from '@penstock/connector'
import { type CertificateProblem, certificateProblem } from '@penstock/connector/egress/certificates'

const cures: Readonly<Record<CertificateProblem['kind'], string>> = {
  name: 'Enter a name of the certificate as the host, or have a certificate issued that includes this host.',
  authority: 'Enter the certificate of that authority as CA certificate.',
  expired: 'Have it renewed on the server.',
  'not yet valid': 'Check the clock of the server.',
  other: 'Have it replaced on the server.',
}

/** The connector error for an error of the network or of TLS; `undefined` for others. It names only the host. */
export function connectorErrorOfNetwork(error: unknown, host: string, connecting: boolean): ConnectorError | undefined {
  const known = asConnectorError(error)
  if (known) return known
  if (!(error instanceof Error)) return undefined
  const code = codeOf(error)
  const certificate = certificateProblem(error)
  if (certificate) {
    return new ConnectorError(
      'certificate_not_trusted',
      `The certificate of ${host} ${certificate.message}. ${cures[certificate.kind]}`,
    )
  }
  if (/^ERR_OSSL_PEM|^ERR_CRYPTO_INVALID|^ERR_OSSL_X509/.test(code) || /PEM/.test(error.message)) {
    return new ConnectorError(
      'invalid_setting',
      'The CA certificate is not in PEM format. Paste it with its first and last line.',
    )
  }
  if (connecting && (code === 'EPROTO' || code.startsWith('ERR_SSL'))) {
    return new ConnectorError('wrong_protocol', `${host} does not use TLS correctly. Check the address and the port.`)
  }
  if (nothingAnswers.has(code)) {
    return new ConnectorError(
      'unreachable',
      `Nothing answers at ${host} (${code}); check the address and the port, and that the server runs.`,
    )
  }
  if (broken.has(code) || code.startsWith('ERR_SSL')) return connectionLost(host)
  return undefined
}

export const connectionLost = (host: string): ConnectorError =>
  new ConnectorError('connection_lost', `The connection to ${host} was interrupted.`)

export const noAnswer = (host: string, timeoutMs: number): ConnectorError =>
  new ConnectorError(
    'unreachable',
    `No connection to ${host} was established within ${timeoutMs / 1000} seconds; check the address and the port.`,
  )

export const tooSlow = (host: string, waitMs: number): ConnectorError =>
  new ConnectorError(
    'statement_timeout',
    `${host} sent nothing for ${waitMs / 1000} seconds, so the statement was given up.`,
  )

const nothingAnswers = new Set(
  'ECONNREFUSED EHOSTUNREACH ENETUNREACH EHOSTDOWN ENETDOWN ETIMEDOUT EADDRNOTAVAIL ENOTFOUND EAI_AGAIN'.split(' '),
)
const broken = new Set(
  'ECONNRESET EPIPE ECONNABORTED ERR_STREAM_DESTROYED ERR_STREAM_PREMATURE_CLOSE PROTOCOL_CONNECTION_LOST EPROTO'.split(
    ' ',
  ),
)

export function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : ''
}
