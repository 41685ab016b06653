import { ConnectorError, type ConnectorErrorCode, type Json } from '@penstock/connector'
import { linesOf, type ProgramEnd, type Run } from './program.ts'

/** A stream that a program offers. */
export type ProgramStream = {
  readonly name: string
  /** The keys of its records, in order. */
  readonly columns: readonly string[]
  /** Whether it can continue at its end. */
  readonly incremental: boolean
  /** As the program describes it. */
  readonly raw: Readonly<Record<string, unknown>>
}

/** The meaning of a line to the reading of one stream. */
export type Said =
  | { readonly kind: 'record'; readonly data: Readonly<Record<string, unknown>> }
  /** `records`: how many the program says that it gave since its last state. */
  | { readonly kind: 'state'; readonly state: Json; readonly records?: number | undefined }
  /** How far the program says that the stream is. */
  | { readonly kind: 'status'; readonly status: 'begun' | 'complete' | 'incomplete' }
  | { readonly kind: 'failure'; readonly code: ConnectorErrorCode; readonly message: string }

/** A message that is not part of a program's answer: a line for the log, or the configuration that it needs from now on. */
export type Aside =
  | { readonly kind: 'log'; readonly text: string }
  | { readonly kind: 'configuration'; readonly config: Readonly<Record<string, unknown>> }

/** How a stream is read. */
export type ProgramReading = {
  readonly stream: ProgramStream
  readonly incremental: boolean
  readonly cursorField: string | undefined
  /** The state that it continues from, as JSON. Undefined to start from the beginning. */
  readonly state: string | undefined
}

/** A protocol of programs that read data. */
export type Protocol = {
  /** Tries a configuration. Throws a `ConnectorError` if the program refuses it. */
  check(session: Session): Promise<void>
  discover(session: Session): Promise<readonly ProgramStream[]>
  /** The arguments and files that read a stream. */
  reading(reading: ProgramReading): Pick<Run, 'command' | 'files'>
  /** The aside in a message. Undefined if the message is part of the answer to the command. */
  aside?(message: Readonly<Record<string, unknown>>): Aside | undefined
  /** The meaning of a message while a stream is read. Undefined if it has no meaning. */
  said(message: Readonly<Record<string, unknown>>, stream: ProgramStream): Said | undefined
}

/** How a program of one connector is run: its command, its configuration, and until when. */
export type Session = Pick<Run, 'signal' | 'user' | 'wall'> & {
  readonly command: readonly string[]
  /** The present configuration. A program can replace it. */
  config(): Json
  /** Receives a line of its output. Resolves, after handling it, with whether the line was an aside. */
  hear?(line: string): Promise<boolean>
  /** Gets the lines of its standard error. */
  readonly log?: Run['log']
}

/** Limit for the silence of a program that checks or lists, in milliseconds. A job has a separate deadline. */
const answerMs = 120_000
/** Bytes of a list at most. */
const listBytesMax = 64 * 1024 ** 2

/**
 * The JSON object of a text. Undefined if the text is something else. Python's `NaN` and `Infinity` become null.
 * @param parse reads JSON; by default `JSON.parse`
 */
export function objectOf(
  text: string,
  parse: (text: string) => unknown = JSON.parse,
): Readonly<Record<string, unknown>> | undefined {
  for (const form of [text, notNumbers.test(text) ? text.replace(numbersOfPython, nullOf) : '']) {
    try {
      const value = parse(form)
      if (isObject(value)) return value
    } catch {
      // It is tried in the other form, or is something else.
    }
  }
  return undefined
}

/** Numbers that JSON lacks, and Python writes. They are null, as databases have them. */
const notNumbers = /NaN|Infinity/
const numbersOfPython = /"(?:[^"\\]|\\.)*"|-?Infinity|NaN/g
const nullOf = (found: string): string => (found.startsWith('"') ? found : 'null')

/**
 * The message in a line of output. Undefined if the line is a banner or progress.
 * @throws ConnectorError `malformed_response` if it begins like a message or contains a record, but cannot be parsed
 */
export function messageOf(
  line: string,
  parse?: (text: string) => unknown,
): Readonly<Record<string, unknown>> | undefined {
  const message = objectOf(line, parse)
  if (message || !/^\s*\{\s*"|"type"\s*:\s*"(?:RECORD|STATE)"/.test(line)) return message
  throw new ConnectorError(
    'malformed_response',
    `The program wrote a line of ${line.length} characters that begins like a message and is not valid JSON: its output is damaged or cut off.`,
  )
}

/** Whether a value is an object with keys. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The lines of a program with a configuration. */
export async function* linesOfSession(
  { command, config, hear, log, signal, user, wall }: Session,
  { command: args, files }: Pick<Run, 'command' | 'files'>,
  silentMs = answerMs,
): AsyncGenerator<string, ProgramEnd> {
  const all = { ...files, 'config.json': JSON.stringify(config()) }
  const lines = linesOf({ command: [...command, ...args], files: all, signal, user, wall, silentMs, log })
  if (!hear) return yield* lines
  try {
    for (;;) {
      const next = await lines.next()
      if (next.done) return next.value
      if (!(await hear(next.value))) yield next.value
    }
  } finally {
    await lines.return({ code: null, stderr: '' })
  }
}

/** Runs a program to its end, as checks and lists do. */
export async function eachLine(
  session: Session,
  run: Pick<Run, 'command' | 'files'>,
  take: (line: string) => void,
): Promise<ProgramEnd> {
  const lines = linesOfSession(session, run)
  let bytes = 0
  try {
    for (;;) {
      const next = await lines.next()
      if (next.done) return next.value
      bytes += next.value.length
      if (bytes > listBytesMax)
        throw new ConnectorError('response_too_large', `The program answered with more than ${listBytesMax >> 20} MiB.`)
      take(next.value)
    }
  } finally {
    await lines.return({ code: null, stderr: '' })
  }
}

/**
 * The last message that `pick` accepts. Banners and progress bars are skipped.
 * @throws ConnectorError as `messageOf`
 */
export async function lastOf<T>(
  session: Session,
  run: Pick<Run, 'command' | 'files'>,
  pick: (message: Readonly<Record<string, unknown>>) => T | undefined,
): Promise<{ readonly found: T | undefined; readonly end: ProgramEnd }> {
  let found: T | undefined
  const end = await eachLine(session, run, (line) => {
    const message = messageOf(line)
    found = (message && pick(message)) ?? found
  })
  return { found, end }
}

/** The end of a message of a program, as one sentence. */
export const sentenceOf = (text: unknown, otherwise: string): string => {
  const [line = ''] = typeof text === 'string' ? text.trim().split(/\r?\n/, 1) : []
  return line === '' ? otherwise : `${line.slice(0, 500).replace(/[.\s]+$/, '')}.`
}

/** The error of a program that ended with another exit code than 0. */
export const errorOfEnd = ({ code, stderr }: ProgramEnd): ConnectorError =>
  new ConnectorError(
    'platform_error',
    `The program ended with ${code === null ? 'a signal' : `the exit code ${code}`}. It wrote last: ${sentenceOf(stderr.trim().split('\n').at(-1), 'nothing.')}`,
  )

/** The keys of the properties of a JSON schema. */
export const columnsOf = (schema: unknown): readonly string[] =>
  isObject(schema) && isObject(schema.properties) ? Object.keys(schema.properties) : []
