import { ConnectorError, type ConnectorErrorCode } from '@penstock/connector'
import { codeOf, connectionLost, connectorErrorOfNetwork } from '../databases/problems.ts'
import type { Place } from '../databases/settings.ts'

/** An error of the server, as the driver hands it on. It also holds the statement, values and all. */
type ServerError = Error & { readonly errno: number; readonly sqlState: string; readonly code: string }

const isServerError = (error: unknown): error is ServerError =>
  error instanceof Error && 'errno' in error && typeof error.errno === 'number' && 'sqlState' in error

/** The connector error for an error of the driver. Returns a defect unchanged. */
export function connectorErrorOf(error: unknown, place: Place, connecting: boolean): unknown {
  if (isServerError(error)) return connectorErrorOfNumber(error, place)
  const code = codeOf(error)
  if (code === 'HANDSHAKE_NO_SSL_SUPPORT') {
    return new ConnectorError(
      'not_supported',
      `${place.host} does not offer TLS, which the TLS mode requires. Turn TLS on there.`,
    )
  }
  if (
    /^AUTH_SWITCH|^MYSQL_CLEAR_PASSWORD/.test(code) ||
    (error instanceof Error && /unknown plugin/.test(error.message))
  ) {
    return new ConnectorError(
      'not_supported',
      `${place.host} wants ${place.user} to sign in another way than by caching_sha2_password or mysql_native_password; change how this user is identified.`,
    )
  }
  const cause = error instanceof Error && code === 'HANDSHAKE_SSL_ERROR' ? error.cause : error
  const known = connectorErrorOfNetwork(cause, place.host, connecting)
  if (known || !(error instanceof Error)) return known ?? error
  if (code === 'HANDSHAKE_SSL_ERROR') {
    return new ConnectorError('certificate_not_trusted', `The certificate of ${place.host} is not trusted.`)
  }
  if (/^PROTOCOL_|^ECONN/.test(code) || /abandoned|closed state|closed/i.test(error.message)) {
    return connectionLost(place.host)
  }
  return error
}

type Meaning = readonly [code: ConnectorErrorCode, sentence: string]

const credentials: Meaning = [
  'invalid_credentials',
  'The server does not accept this user. Check the user, the password and the database, and from which hosts and with which TLS mode the user may connect.',
]
const denied: Meaning = ['permission_denied', 'The user lacks a required permission; grant it.']
const tableNotFound: Meaning = ['table_not_found', 'There is no such table or view; check the setting.']
const invalidQuery: Meaning = ['invalid_query', 'The SQL query is not valid; it must be one SELECT statement.']
const conflict: Meaning = ['conflict', 'Another transaction interfered.']
const tooMany: Meaning = ['platform_unavailable', 'The server has no free connections.']
const shuttingDown: Meaning = ['platform_unavailable', 'The server ended the connection.']
const cancelled: Meaning = ['statement_timeout', 'The server cancelled the statement, possibly by its own timeout.']
const readOnly: Meaning = ['permission_denied', 'This would write, but the connection is read-only.']

/** By the number of the error. */
const meanings: Readonly<Record<number, Meaning>> = {
  1044: credentials,
  1045: credentials,
  1251: credentials,
  1275: credentials,
  1698: credentials,
  1820: credentials,
  1862: credentials,
  3118: credentials,
  3159: credentials,
  4151: credentials,
  1049: ['table_not_found', 'There is no database with this name; check the setting.'],
  1051: tableNotFound,
  1146: tableNotFound,
  1109: tableNotFound,
  1054: ['column_not_found', 'There is no such column.'],
  1060: ['invalid_query', 'Two columns of the query have the same name. Give each its own name with AS.'],
  1142: denied,
  1143: denied,
  1227: denied,
  1370: denied,
  1064: invalidQuery,
  1149: invalidQuery,
  1305: invalidQuery,
  1055: invalidQuery,
  1222: invalidQuery,
  1205: conflict,
  1213: conflict,
  1020: conflict,
  1040: tooMany,
  1203: tooMany,
  1226: tooMany,
  1053: shuttingDown,
  1927: shuttingDown,
  2006: shuttingDown,
  2013: shuttingDown,
  4031: shuttingDown,
  1317: cancelled,
  1969: cancelled,
  3024: cancelled,
  1290: readOnly,
  1792: readOnly,
  1836: readOnly,
  1021: ['platform_unavailable', 'The disk of the server is full.'],
  1114: ['platform_unavailable', 'A table of the server is full.'],
}

