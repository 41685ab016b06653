import type { Database, Transaction } from '../db/database.ts'
import { isAway } from '../db/errors.ts'
import type { Logger } from '../log.ts'
import { Refusal } from '../refusal.ts'
import { seal } from '../secrets/seal.ts'
import { eventBounds } from './bounds.ts'
import * as queries from './commit-queries.ts'
import { batchPlace, type EventLine, type PackedLines, packEvents } from './lines.ts'
import type { StreamNote, StreamNotes } from './notes.ts'
import type { OpenStream } from './open-streams.ts'
import { eventsTopic } from './topics.ts'

/**
 * Stores events. All requests that wait share one commit: the transaction locks their streams in one order, finds repeated
 * message IDs, gives numbers, and inserts a few rows for each stream. A request is answered after its commit.
 */

/** How long the first request waits for others, in milliseconds. */
const waitMs = 5
/** Commits at the same time, each of other streams. */
const commitsMax = 2
/** Events of one stream, and bytes of all, in one commit; requests are not divided. */
const eventsOfStreamMax = 5_000
const bytesMax = 16 * 1024 ** 2

/** The result of a request. */
export type StoredEvents = { readonly accepted: number; readonly duplicates: number }

type Waiting = {
  readonly events: readonly EventLine[]
  readonly bytes: number
  resolve(stored: StoredEvents): void
  reject(error: unknown): void
}

/** The events of one stream in a commit. */
type Share = {
  readonly stream: OpenStream
  readonly requests: readonly Waiting[]
  /** Without repetitions among themselves. */
  readonly events: readonly EventLine[]
  readonly columns: ReadonlyMap<string, number>
  readonly keyIds: ReadonlySet<string>
  readonly packed: readonly PackedLines[]
}

/** Requests of one stream that wait. */
class Queue {
  readonly stream: OpenStream
  readonly requests: Waiting[] = []
  columns = new Map<string, number>()
  keyIds = new Set<string>()

  constructor(stream: OpenStream) {
    this.stream = stream
  }
}

export class EventCommits {
  readonly #database: Database
  readonly #notes: StreamNotes
  readonly #log: Logger
  readonly #queues = new Map<number, Queue>()
  /** Streams of the commits in progress. */
  readonly #busy = new Set<number>()
  #commits = 0
  #timer: NodeJS.Timeout | undefined
  #idle: (() => void) | undefined

  constructor(database: Database, notes: StreamNotes, log: Logger) {
    this.#database = database
    this.#notes = notes
    this.#log = log
  }

  /**
   * Stores events of one request: all in one commit, in their order. Rejects with `not_found` if the stream was deleted, and
   * with the error of the database if nothing was committed, or it is not known.
   * @param values the events, whose columns are stored
   */
  store(
    stream: OpenStream,
    events: readonly EventLine[],
    { values, keyId }: { readonly values: readonly object[]; readonly keyId: string | undefined },
  ): Promise<StoredEvents> {
    const queue = this.#queues.get(stream.number) ?? new Queue(stream)
    this.#queues.set(stream.number, queue)
    for (const value of values) stream.columns.look(value, queue.columns)
    if (keyId !== undefined) queue.keyIds.add(keyId)
    const bytes = events.reduce((sum, { line }) => sum + line.length, 0)
    const stored = new Promise<StoredEvents>((resolve, reject) => {
      queue.requests.push({ events, bytes, resolve, reject })
    })
    this.#timer ??= setTimeout(this.#commit, waitMs)
    return stored
  }

  /** Resolves once everything that waits is stored. */
  async close(): Promise<void> {
    while (this.#commits > 0 || this.#queues.size > 0) {
      await new Promise<void>((resolve) => {
        this.#idle = resolve
      })
    }
  }

  readonly #commit = (): void => {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#commits === commitsMax) return
    const queues = this.#take()
    if (queues.length === 0) return
    this.#commits++
    void this.#storeShares(queues).finally(() => {
      this.#commits--
      for (const { stream } of queues) this.#busy.delete(stream.number)
      if (this.#queues.size > 0) this.#commit()
      else if (this.#commits === 0) this.#idle?.()
    })
    if (this.#queues.size > 0) this.#commit()
  }

