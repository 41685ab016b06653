import {
  type Chunk,
  ConnectorError,
  type Json,
  type OpenedStream,
  type Row,
  type SourceContext,
  type SourceRange,
  type SourceReader,
  type StreamStart,
  type Values,
} from '@penstock/connector'
import { type EventReading, eventReading, type KnownColumns } from './columns.ts'
import { eventsIn, type NumberedEvent } from './events.ts'
import { whyNotSource } from './store-fields.ts'

/** Reading continues after the event with this number. */
type Place = { readonly after: number }
/** The place for the next transfer. Numbers of one stream mean nothing for another one. */
type EventCursor = Place & { readonly of: string }
/** The end and the columns of a transfer, which stay the same after a crash. */
type Plan = Pick<OpenedStream, 'last' | 'begin' | 'columns'>

const chunkRows = 2_000
const chunkBytes = 1 << 20

/** Reads the events of the stream of the configuration, up to the newest one at the start of the transfer. */
export async function open(context: SourceContext, known?: KnownColumns): Promise<SourceReader> {
  const whyNot = whyNotSource(context.secrets)
  if (whyNot !== undefined) throw new ConnectorError('not_supported', `The stream ${whyNot}.`)
  return openStream(context, ({ columns }) => eventReading(columns, String(context.settings.shape ?? 'keys'), known))
}

/** Reads a stream. @param readingOf makes rows of its records. @param what these are */
export async function openStream(
  { settings, events, cursor, range, plan, signal }: SourceContext,
  readingOf: (stream: Pick<OpenedStream, 'columns'>) => EventReading,
  what = 'events',
): Promise<SourceReader> {
  const stream = await events.open(range ? { at: 'time', ms: timesOf(range).fromMs } : startOf(settings))
  const { id } = stream
  const saved = cursor as EventCursor | undefined
  const fixed = (plan as unknown as Plan | undefined) ?? planOf(stream)
  const begin = saved?.of === id ? saved.after : fixed.begin
  const untilMs = range ? timesOf(range).untilMs : Number.POSITIVE_INFINITY
  const reading = readingOf(fixed)
  // If the stream was restored from a backup, it can end before the cursor.
  const end = Math.max(fixed.last, begin)

  async function* batchesAfter(from: number, last: number): AsyncGenerator<NumberedEvent> {
    let at = from
    while (at < last) {
      signal.throwIfAborted()
      const batches = await events.read(at)
      for (const batch of batches) {
        if (batch.first > at + 1) yield lostRecords(what, at, Math.min(batch.first - 1, last))
        for (const event of eventsIn(batch)) {
          if (event.number > at && event.number <= last) yield event
        }
        at = Math.max(at, batch.first + batch.count - 1)
      }
      if (batches.length === 0) {
        yield lostRecords(what, at, last)
        at = last
      }
    }
  }

  async function* read(after?: Json, until?: Json): AsyncGenerator<Chunk> {
    const from = (after as unknown as Place | undefined)?.after ?? begin
    const last = (until as unknown as Place | undefined)?.after ?? end
    let chunk = new EventChunk(id, from)
    let isFirst = true
    for await (const event of batchesAfter(from, last)) {
      const isRead = 'lost' in event || (event.value !== undefined && event.receivedMs < untilMs)
      if (isRead) chunk.add(event.number, reading.row(event), event.bytes, 'lost' in event ? event.lost : undefined)
      else chunk.pass(event.number)
      if (chunk.rows.length < chunkRows && chunk.bytes < chunkBytes) continue
      yield chunk.filled(reading)
      chunk = new EventChunk(id, event.number)
      isFirst = false
    }
    if (isFirst || chunk.hasPassed) yield chunk.filled(reading)
  }

  return {
    total: { rows: Math.max(0, end - begin) },
    plan: fixed as unknown as Json,
    read,
    close: async () => {},
  }
}

const planOf = ({ last, begin, columns }: OpenedStream): Plan => ({ last, begin, columns })

/** A record for removed ones: retention removed them before they were read. */
const lostRecords = (what: string, after: number, last: number): NumberedEvent => ({
  number: last,
  receivedMs: 0,
  value: undefined,
  bytes: 0,
  lost: `Retention removed ${last - after} ${what} before this connection read them (numbers ${after + 1} to ${last}). Keep ${what} for longer in the configuration of the source, or run the connection more often.`,
})

class EventChunk {
  readonly rows: Row[] = []
  bytes = 0
  readonly #id: string
  readonly #begin: number
  #at: number
  readonly #numbers: number[] = []
  readonly #errors = new Map<number, string>()

  constructor(id: string, begin: number) {
    this.#id = id
    this.#begin = begin
    this.#at = begin
  }

  add(number: number, row: Row, bytes: number, error: string | undefined): void {
    if (error !== undefined) this.#errors.set(this.rows.length, error)
    this.rows.push(row)
    this.#numbers.push(number)
    this.bytes += bytes
    this.#at = number
  }

  /** Covers an event that is not read. */
  pass(number: number): void {
    this.#at = number
  }

  get hasPassed(): boolean {
    return this.#at > this.#begin
  }

  filled({ columns, types }: Pick<Chunk, 'columns' | 'types'>): Chunk {
    const [numbers, last, begin, of] = [this.#numbers, this.#at, this.#begin, this.#id]
    const after = (count: number) => (count === numbers.length ? last : count === 0 ? begin : (numbers[count - 1] ?? 0))
    return {
      columns,
      ...(types && { types }),
      rows: this.rows,
      ...(this.#errors.size > 0 && { errors: this.#errors }),
      bytes: this.bytes,
      checkpoint: { after: last },
      checkpointAfter: (count) => ({ after: after(count) }),
      // Without rows, its cursor must be stored: the next transfer begins there.
      ...(numbers.length === 0 && { settles: true, cursor: { of, after: last } satisfies EventCursor }),
      ...(numbers.length > 0 && { cursorAfter: (count: number): EventCursor => ({ of, after: after(count) }) }),
    }
  }
}

/** The start of a transfer without a cursor. */
function startOf({ startAt, startTime }: Values): StreamStart {
  if (startAt !== 'time') return { at: startAt === 'newest' ? 'newest' : 'oldest' }
  const given = String(startTime ?? '').trim()
  const ms = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d))?$/.test(given) ? Date.parse(given) : -1
  if (ms >= 0) return { at: 'time', ms }
  throw new ConnectorError('invalid_setting', 'The start time must be ISO 8601 with a zone: 2026-01-31T12:00:00Z.')
}

const dayMs = 86_400_000

/** A range of days includes its last day; a range of times does not include its end. */
function timesOf({ from, to }: SourceRange): { fromMs: number; untilMs: number } {
  const isDays = to.length === 10
  return { fromMs: Date.parse(from), untilMs: Date.parse(to) + (isDays ? dayMs : 0) }
}
