import { ConnectorError } from '@penstock/connector'

/**
 * The connector error for an error while a session is opened or used.
 * @param host the name of the server
 * @param signedIn whether SFTP had begun
 */
export function connectorErrorOfSession(error: unknown, host: string, signedIn: boolean): ConnectorError {
  if (error instanceof ConnectorError) return error
  const { level, code, message = '' } = error as { level?: unknown; code?: unknown; message?: string }
  if (level === 'client-authentication') {
    const advice = 'check the user name, and the key or password.'
    return new ConnectorError('invalid_credentials', `${host} denies access to this user: ${advice}`)
  }
  if (level === 'client-timeout') {
    return new ConnectorError('timeout', `${host} does not answer any more.`)
  }
  if (typeof code === 'string' && nothingAnswers.has(code)) {
    return new ConnectorError('unreachable', `Nothing answers at ${host} (${code}); check the host name and the port.`)
  }
  if (level === 'handshake' && /no matching/.test(message)) {
    return new ConnectorError('not_supported', `${host} offers only outdated ways to encrypt a session.`)
  }
  // A cut, or a disconnect message of the server, which has a number.
  if (level === 'client-socket' || code !== undefined) return connectionLost(host)
  return signedIn ? invalidAnswer(host, 'its packets cannot be read') : noSsh(host)
}

/** The server does not speak SSH, or it is full. Both can end or persist although the settings are correct. */
export const noSsh = (host: string, why?: string): ConnectorError =>
  new ConnectorError(
    'wrong_protocol',
    `${host} does not speak SSH as it should${why === undefined ? '' : `: ${why}`}; check the host name and the port.`,
  )

/** The server answered something that is no answer. `what` is a clause about the server, without anything it sent. */
export const invalidAnswer = (host: string, what: string): ConnectorError =>
  new ConnectorError(
    'unexpected_response',
    `${host} violated the SFTP protocol: ${what}. Look at the log of that server, and check the host name and the port.`,
  )

export const connectionLost = (host: string): ConnectorError =>
  new ConnectorError('connection_lost', `The connection to ${host} was interrupted.`)

export const tooSlow = (host: string, timeoutMs: number): ConnectorError =>
  new ConnectorError('timeout', `${host} has not answered within ${timeoutMs / 1000} seconds.`)

export const passwordExpired = (host: string): ConnectorError =>
  new ConnectorError(
    'expired_credentials',
    `${host} requires a new password for this user; set one there, then save it here.`,
  )

/** The SSH_FX_… codes that need separate handling. */
const status = {
  noSuchFile: 2,
  permissionDenied: 3,
  failure: 4,
  noConnection: 6,
  connectionLost: 7,
  unsupported: 8,
} as const

/** The connector error for a refused request. `undefined` if the error is the end of the session instead. */
export function connectorErrorOfStatus(error: unknown, subject: string): ConnectorError | undefined {
  switch ((error as { code?: unknown }).code) {
    case status.noSuchFile:
      return new ConnectorError('object_not_found', `${subject} does not exist on the server; check the path.`)
    case status.permissionDenied:
      return new ConnectorError('permission_denied', `The server denies this user access to ${subject}.`)
    case status.noConnection:
    case status.connectionLost:
      return undefined
    case status.unsupported:
      return new ConnectorError('unexpected_response', `The server cannot do what is needed with ${subject}.`)
    default: {
      if (typeof (error as { code?: unknown }).code !== 'number') return undefined
      // A full disk and much else have the same number.
      return new ConnectorError('platform_error', `The server failed with ${subject}; see whether its disk is full.`)
    }
  }
}

/** Whether the server refused one request, and the session continues. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof ConnectorError &&
  ['object_not_found', 'permission_denied', 'unexpected_response', 'platform_error'].includes(error.code)

export const isMissing = (error: unknown): boolean =>
  error instanceof ConnectorError && error.code === 'object_not_found'

const nothingAnswers = new Set(
  'ECONNREFUSED EHOSTUNREACH ENETUNREACH EHOSTDOWN ENETDOWN ETIMEDOUT EADDRNOTAVAIL'.split(' '),
)
