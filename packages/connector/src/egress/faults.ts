import { asOutcome, Outcome } from '../outcome.ts'
import { egressBounds } from './bounds.ts'

/** What a failed connection or exchange means; `host` is all of the address that is told, because the rest may be secret. */
export function outcomeOfFault(error: unknown, host: string): Outcome {
  const known = asOutcome(error) ?? (error instanceof Error ? asOutcome(error.cause) : undefined)
  if (known) return known
  const code = codeOf(error)
  const outcome = (instruction: 'retry' | 'unreachable' | 'refused', name: string, message: string) =>
    new Outcome(instruction, name, message, { cause: error })
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN' || code === 'EAI_NODATA') {
    return outcome('unreachable', 'host_not_found', `The name ${host} cannot be found; check the address.`)
  }
  if (code === 'ERR_INVALID_CHAR' || code === 'ERR_UNESCAPED_CHARACTERS') {
    const message =
      'A secret or setting has a character that cannot be sent to a server, such as a line break; set it again.'
    // The cause could quote what could not be sent.
    return new Outcome('refused', 'unfit_character', message)
  }
  if (isCertificateFault(code)) {
    return outcome('refused', 'certificate_not_trusted', `The certificate of ${host} is not trusted (${code}).`)
  }
  if (code === 'HPE_HEADER_OVERFLOW') {
    const message = `${host} answered with headers or trailers of more than ${egressBounds.headerBytes} bytes.`
    return new Outcome('failed', 'answer_too_large', message)
  }
  if (code.startsWith('HPE_')) {
    return outcome(
      'retry',
      'strange_answer',
      `${host} answered with what is not HTTP (${code}); check address and port.`,
    )
  }
  if (code === 'Z_DATA_ERROR') {
    return outcome('retry', 'strange_answer', `${host} sent a compressed answer that cannot be decompressed.`)
  }
  if (code === 'EPROTO' || code.startsWith('ERR_SSL')) {
    return outcome('unreachable', 'tls_failed', `${host} does not speak TLS as it should; check the address and port.`)
  }
  if (nothingAnswers.has(code)) {
    return outcome('unreachable', 'no_answer', `Nothing answers at ${host} (${code}); check that the server runs.`)
  }
  return outcome('retry', 'connection_lost', `The connection to ${host} broke off${code ? ` (${code})` : ''}.`)
}

/** A status that ends no exchange: of a protocol that was not asked for, or of none. */
export const strangeStatus = (host: string, status: number): Outcome =>
  new Outcome(
    'retry',
    'strange_status',
    status === 101
      ? `${host} wants to switch to another protocol (status 101); check the address.`
      : `${host} answered with the status ${status}, which HTTP does not know.`,
  )

const nothingAnswers = new Set(
  'ECONNREFUSED EHOSTUNREACH ENETUNREACH EHOSTDOWN ENETDOWN ETIMEDOUT EADDRNOTAVAIL EACCES'.split(' '),
)

const isCertificateFault = (code: string): boolean =>
  /CERT|^UNABLE_TO_|^HOSTNAME_MISMATCH$|^INVALID_CA$|^INVALID_PURPOSE$|^PATH_LENGTH_EXCEEDED$|^CRL_/.test(code)

function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : ''
}
