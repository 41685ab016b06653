import { createHash } from 'node:crypto'
import { asConnectorError, type Cell, type Chunk, ConnectorError, type Json, type Row } from '@penstock/connector'
import { parseExactJson } from '@penstock/connector/files'
import {
  errorOfEnd,
  linesOfSession,
  messageOf,
  type ProgramReading,
  type ProgramStream,
  type Protocol,
  type Said,
  type Session,
} from './protocol.ts'

const chunkRows = 1_000
const chunkBytes = 512 * 1024
/** Bytes of a state as JSON: a checkpoint has 16 KiB at most. */
const stateBytesMax = 15 * 1024
/** Limit for the silence of a program that reads, in milliseconds. Some platforms make it wait. */
const silentMs = 900_000

/**
 * Where reading continues: at a state of the program, after a number of rows since then, with a digest of these rows. A program
 * writes a state only occasionally.
 */
type Checkpoint = { readonly state: string | null; readonly rows: number; readonly digest: string }

/** A stream to be read, and the beginning. */
export type StreamRead = Omit<ProgramReading, 'state'> & {
  /** The state that the last transfer ended with. */
  readonly cursor: string | undefined
}

/**
 * Reads a stream in chunks. A state of the program is the cursor of the chunk that ends with it, so that it counts once its rows are confirmed.
 * Between two states, a chunk continues behind the rows since the last one, which are compared with what they were.
 * @throws ConnectorError `source_changed` if they differ, and what the program reports
 */
export async function* readStream(
  protocol: Protocol,
  session: Session,
  { cursor, ...reading }: StreamRead,
  after: Json | undefined,
): AsyncGenerator<Chunk> {
  const from = after as Checkpoint | undefined
  const { stream, incremental } = reading
  let state: string | null = from?.state ?? cursor ?? null
  const begun = protocol.reading({ ...reading, state: state ?? undefined })
  let digest = createHash('sha256')
  let since = 0
  let rows: Row[] = []
  let bytes = 0
  let pending: Chunk | undefined
  let failure: ConnectorError | undefined
  const skipped = from?.rows ?? 0
  let skipping = skipped > 0
  let status: 'begun' | 'complete' | 'incomplete' | undefined
  // Records since the last state of this run, and whether there was one before these.
  let unstated = 0
  let hasStates = state !== null

  const chunkOf = (): Chunk => {
    const checkpoint: Checkpoint = { state, rows: since, digest: digest.copy().digest('base64') }
    return {
      columns: stream.columns,
      rows,
      bytes,
      checkpoint,
      ...(incremental && state !== null ? { cursor: state } : {}),
    }
  }
  const take = (): Chunk | undefined => {
    const before = pending
    pending = chunkOf()
    rows = []
    bytes = 0
    return before
  }

  const lines = linesOfSession(session, begun, silentMs)
  try {
    for (;;) {
      const next = await lines.next()
      if (next.done) {
        if (next.value.code !== 0) failure ??= errorOfEnd(next.value)
        break
      }
      let said: Said | undefined
      try {
        const message = messageOf(next.value, parseExactJson)
        said = message && protocol.said(message, stream)
        if (said?.kind === 'state') assertCount(said.records, unstated)
      } catch (error) {
        // A later state would be behind rows that are lost.
        failure = asConnectorError(error)
        if (!failure) throw error
        break
      }
      if (said?.kind === 'failure') failure = new ConnectorError(said.code, said.message)
      else if (said?.kind === 'status') status = said.status
      else if (said?.kind === 'record') {
        const row = rowOf(stream, said.data)
        digest.update(`${JSON.stringify(row)}\n`)
        since++
        unstated++
        if (skipping) {
          skipping = since < skipped
          if (!skipping && digest.copy().digest('base64') !== from?.digest) throw changed()
          continue
        }
        rows.push(row)
        bytes += next.value.length
        if (rows.length < chunkRows && bytes < chunkBytes) continue
        const chunk = take()
        if (chunk) yield chunk
      } else if (said?.kind === 'state') {
        unstated = 0
        if (!incremental || skipping) continue
        hasStates = true
        state = storable(said.state)
        digest = createHash('sha256')
        since = 0
        if (rows.length > 0) {
          const chunk = take()
          if (chunk) yield chunk
        } else if (pending) {
          pending = { ...pending, cursor: state, checkpoint: chunkOf().checkpoint }
        }
      }
    }
  } finally {
    await lines.return({ code: null, stderr: '' })
  }
  if (skipping) throw failure ?? changed()
  failure ??= whyCut({ status, unstated: incremental && hasStates ? unstated : 0 })
  if (rows.length > 0) {
    const chunk = take()
    if (chunk) yield chunk
  }
  // Rows before a failure are kept, with their states.
  if (pending) yield pending
  if (failure) throw failure
}

/** @throws ConnectorError if a program says that it gave more records than came */
function assertCount(said: number | undefined, came: number): void {
  if (said === undefined || said <= came) return
  throw new ConnectorError(
    'malformed_response',
    `The program says that it gave ${said} records since its last state, and ${came} came: its output is damaged or cut off.`,
  )
}

/** Why the output of a program that ended successfully is not complete. Undefined if it is complete. */
function whyCut({
  status,
  unstated,
}: {
  readonly status: 'begun' | 'complete' | 'incomplete' | undefined
  readonly unstated: number
}): ConnectorError | undefined {
  if (status === 'complete') return undefined
  if (status === 'incomplete')
    return new ConnectorError('platform_error', 'The program could not read the whole stream.')
  if (status === 'begun')
    return new ConnectorError(
      'platform_error',
      'The program ended and did not report the stream as complete, so rows can be missing.',
    )
  if (unstated === 0) return undefined
  return new ConnectorError(
    'platform_error',
    `The program ended without a state after its last ${unstated} records, so rows can be missing. The next transfer begins at its last state.`,
  )
}

const changed = (): ConnectorError =>
  new ConnectorError(
    'source_changed',
    'The program did not give the same rows again, so the transfer cannot continue within them. The next transfer begins at the last state that the program gave.',
  )

/** A state as JSON text, so that it keeps all its digits. */
function storable(state: Json): string {
  const text = JSON.stringify(state)
  const length = Buffer.byteLength(JSON.stringify(text))
  if (length <= stateBytesMax) return text
  throw new ConnectorError(
    'response_too_large',
    `The program gives states of ${length} bytes, and at most ${stateBytesMax} can be stored. Read everything in place of new rows.`,
  )
}

/** Values that are not in the schema are omitted. Nested values become JSON. */
const rowOf = ({ columns }: ProgramStream, data: Readonly<Record<string, unknown>>): Row =>
  columns.map((name): Cell => {
    const value = Object.hasOwn(data, name) ? data[name] : null
    return typeof value === 'object' && value !== null ? JSON.stringify(value) : ((value ?? null) as Cell)
  })
