import type { Database, Transaction } from '../db/database.ts'
import { openDataKey } from '../secrets/data-keys.ts'
import type { Keyring } from '../secrets/keyring.ts'
import { type MasterKey, seal } from '../secrets/seal.ts'
import { eventBounds } from './bounds.ts'
import { lockStreams, storeEvents } from './commit-queries.ts'
import { batchPlace, type PackedLines } from './lines.ts'
import { makeStream, type StreamOf } from './made-streams.ts'
import * as queries from './queries.ts'
import { eventsTopic } from './topics.ts'

/** Streams that this service writes to itself. */

/** A stream with its key. */
export type AppendedStream = { readonly id: string; readonly number: number; readonly key: MasterKey }

/** Opens the stream of a configuration, and creates it if it does not exist. @returns undefined if the configuration does not exist */
export async function openAppended(
  { database, keyring }: { readonly database: Database; readonly keyring: Keyring },
  { accountId, organizationId, id, connectorId }: StreamOf & { accountId: string; organizationId: string },
): Promise<AppendedStream | undefined> {
  const stream =
    (await queries.findStream.first(database, { id })) ??
    (await database.transaction(async (tx) => {
      if (!(await queries.holdConfiguration.first(tx, { id, accountId, connectorIds: [connectorId] }))) return undefined
      await makeStream(tx, { id: accountId, organizationId }, { id, connectorId }, keyring)
      return queries.findStream.first(tx, { id })
    }))
  const key = stream && (await openDataKey(database, keyring, stream.dataKeyId))
  return stream && key && { id, number: stream.number, key }
}

/** Adds records at the end of a stream. Its row is locked until the commit. @returns false if the stream was deleted */
export async function append(
  tx: Transaction,
  { id, number, key }: AppendedStream,
  packed: readonly PackedLines[],
): Promise<boolean> {
  for (const { count } of packed) {
    if (!Number.isSafeInteger(count) || count < 1 || count > eventBounds.batchEvents) {
      throw new Error('A batch of a stream has an impossible number of records')
    }
  }
  const [stream] = await lockStreams.all(tx, { numbers: [number] })
  if (!stream) return false
  let first = stream.lastNumber + 1
  const batches = packed.map(({ count, bytes }) => {
    const batch = { first, count, sealed: seal(key, batchPlace(id, first, count), bytes) }
    first += count
    return batch
  })
  await storeEvents.run(tx, {
    batchStreams: batches.map(() => number),
    firsts: batches.map((one) => one.first),
    counts: batches.map(({ count }) => count),
    sizes: batches.map(({ sealed }) => sealed.length),
    sealed: batches.map(({ sealed }) => sealed),
    messageStreams: [],
    digests: [],
    streams: [number],
    accepted: [first - 1 - stream.lastNumber],
    duplicates: [0],
    bytes: [batches.reduce((sum, { sealed }) => sum + sealed.length, 0)],
    topic: eventsTopic,
    values: [id],
  })
  return true
}
