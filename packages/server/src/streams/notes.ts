import type { StreamRefusal } from '@penstock/wire'
import type { Database } from '../db/database.ts'
import type { Logger } from '../log.ts'
import * as queries from './note-queries.ts'

/**
 * Notes events that were not stored: how many, by reason, and the newest ones without their values. Notes are stored together a
 * moment later, so that a flood of refused requests costs the database nothing more.
 */

/** Notes of a stream that are kept. */
export const notesOfStreamMax = 50
const storedEveryMs = 1_000
const streamsAtOnce = 500

/** Events of one request that were not stored. */
export type StreamNote = {
  readonly events: number
  /** Of the body; undefined if it is not known. */
  readonly bytes: number | undefined
} & (
  | { readonly outcome: 'refused'; readonly reason: StreamRefusal }
  /** With the digest of the first one's message ID. */
  | { readonly outcome: 'repeated'; readonly digest: string | undefined }
)

type Noted = { counts: Map<StreamRefusal, number>; notes: StreamNote[] }

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
    this.#merge(stream, { counts: new Map(counts), notes: [note] })
  }

  /** Resolves once everything that waits was tried to be stored. */
  async close(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#storing
    clearTimeout(this.#timer)
    await this.#store()
    clearTimeout(this.#timer)
  }

  #merge(stream: number, { counts, notes }: Noted): void {
    const noted: Noted = this.#waiting.get(stream) ?? { counts: new Map(), notes: [] }
    this.#waiting.set(stream, noted)
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
      this.#log.warn({ err }, 'events that were not accepted could not be counted; retrying')
    }
    this.#timer = undefined
    for (const [stream, { counts, notes }] of taken) {
      const newer = this.#waiting.get(stream)?.notes.splice(0) ?? []
      this.#merge(stream, { counts, notes: [...notes, ...newer] })
    }
    if (this.#waiting.size > 0) this.#storeSoon()
  }

  async #storeSome(some: readonly (readonly [number, Noted])[]): Promise<void> {
    const streams = some.map(([stream]) => stream)
    const reasons = some.flatMap(([stream, { counts }]) =>
      [...counts].map(([reason, count]) => ({ stream, reason, count })),
    )
    const notes = some.flatMap(([stream, noted]) => noted.notes.map((note) => ({ stream, ...note })))
    await this.#database.transaction(async (tx) => {
      await queries.lockStreams.all(tx, { numbers: streams })
      await queries.storeNotes.run(tx, {
        streams,
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
