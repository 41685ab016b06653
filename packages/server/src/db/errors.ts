import pg from 'pg'

/** Meaning of PostgreSQL's errors. The names of constraints come from `schema.sql`. */

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
/**
 * Errors that also mean that the database is away, although their class does not: a standby that has not taken over yet reads
 * but does not write, or the server ended the session because a transaction was idle or ran too long.
 */
const awayStates = new Set(['25006', '25P03', '25P04'])
const awayCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  // This process, or the machine, has too many open files.
  'EMFILE',
  'ENFILE',
  'ENOBUFS',
])
/** The driver's messages for a lost or refused connection. It has no codes for these. */
const awayMessages =
  /timeout exceeded when trying to connect|Query read timeout|Connection terminated|not queryable|Cannot use a pool after calling end|Client was closed/

/** Whether the database has no free connection: the server, the database or the role has reached its limit. */
export const isFull = (error: unknown): boolean =>
  error instanceof AggregateError ? error.errors.some(isFull) : codeOf(error) === '53300'

/** The rows of a statement have more bytes than its caller accepts. */
export class TooManyBytes extends Error {
  constructor(bytesMax: number) {
    super(`The rows have more than ${bytesMax} bytes`)
  }
}

/** Whether the server cancelled a statement that exceeded its time limit. */
export const isTooSlow = (error: unknown): boolean => codeOf(error) === '57014'

/** Whether the database is away: the same request can succeed later, unchanged. */
export function isAway(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isAway)
  const code = codeOf(error)
  if (code && awayCodes.has(code)) return true
  // A socket in the file system is gone while its server starts again.
  if (code === 'ENOENT' && (error as NodeJS.ErrnoException).syscall === 'connect') return true
  if (code && error instanceof pg.DatabaseError) return awayStates.has(code) || awayClasses.includes(code.slice(0, 2))
  return error instanceof Error && awayMessages.test(error.message)
}
