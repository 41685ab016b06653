import { type DestinationStream, type Logger, pino } from 'pino'
import type { LogLevel } from './config.ts'

export type { Logger }

/** In characters. */
const chunkLength = 16_384
const flushMs = 100

/**
 * Standard error, where lines are written together: a system call for each would cost more than many an answer. Whatever
 * ends the process with the event `exit`, its last lines are written.
 */
function standardError(): DestinationStream {
  const file = pino.destination({ dest: 2, sync: false, contentMode: 'buffer' })
  let lines = ''
  const flush = () => {
    const chunk = lines
    lines = ''
    // The destination takes bytes in this mode, which its type does not know.
    if (chunk !== '') file.write(Buffer.from(chunk) as unknown as string)
  }
  setInterval(flush, flushMs).unref()
  process.once('beforeExit', flush)
  process.once('exit', () => {
    flush()
    file.flushSync()
  })
  return {
    // The destination could collect lines too, but measures all that it holds again for each of them.
    write: (line) => {
      lines += line
      if (lines.length >= chunkLength) flush()
    },
  }
}

/** The time of a line. Many lines have the same. */
function createClock(): () => string {
  let atMs = 0
  let text = ''
  return () => {
    const nowMs = Date.now()
    if (nowMs !== atMs) {
      atMs = nowMs
      text = `,"time":"${new Date(nowMs).toISOString()}"`
    }
    return text
  }
}

/**
 * JSON lines on standard error; what a person should read goes to standard output. A log line never holds a body, a
 * query, a header, a secret or a token: it is made of the few fields that are named where it is written.
 */
export function createLogger(level: LogLevel, destination: DestinationStream = standardError()): Logger {
  const clock = createClock()
  const log = pino(
    {
      name: 'penstock',
      level,
      base: null,
      formatters: { level: (level) => ({ level }) },
      serializers: { err: describeError },
      timestamp: clock,
    },
    destination,
  )
  writers.set(log, (fields) => destination.write(`{"level":"info"${clock()}${fields},"msg":"request"}\n`))
  return log
}

/** What the line of a request says; all of it is of our own making but the method, which Node has read. */
export type RequestLine = {
  readonly requestId: string
  readonly operation: string
  readonly method: string
  readonly status: number
  readonly durationMs: number
  readonly clientId: string | undefined
  readonly organizationId: string | undefined
  /** The trace that the request belongs to, where traces are exported. */
  readonly traceId?: string | undefined
}

const writers = new WeakMap<Logger, (fields: string) => void>()

/**
 * Writes the line of a request. There is one for each request, so it does not take the logger's way through any fields of any
 * types; it looks the same.
 */
export function createRequestLog(log: Logger): (line: RequestLine) => void {
  const write = writers.get(log)
  if (!write) throw new Error('The logger of requests is one of createLogger')
  return (line) => {
    if (log.isLevelEnabled('info')) write(fieldsOf(line))
  }
}

function fieldsOf({
  requestId,
  operation,
  method,
  status,
  durationMs,
  clientId,
  organizationId,
  traceId,
}: RequestLine): string {
  const caller =
    organizationId === undefined ? '' : `,"clientId":${quote(clientId)},"organizationId":"${organizationId}"`
  return `,"requestId":"${requestId}","operation":"${operation}","method":"${method}","status":${status},"durationMs":${durationMs}${caller}${traceId === undefined ? '' : `,"trace_id":"${traceId}"`}`
}

/** As JSON; most texts need no escaping. */
const quote = (text = '') => (/^[\w.:@-]*$/.test(text) ? `"${text}"` : JSON.stringify(text))

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