function connectorErrorOfNumber({ errno, sqlState }: ServerError, { host }: Place): ConnectorError {
  const [code, sentence] = meanings[errno] ?? byState(sqlState)
  return new ConnectorError(code, `${sentence.slice(0, -1)} (${host}, error ${errno}).`)
}

function byState(state: string): Meaning {
  if (state.startsWith('28')) return credentials
  if (state.startsWith('08')) return ['connection_lost', 'The connection to the server was interrupted.']
  if (state.startsWith('40')) return conflict
  if (state.startsWith('42')) return ['invalid_query', 'The server cannot run this statement.']
  if (state.startsWith('22')) return ['statement_failed', 'The query fails on a value that it reads.']
  return ['statement_failed', 'The server refused the statement.']
}

/** Errors that a row, and nothing else, is to blame for, and why; `@` stands for the column. */
const reasons: Readonly<Record<number, string>> = {
  1217: 'Another row refers to this one by a foreign key.',
  1451: 'Another row refers to this one by a foreign key.',
  1048: 'There is no value for @, which needs one.',
  1062: 'A row with the same unique key already exists.',
  1138: 'There is no value for @, which needs one.',
  1216: 'The row refers to another row that does not exist, by a foreign key.',
  1264: 'A number is out of the range of @.',
  1265: 'A value is not one that @ accepts.',
  1292: 'A value is not of the type of @.',
  1364: 'There is no value for @, which needs one.',
  1366: 'A value is not of the type of @.',
  1367: 'A value is not of the type of @.',
  1406: 'A text is too long for @.',
  1411: 'A value is not a date or time that @ accepts.',
  1416: 'A value is not a geometry that @ accepts.',
  1452: 'The row refers to another row that does not exist, by a foreign key.',
  1525: 'A value is not of the type of @.',
  1586: 'A row with the same unique key already exists.',
  1690: 'A number is out of the range of @.',
  1761: 'The row conflicts with other rows, by a foreign key.',
  1644: 'A trigger of the table refused the row.',
  3140: 'A value is not JSON that @ accepts.',
  3156: 'A value is not JSON that @ accepts.',
  3819: 'The row violates a check of the table.',
  4025: 'The row violates a check of the table.',
  4078: 'A value is not of the type of @.',
}

/** A warning of the server, in the form of its errors. */
type Warning = { readonly errno: number; readonly sqlState: ''; readonly message: string }

const isWarning = (error: unknown): error is Warning =>
  typeof error === 'object' && error !== null && 'sqlState' in error && error.sqlState === ''

/**
 * Why the server does not accept a row; `undefined` if the error does not concern a row.
 * @param columns the names that may be taken from the server's message
 */
export function rowErrorOf(
  error: unknown,
  columns: readonly { readonly name: string }[] = [],
): { reason: string; field?: string; at?: number } | undefined {
  if (!isServerError(error) && !isWarning(error)) return undefined
  const own = error.sqlState === '45000' ? 'A trigger of the table refused the row.' : undefined
  const reason =
    reasons[error.errno] ??
    own ??
    (/^2[23]/.test(error.sqlState) ? `The server does not accept the row (error ${error.errno}).` : undefined)
  if (reason === undefined) return undefined
  // The messages quote values, which may look like anything; only their beginnings or ends are parsed.
  const named =
    /for column (?:`[^`]*`\.`[^`]*`\.)?[`']([^`']+)[`'] at row \d+$/.exec(error.message)?.[1] ??
    /^(?:Column|Field) '([^']+)' /.exec(error.message)?.[1]
  const field = columns.find(({ name }) => name === named)?.name
  const at = /at row (\d+)$/.exec(error.message)?.[1]
  return {
    reason: reason.replace('@', field === undefined ? 'its column' : `the column ${field}`),
    ...(field === undefined ? {} : { field }),
    ...(at === undefined ? {} : { at: Number(at) - 1 }),
  }
}
