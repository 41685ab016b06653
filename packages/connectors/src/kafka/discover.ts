import type { Discovered, DiscoveredPage, DiscoveryContext } from '@penstock/connector'
import { pageOfAll, windowOf } from '../discovery/pages.ts'
import { inCluster } from './cluster.ts'
import { boundsOf } from './partitions.ts'
import { readBatches } from './record-batch.ts'
import { fetchRecords } from './requests.ts'
import { topicIn } from './settings.ts'
import { messageReading } from './values.ts'

/** The topics that the user can see, without internal topics. */
export async function discoverTopics(context: DiscoveryContext): Promise<DiscoveredPage> {
  windowOf(context)
  const topics = await inCluster(context, (cluster) => cluster.topics())
  const names = topics.flatMap(({ name, isInternal, error }) => (isInternal || error !== 0 ? [] : [name]))
  return pageOfAll(
    names.sort().map((value) => ({ value, kind: 'object' })),
    context,
  )
}

/** The columns of rows, which the settings decide. */
export async function discoverColumns(context: DiscoveryContext): Promise<DiscoveredPage> {
  const { columns } = messageReading(context.settings)
  return pageOfAll(
    columns.map((value) => ({ value, kind: 'column' })),
    context,
  )
}

const partitionsMax = 4
const messagesMax = 100

/** The fields of the latest values that are JSON objects. */
export async function discoverFields(context: DiscoveryContext): Promise<DiscoveredPage> {
  windowOf(context)
  const topic = topicIn(context.settings)
  const { row } = messageReading({ valueFormat: 'JSON' })
  const fields = new Set<string>()
  await inCluster(context, async (cluster) => {
    const { at, ends } = await boundsOf(cluster, topic, {}, undefined)
    const filled = [...ends.keys()].filter((partition) => (ends[partition] ?? 0) > (at[partition] ?? 0))
    for (const partition of filled.slice(0, partitionsMax)) {
      const from = Math.max(at[partition] ?? 0, (ends[partition] ?? 0) - messagesMax)
      const broker = await cluster.leader(topic, partition)
      const how = { bytesMax: 256 << 10, waitMs: 100 }
      const { records } = await fetchRecords(broker, topic, partition, from, how)
      for (const batch of readBatches(records, topic)) {
        for (const record of batch.isControl ? [] : batch.records()) {
          const value: unknown = JSON.parse(String(row(record, partition).row[1] ?? 'null'))
          if (typeof value !== 'object' || value === null || Array.isArray(value)) continue
          for (const name of Object.keys(value)) if (!name.includes(',')) fields.add(name)
        }
      }
    }
  })
  const found: Discovered[] = [...fields].sort().map((value) => ({ value, kind: 'column' }))
  return pageOfAll(found, context)
}
