import pg from 'pg'

/** What PostgreSQL's refusals mean to us. The names of constraints are those of `schema.sql`. */

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined

/** Whether a row that `constraint` protects prevented the statement. */
export function violates(error: unknown, ...constraints: string[]): boolean {
  return error instanceof pg.DatabaseError && constraints.includes(error.constraint ?? '')
}

/** Whether a row was refused because it has no value in a column that needs one. */
export function lacks(error: unknown, column: string): boolean {
  return error instanceof pg.DatabaseError && error.code === '23502' && error.column === column
}

export const isDeadlock = (error: unknown): boolean => codeOf(error) === '40P01' || codeOf(error) === '40001'

/** Classes of SQLSTATE that say that the server is away, starting, stopping or full, not that the statement is wrong. */
const awayClasses = ['08', '53', '57', '58', 'F0']
/** A standby that has not taken over yet reads and does not write. */
const readOnly = '25006'
const awayCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
])
/** How the driver words a lost or refused connection; it has no codes for these. */
const awayMessages =
  /timeout exceeded when trying to connect|Query read timeout|Connection terminated|not queryable|Cannot use a pool after calling end|Client was closed/

/** Whether the database is away: the same request can succeed later, unchanged. */
export function isAway(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isAway)
  const code = codeOf(error)
  if (code && awayCodes.has(code)) return true
  if (code && error instanceof pg.DatabaseError) return code === readOnly || awayClasses.includes(code.slice(0, 2))
  return error instanceof Error && awayMessages.test(error.message)
}