  /** The streams of the next commit, each with some of its requests. A stream with more of them is the last one after it. */
  #take(): Queue[] {
    const taken: Queue[] = []
    let bytes = 0
    for (const [number, queue] of [...this.#queues]) {
      if (this.#busy.has(number) || bytes >= bytesMax) continue
      let [events, count] = [0, 0]
      for (const request of queue.requests) {
        const isFull = count > 0 && (events + request.events.length > eventsOfStreamMax || bytes >= bytesMax)
        if (isFull) break
        events += request.events.length
        bytes += request.bytes
        count++
      }
      const share = new Queue(queue.stream)
      share.requests.push(...queue.requests.splice(0, count))
      share.columns = queue.columns
      share.keyIds = queue.keyIds
      this.#queues.delete(number)
      if (queue.requests.length > 0) {
        const rest = new Queue(queue.stream)
        rest.requests.push(...queue.requests)
        // The new entries include the columns of these requests. If this commit fails, the next one stores them.
        rest.columns = new Map(queue.columns)
        this.#queues.set(number, rest)
      }
      this.#busy.add(number)
      taken.push(share)
    }
    return taken
  }

  async #storeShares(queues: readonly Queue[]): Promise<void> {
    let shares: Share[] = []
    try {
      shares = await Promise.all(queues.map(shareOf))
      await this.#storeTogether(shares)
    } catch (error) {
      if (shares.length <= 1 || isAway(error)) return rejectAll(queues, error)
      // The events of one stream must not prevent other streams from being stored.
      this.#log.error({ err: error }, 'a commit of events failed; each stream is tried separately')
      for (const share of shares) await this.#storeTogether([share]).catch((err) => rejectAll([share], err))
    }
  }

  async #storeTogether(shares: readonly Share[]): Promise<void> {
    const results = await this.#database.transaction((tx) => storeShares(tx, shares))
    for (const { stream, requests, columns } of shares) {
      const repeated = results.get(stream.number)
      if (!repeated) {
        rejectAll([{ requests }], new Refusal('not_found', [{ field: 'stream', message: 'was deleted' }]))
        continue
      }
      stream.columns.add(columns)
      settle(requests, repeated, (note) => this.#notes.add(stream.number, note))
    }
  }
}

const rejectAll = (shares: readonly Pick<Share, 'requests'>[], error: unknown): void => {
  for (const { requests } of shares) for (const request of requests) request.reject(error)
}

async function shareOf({ stream, requests, columns, keyIds }: Queue): Promise<Share> {
  const events = withoutRepeats(requests.flatMap((request) => request.events))
  return { stream, requests, events, columns, keyIds, packed: await packEvents(events) }
}

function withoutRepeats(events: readonly EventLine[]): EventLine[] {
  const digests = new Set<string>()
  return events.filter(({ digest }) => {
    if (digest === undefined) return true
    if (digests.has(digest)) return false
    digests.add(digest)
    return true
  })
}

/** Tells each request what became of its events, and notes repeated ones. Of events with the same ID, the first one is stored. */
function settle(requests: readonly Waiting[], stored: ReadonlySet<string>, note: (note: StreamNote) => void): void {
  const seen = new Set(stored)
  for (const { events, bytes, resolve } of requests) {
    const repeated: string[] = []
    for (const { digest } of events) {
      if (digest === undefined) continue
      if (seen.has(digest)) repeated.push(digest)
      seen.add(digest)
    }
    if (repeated.length > 0) note({ outcome: 'repeated', events: repeated.length, bytes, digest: repeated[0] })
    resolve({ accepted: events.length - repeated.length, duplicates: repeated.length })
  }
}

