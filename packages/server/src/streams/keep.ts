import { outcomesConnectorId } from '@penstock/wire'
import type { Database } from '../db/database.ts'
import type { Logger } from '../log.ts'
import { repeat } from '../repeat.ts'
import type { StreamSettings } from '../stream-settings.ts'
import { eventBounds } from './bounds.ts'
import * as queries from './keep-queries.ts'
import { deleteOldVolumes } from './volume-queries.ts'

/** Removes events, in every worker: by age, by size, and once they are read. Creates and drops the partitions of days. */

const everyMs = 10_000
const streamsAtOnce = 200
const batchesAtOnce = 500
const daysAhead = 3
const mebibyte = 1024 ** 2

/** Keeps streams within their bounds until the signal aborts. */
export function keepStreams(
  database: Database,
  settings: StreamSettings,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  return repeat({ name: 'upkeep of streams', everyMs, run: () => keepOnce(database, settings, signal) }, log, signal)
}

/** Deletes expired events, and then drops partitions. A transfer must know which events it lost. */
export async function keepOnce(database: Database, settings: StreamSettings, signal?: AbortSignal): Promise<void> {
  for (let after: string | undefined = ''; after !== undefined && !signal?.aborted; ) {
    const streams: Awaited<ReturnType<typeof queries.streamsWithEvents.all>> = await queries.streamsWithEvents.all(
      database,
      { after, limit: streamsAtOnce },
    )
    for (const stream of streams) await removeEvents(database, stream, settings, signal)
    after = streams.length < streamsAtOnce ? undefined : streams.at(-1)?.id
  }
  if (signal?.aborted) return
  await keepPartitions(database, settings)
  await queries.deleteOldMessages.run(database, { hours: eventBounds.messageHours })
  await deleteOldVolumes.run(database, {})
}

/** Creates the partitions of the next days, and drops old ones. */
export async function keepPartitions(database: Database, { daysMax }: Pick<StreamSettings, 'daysMax'>): Promise<void> {
  const messageDays = Math.ceil(eventBounds.messageHours / 24)
  await queries.keepPartitions.first(database, { daysAhead, batchDays: daysMax + 1, messageDays })
}

async function removeEvents(
  database: Database,
  { number, connectorId, settings }: Awaited<ReturnType<typeof queries.streamsWithEvents.all>>[number],
  { daysMax, streamMb }: StreamSettings,
  signal?: AbortSignal,
): Promise<void> {
  await queries.moveRemoved.run(database, {
    number,
    days: Math.min(daysMax, Number(settings.retentionDays ?? daysDefault(connectorId))),
    bytesMax: Math.min(streamMb, Number(settings.retentionMb ?? streamMb)) * mebibyte,
    keepsRead: settings.keepRead !== false,
  })
  for (let batches = batchesAtOnce; batches === batchesAtOnce && !signal?.aborted; ) {
    batches = (await queries.deleteRemoved.first(database, { number, limit: batchesAtOnce }))?.batches ?? 0
  }
}

/** As in the forms of the connectors. */
const daysDefault = (connectorId: string): number => (connectorId === outcomesConnectorId ? 30 : 7)
