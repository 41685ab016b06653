import { type DestinationStream, type Logger, pino } from 'pino'
import type { LogLevel } from './config.ts'

export type { Logger }

/** Lines are written together: a system call for each would cost more than many an answer. */
const standardError = () => pino.destination({ dest: 2, sync: false, minLength: 8_192, periodicFlush: 100 })

/**
 * JSON lines on standard error; what a person should read goes to standard output. A log line never holds a body, a
 * query, a header, a secret or a token: it is made of the few fields that are named where it is written.
 */
export function createLogger(level: LogLevel, destination: DestinationStream = standardError()): Logger {
  return pino(
    {
      name: 'penstock',
      level,
      base: null,
      formatters: { level: (level) => ({ level }) },
      serializers: { err: describeError },
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    destination,
  )
}

/**
 * The part of an error that may be logged. Messages and details of database errors quote values, so of these only the code
 * and the names remain; of others the message, which is our own or Node's.
 */
export function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { type: typeof error }
  const { code, constraint, table, routine, severity } = error as Error & Record<string, unknown>
  const ofDatabase = severity !== undefined && routine !== undefined
  return {
    type: error.name,
    ...(ofDatabase ? { constraint, table, routine } : { message: error.message }),
    code,
    stack: error.stack
      ?.split('\n')
      .filter((line) => line.startsWith('    at '))
      .join('\n'),
    ...(error.cause === undefined ? {} : { cause: describeError(error.cause) }),
  }
}
