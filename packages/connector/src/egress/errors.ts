import { asConnectorError, ConnectorError, type ConnectorErrorCode } from '../connector-error.ts'
import { egressBounds } from './bounds.ts'
import { certificateProblem } from './certificates.ts'

/**
 * Connector error of a failed connection or exchange. It names only the `host` of the address, because the rest may be
 * secret.
 */
export function connectorErrorOfError(error: unknown, host: string): ConnectorError {
  const known = asConnectorError(error) ?? (error instanceof Error ? asConnectorError(error.cause) : undefined)
  if (known) return known
  const code = codeOf(error)
  const because = (name: ConnectorErrorCode, message: string) => new ConnectorError(name, message, { cause: error })
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN' || code === 'EAI_NODATA') {
    return because('host_not_found', `The name ${host} cannot be found. Check the address.`)
  }
  if (code === 'ERR_INVALID_CHAR' || code === 'ERR_UNESCAPED_CHARACTERS') {
    const message =
      'A secret or setting contains a character that cannot be sent to a server, such as a line break. Enter it again.'
    // The cause could quote the secret.
    return new ConnectorError('invalid_setting', message)
  }
  const certificate = certificateProblem(error)
  if (certificate) return because('certificate_not_trusted', `The certificate of ${host} ${certificate.message}.`)
  if (code === 'HPE_HEADER_OVERFLOW') {
    const message = `${host} answered with headers or trailers of more than ${egressBounds.headerBytes} bytes.`
    return new ConnectorError('response_too_large', message)
  }
  if (code.startsWith('HPE_')) {
    return because(
      'malformed_response',
      `${host} sent an answer that is not HTTP (${code}). Check the address and the port.`,
    )
  }
  if (code === 'Z_DATA_ERROR') {
    return because('malformed_response', `${host} sent a compressed answer that cannot be decompressed.`)
  }
  if (code === 'EPROTO' || code.startsWith('ERR_SSL')) {
    return because('wrong_protocol', `${host} does not use TLS correctly. Check the address and the port.`)
  }
  if (nothingAnswers.has(code)) {
    return because('unreachable', `No server answers at ${host} (${code}). Check that the server runs.`)
  }
  return because('connection_lost', `The connection to ${host} broke off${code ? ` (${code})` : ''}.`)
}

/** Codes of errors that another address, or another way to it, would end. */
const ofAddress: readonly ConnectorErrorCode[] = [
  ...(['host_not_found', 'unreachable', 'wrong_protocol', 'malformed_response', 'certificate_not_trusted'] as const),
]

/** The same error, with advice for an address that nobody can edit. Errors of other codes stay as they are. */
export function adviseOnFixedAddress(error: ConnectorError): ConnectorError {
  if (!ofAddress.includes(error.code)) return error
  const happened = error.message.replace(/ Check [^.]*\.$/, '')
  return error.with({
    message: `${happened} The connector sets this address itself: check the DNS, the proxy and the firewall of the machine that runs Penstock.`,
  })
}

/** A status that cannot end an exchange: a switch to a protocol that was not requested, or an unknown status. */
export const strangeStatus = (host: string, status: number): ConnectorError =>
  new ConnectorError(
    'malformed_response',
    status === 101
      ? `${host} wants to switch to another protocol (status 101). Check the address.`
      : `${host} answered with the status ${status}, which is not a valid HTTP status.`,
  )

const nothingAnswers = new Set(
  'ECONNREFUSED EHOSTUNREACH ENETUNREACH EHOSTDOWN ENETDOWN ETIMEDOUT EADDRNOTAVAIL EACCES'.split(' '),
)

function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : ''
}
