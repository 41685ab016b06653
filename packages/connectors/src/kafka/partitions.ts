import { ConnectorError, type Json, type Values } from '@penstock/connector'
import type { Cluster } from './cluster.ts'
import { errorOfCode, kafkaErrors } from './errors.ts'
import { earliest, latest, listOffset } from './requests.ts'

/** Where a transfer begins and ends in each partition. */

/** Offsets by the number of the partition. */
export type Offsets = readonly number[]

/** Bounds of a transfer. As JSON they must have at most 16 KiB. */
export type Bounds = { readonly at: Offsets; readonly ends: Offsets }

/** The beginning of a connection's next transfer, if its settings are the same. */
export type KafkaCursor = { readonly topic: string; readonly start: string; readonly at: Offsets }

const partitionsMax = 400

/** The settings that decide where a first transfer begins: if they change, the cursor does not count any more. */
export const startOf = ({ startAt, startTime }: Values): string =>
  startAt === 'timestamp' ? String(startTime ?? '').trim() : String(startAt ?? 'earliest')

/** The cursor, if it is one of these settings. */
export function cursorIn(cursor: Json | undefined, topic: string, settings: Values): KafkaCursor | undefined {
  const saved = cursor as unknown as Partial<KafkaCursor> | undefined
  if (!saved || saved.topic !== topic || saved.start !== startOf(settings) || !Array.isArray(saved.at)) return undefined
  return saved as KafkaCursor
}

/**
 * Finds where a transfer begins and ends. Throws `source_changed` if messages behind the cursor are gone.
 * @param cursor of the last transfer
 */
export async function boundsOf(
  cluster: Cluster,
  topic: string,
  settings: Values,
  cursor: KafkaCursor | undefined,
): Promise<Bounds> {
  const { leaders } = await cluster.topic(topic)
  if (leaders.length > partitionsMax) {
    throw new ConnectorError('not_supported', `${topic} has more than ${partitionsMax} partitions.`)
  }
  const timestampMs = timeOf(settings)
  const at: number[] = []
  const ends: number[] = []
  for (const partition of leaders.keys()) {
    const ask = (time: number) => offsetAt(cluster, topic, partition, time)
    const [first, end] = [await ask(earliest), await ask(latest)]
    const known = cursor?.at[partition]
    if (known !== undefined && (known < first || known > end)) throw messagesGone(topic, partition, known, first, end)
    ends.push(end)
    // A partition that was added since the last transfer begins with its first message.
    if (known !== undefined || cursor !== undefined) at.push(known ?? first)
    else if (settings.startAt === 'latest') at.push(end)
    else if (timestampMs === undefined) at.push(first)
    else {
      const found = await ask(timestampMs)
      at.push(found < 0 || found > end ? end : found)
    }
  }
  return { at, ends }
}

async function offsetAt(cluster: Cluster, topic: string, partition: number, timestampMs: number): Promise<number> {
  const { error, offset } = await listOffset(await cluster.leader(topic, partition), topic, partition, timestampMs)
  if (error === 0) return offset
  if (error === kafkaErrors.notLeader || error === kafkaErrors.unknownTopicOrPartition) cluster.forget()
  throw errorOfCode(error, `the question for offsets of ${topic} (DESCRIBE)`)
}

function timeOf({ startAt, startTime }: Values): number | undefined {
  if (startAt !== 'timestamp') return undefined
  const text = String(startTime ?? '').trim()
  const ms = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d))?$/.test(text)
    ? Date.parse(text)
    : Number.NaN
  if (ms >= 0) return ms
  throw new ConnectorError('invalid_setting', 'The start time must be ISO 8601 with a zone: 2026-01-31T12:00:00Z.')
}

/** Messages that were not read are gone: retention deleted them, or the topic was created again. */
export function messagesGone(topic: string, partition: number, at: number, first?: number, end?: number) {
  const where = `partition ${partition} of ${topic}`
  const how =
    end !== undefined && at > end
      ? `The topic ${topic} was created again or truncated: ${where} ends at ${end}, and ${at} was read last.`
      : `Messages of ${where} from offset ${at} on were deleted before they were read${first === undefined ? '' : `; the first one left is ${first}`}. Retention of the topic is too short for the schedule.`
  return new ConnectorError(
    'source_changed',
    `${how} Nothing was skipped. To continue without these messages, change where the connection starts.`,
  )
}
