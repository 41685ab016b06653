import { setImmediate } from 'node:timers/promises'
import type { Db, Transaction } from '../db/database.ts'
import { openDataKey } from '../secrets/data-keys.ts'
import type { Keyring } from '../secrets/keyring.ts'
import { type MasterKey, seal, unseal } from '../secrets/seal.ts'
import { batchPlace, packLines, readLine, unpackLines } from './lines.ts'
import * as queries from './person-queries.ts'

/** Searches stored events and outcomes of rows for one person, one bounded part at a time, and erases them. */

const streamsAtOnce = 200
const batchesAtOnce = 4
/** Characters of an event in an answer. */
const eventLengthMax = 16_384

/** The event to continue after. */
export type StreamPlace = { readonly id: string; readonly number: number }
export const firstPlace: StreamPlace = { id: '0'.repeat(16), number: 0 }

export type FoundEvent = {
  readonly stream: queries.SearchedStream
  readonly number: number
  readonly receivedMs: number
  /** As JSON, cut if it is long. */
  readonly event: string
}

export type SearchedStreams = {
  readonly found: readonly FoundEvent[]
  readonly searched: number
  /** Null once everything is searched. */
  readonly next: StreamPlace | null
}

type Search = {
  readonly scope: queries.PersonScope
  readonly from: StreamPlace
  readonly isOfPerson: (event: unknown) => boolean
  /** Events that this part searches at least, unless there are fewer. */
  readonly eventsMin: number
}

/** Searches the next part. */
export const searchStreams = (deps: { readonly db: Db; readonly keyring: Keyring }, search: Search) =>
  lookThrough(deps, search, async () => {})

/**
 * Searches the next part, and erases what it finds: the line of an event becomes `null`, so that numbers, counts and cursors stay. A
 * transfer that runs can have read the event before.
 */
export const eraseFromStreams = (deps: { readonly db: Transaction; readonly keyring: Keyring }, search: Search) =>
  lookThrough(
    deps,
    search,
    async (stream, key, batch, lines, indexes) => {
      const left = lines.map((line, at) => (indexes.has(at) ? 'null' : line))
      const place = batchPlace(stream.id, batch.firstNumber, batch.count)
      const sealed = seal(key, place, await packLines(left))
      const more = sealed.length - batch.sealed.length
      await queries.replaceLines.run(deps.db, {
        stream: stream.number,
        first: batch.firstNumber,
        sealed,
        more,
      })
    },
    queries.heldBatches,
  )

type Erase = (
  stream: queries.SearchedStream,
  key: MasterKey,
  batch: queries.SearchedBatch,
  lines: readonly string[],
  indexes: ReadonlySet<number>,
) => Promise<void>

async function lookThrough(
  { db, keyring }: { readonly db: Db; readonly keyring: Keyring },
  { scope, from, isOfPerson, eventsMin }: Search,
  erase: Erase,
  batchesAfter = queries.searchedBatches,
): Promise<SearchedStreams> {
  const streams = await queries.searchedStreams.all(db, { ...scope, from: from.id, limit: streamsAtOnce })
  const found: FoundEvent[] = []
  let searched = 0
  for (const stream of streams) {
    const key = await openDataKey(db, keyring, stream.dataKeyId)
    if (!key) continue
    for (let after = stream.id === from.id ? from.number : 0; ; ) {
      if (searched >= eventsMin) return { found, searched, next: { id: stream.id, number: after } }
      const of = { stream: stream.number, after, removed: stream.removedNumber, limit: batchesAtOnce }
      const batches = await batchesAfter.all(db, of)
      for (const batch of batches) {
        const place = batchPlace(stream.id, batch.firstNumber, batch.count)
        const lines = await unpackLines(unseal(key, place, batch.sealed), batch.count)
        const indexes = new Set<number>()
        for (const [at, line] of lines.entries()) {
          const number = batch.firstNumber + at
          if (number <= after) continue
          const { receivedMs, value, more } = readLine(line)
          if (!value || !isOfPerson([value, more])) continue
          indexes.add(at)
          found.push({ stream, number, receivedMs, event: JSON.stringify(value).slice(0, eventLengthMax) })
        }
        searched += batch.count
        after = batch.firstNumber + batch.count - 1
        if (indexes.size > 0) await erase(stream, key, batch, lines, indexes)
        await setImmediate()
      }
      if (batches.length < batchesAtOnce) break
    }
  }
  const last = streams.length < streamsAtOnce ? undefined : streams.at(-1)
  return { found, searched, next: last ? { id: last.id, number: Number.MAX_SAFE_INTEGER } : null }
}