/** @returns the digests that were stored before, by the number of the stream; without streams that were deleted */
async function storeShares(
  tx: Transaction,
  shares: readonly Share[],
): Promise<ReadonlyMap<number, ReadonlySet<string>>> {
  const locked = await queries.lockStreams.all(tx, { numbers: shares.map(({ stream }) => stream.number) })
  const lastNumbers = new Map(locked.map(({ number, lastNumber }) => [number, lastNumber]))
  const kept = shares.filter(({ stream }) => lastNumbers.has(stream.number))
  if (kept.length === 0) return new Map()
  const repeated = await findRepeated(tx, kept)
  const fresh = await Promise.all(kept.map((share) => withoutStored(share, repeated.get(share.stream.number))))
  const columns = kept.flatMap(({ stream, columns }) => [...columns].map(([name, kinds]) => ({ stream, name, kinds })))
  if (columns.length > 0) {
    await queries.saveColumns.run(tx, {
      streams: columns.map(({ stream }) => stream.number),
      names: columns.map(({ name }) => name),
      kinds: columns.map(({ kinds }) => kinds),
    })
  }
  const keyIds = kept.flatMap((share) => [...share.keyIds])
  if (keyIds.length > 0) await queries.noteKeyUse.run(tx, { ids: keyIds })
  const batches = fresh.flatMap(({ stream, packed }) => {
    let first = (lastNumbers.get(stream.number) ?? 0) + 1
    return packed.map(({ count, bytes }) => {
      const batch = { stream: stream.number, first, count }
      const sealed = seal(stream.key, batchPlace(stream.id, first, count), bytes)
      first += count
      return { ...batch, sealed }
    })
  })
  const messages = fresh.flatMap(({ stream, events }) =>
    events.flatMap(({ digest }) => (digest === undefined ? [] : [{ stream: stream.number, digest }])),
  )
  const bytesOf = (number: number) =>
    batches.reduce((sum, { stream, sealed }) => (stream === number ? sum + sealed.length : sum), 0)
  const sent = (share: Share) => share.requests.reduce((sum, { events }) => sum + events.length, 0)
  tx.lastly((db) =>
    queries.storeEvents.run(db, {
      batchStreams: batches.map(({ stream }) => stream),
      firsts: batches.map(({ first }) => first),
      counts: batches.map(({ count }) => count),
      sizes: batches.map(({ sealed }) => sealed.length),
      sealed: batches.map(({ sealed }) => sealed),
      messageStreams: messages.map(({ stream }) => stream),
      digests: messages.map(({ digest }) => digest),
      streams: fresh.map(({ stream }) => stream.number),
      accepted: fresh.map(({ events }) => events.length),
      duplicates: fresh.map((share) => sent(share) - share.events.length),
      bytes: fresh.map(({ stream }) => bytesOf(stream.number)),
      topic: eventsTopic,
      values: fresh.filter(({ events }) => events.length > 0).map(({ stream }) => stream.id),
    }),
  )
  return new Map(kept.map(({ stream }) => [stream.number, repeated.get(stream.number) ?? new Set()]))
}

async function findRepeated(tx: Transaction, shares: readonly Share[]): Promise<Map<number, Set<string>>> {
  const wanted = shares.flatMap(({ stream, events }) =>
    events.flatMap(({ digest }) => (digest === undefined ? [] : [{ stream: stream.number, digest }])),
  )
  const found = new Map<number, Set<string>>()
  if (wanted.length === 0) return found
  const rows = await queries.storedMessages.all(tx, {
    streams: wanted.map(({ stream }) => stream),
    digests: wanted.map(({ digest }) => digest),
    hours: eventBounds.messageHours,
  })
  for (const { stream, digest } of rows) {
    const digests = found.get(stream) ?? new Set()
    found.set(stream, digests.add(digest))
  }
  return found
}

/** The events of a share that were not stored before. They are compressed again only if there are such events. */
async function withoutStored(share: Share, stored: ReadonlySet<string> | undefined): Promise<Share> {
  if (!stored) return share
  const events = share.events.filter(({ digest }) => digest === undefined || !stored.has(digest))
  return { ...share, events, packed: await packEvents(events) }
}
