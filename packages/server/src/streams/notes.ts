import type { StreamRefusal } from '@penstock/wire'
import type { Database } from '../db/database.ts'
import type { Logger } from '../log.ts'
import * as queries from './note-queries.ts'

/**
 * Notes events that the database does not keep. Of refused and repeated events: how many, by reason, and the newest ones without their
 * values. Of events on a topic: how many, and their columns. Notes are stored together a moment later, so that a flood of requests costs
 * the database nothing more.
 */

/** Notes of a stream that are kept. */
export const notesOfStreamMax = 50
const storedEveryMs = 1_000
const streamsAtOnce = 500

/** Events of one request that were not stored. */
export type StreamNote = {
  readonly events: number
  /** Size of the body. Undefined if it is not known. */
  readonly bytes: number | undefined
} & (
  | { readonly outcome: 'refused'; readonly reason: StreamRefusal }
  /** With the digest of the first one's message ID. */
  | { readonly outcome: 'repeated'; readonly digest: string | undefined }
)

/** Events that were accepted, and are kept elsewhere. */
export type CountedEvents = {
  readonly accepted: number
  /** Columns of them that were not seen before. */
  readonly columns: ReadonlyMap<string, number>
  readonly keyId: string | undefined
}

type Noted = {
  counts: Map<StreamRefusal, number>
  notes: StreamNote[]
  accepted: number
  columns: Map<string, number>
  keyIds: Set<string>
}

const nothing = (): Noted => ({ counts: new Map(), notes: [], accepted: 0, columns: new Map(), keyIds: new Set() })

export class StreamNotes {
  readonly #database: Database
  readonly #log: Logger
  #waiting = new Map<number, Noted>()
  #timer: NodeJS.Timeout | undefined
  #storing: Promise<void> | undefined

  constructor(database: Database, log: Logger) {
    this.#database = database
    this.#log = log
  }

  /** @param stream its number */
  add(stream: number, note: StreamNote): void {
    const counts: [StreamRefusal, number][] = note.outcome === 'refused' ? [[note.reason, note.events]] : []
    this.#merge(stream, { ...nothing(), counts: new Map(counts), notes: [note] })
  }

  /** @param stream its number */
  count(stream: number, { accepted, columns, keyId }: CountedEvents): void {
    const keyIds = new Set(keyId === undefined ? [] : [keyId])
    this.#merge(stream, { ...nothing(), accepted, columns: new Map(columns), keyIds })
  }

  /** Resolves once everything that waits was tried to be stored. */
  async close(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#storing
    clearTimeout(this.#timer)
    await this.#store()
    clearTimeout(this.#timer)
  }

  #merge(stream: number, { counts, notes, accepted, columns, keyIds }: Noted): void {
    const noted = this.#waiting.get(stream) ?? nothing()
    this.#waiting.set(stream, noted)
    noted.accepted += accepted
    for (const [name, kinds] of columns) noted.columns.set(name, (noted.columns.get(name) ?? 0) | kinds)
    for (const id of keyIds) noted.keyIds.add(id)
    for (const [reason, count] of counts) noted.counts.set(reason, (noted.counts.get(reason) ?? 0) + count)
    noted.notes.push(...notes)
    if (noted.notes.length > notesOfStreamMax) noted.notes.splice(0, noted.notes.length - notesOfStreamMax)
    this.#storeSoon()
  }

  /** While notes are being stored, others wait. */
  #storeSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#storing = this.#store()
    }, storedEveryMs).unref()
  }

  async #store(): Promise<void> {
    const taken = [...this.#waiting]
    this.#waiting = new Map()
    try {
      while (taken.length > 0) {
        await this.#storeSome(taken.slice(0, streamsAtOnce))
        taken.splice(0, streamsAtOnce)
      }
    } catch (err) {
      this.#log.warn({ err }, 'events could not be counted; retrying')
    }
    this.#timer = undefined
    for (const [stream, noted] of taken) {
      const newer = this.#waiting.get(stream)?.notes.splice(0) ?? []
      this.#merge(stream, { ...noted, notes: [...noted.notes, ...newer] })
    }
    if (this.#waiting.size > 0) this.#storeSoon()
  }

  async #storeSome(some: readonly (readonly [number, Noted])[]): Promise<void> {
    const streams = some.map(([stream]) => stream)
    const reasons = some.flatMap(([stream, { counts }]) =>
      [...counts].map(([reason, count]) => ({ stream, reason, count })),
    )
    const notes = some.flatMap(([stream, noted]) => noted.notes.map((note) => ({ stream, ...note })))
    const keyIds = some.flatMap(([, noted]) => [...noted.keyIds])
    await this.#database.transaction(async (tx) => {
      const locked = await queries.lockStreams.all(tx, { numbers: streams })
      const isThere = new Set(locked.map(({ number }) => number))
      const columns = some.flatMap(([stream, noted]) => {
        return isThere.has(stream) ? [...noted.columns].map(([name, kinds]) => ({ stream, name, kinds })) : []
      })
      if (columns.length > 0) {
        await queries.saveColumns.run(tx, {
          streams: columns.map(({ stream }) => stream),
          names: columns.map(({ name }) => name),
          kinds: columns.map(({ kinds }) => kinds),
        })
      }
      if (keyIds.length > 0) await queries.noteKeyUse.run(tx, { ids: keyIds })
      await queries.storeNotes.run(tx, {
        streams,
        accepted: some.map(([, noted]) => noted.accepted),
        refused: some.map(([, { counts }]) => [...counts.values()].reduce((sum, count) => sum + count, 0)),
        reasonStreams: reasons.map(({ stream }) => stream),
        reasons: reasons.map(({ reason }) => reason),
        counts: reasons.map(({ count }) => count),
        noteStreams: notes.map(({ stream }) => stream),
        outcomes: notes.map(({ outcome }) => outcome),
        noteReasons: notes.map((note) => (note.outcome === 'refused' ? note.reason : null)),
        events: notes.map(({ events }) => events),
        bytes: notes.map(({ bytes }) => bytes ?? null),
        digests: notes.map((note) => (note.outcome === 'repeated' ? (note.digest ?? null) : null)),
      })
      await queries.trimNotes.run(tx, { streams, max: notesOfStreamMax })
    })
  }
}
