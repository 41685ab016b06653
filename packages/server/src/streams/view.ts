import { eventKinds, type Values } from '@penstock/connector'
import { callbackAddress, isStoredInKafka } from '@penstock/connectors'
import {
  type EventStream,
  type EventValueKind,
  eventValueKinds,
  type StreamConsumer,
  type StreamKey,
} from '@penstock/wire'
import { unixSeconds } from '../time.ts'
import type { ConsumerRow, StreamFiguresRow, StreamKeyRow } from './queries.ts'
import { isMinute, type StreamVolumeRow } from './volume-queries.ts'

export const viewKey = ({ id, hint, createdTime, lastUsedTime }: StreamKeyRow): StreamKey => ({
  id,
  hint,
  createdTime: unixSeconds(createdTime),
  lastUsedTime: lastUsedTime && unixSeconds(lastUsedTime),
})

/**
 * Figures that do not exist of events on a topic are null.
 * @param figures undefined if the configuration never had a write key
 */
export function viewFigures(settings: Values, figures: StreamFiguresRow | undefined) {
  const toTopic = isStoredInKafka(settings)
  const keptEvents = figures ? figures.lastNumber - figures.removedNumber : 0
  // Events that came before the store was changed.
  const isKept = !toTopic || keptEvents > 0
  return {
    store: toTopic ? ('kafka' as const) : ('postgresql' as const),
    topic: toTopic ? String(settings.topic ?? '') : null,
    accepted: figures?.accepted ?? 0,
    duplicates: toTopic ? null : (figures?.duplicates ?? 0),
    refused: figures?.refused ?? 0,
    keptEvents: isKept ? keptEvents : null,
    keptBytes: isKept ? (figures?.keptBytes ?? 0) : null,
    newestTime: figures?.lastTime ? unixSeconds(figures.lastTime) : null,
    oldestTime: figures?.oldestTime ? unixSeconds(figures.oldestTime) : null,
  }
}

export const viewConsumer = ({
  connectionId,
  name,
  status,
  readNumber,
  behindEvents,
  behindSeconds,
}: ConsumerRow): StreamConsumer => ({ connectionId, name, status, readNumber, behindEvents, behindSeconds })

/** Whole numbers among others are numbers. */
const kindsIn = (bits: number): EventValueKind[] =>
  eventValueKinds.filter((kind) => bits & eventKinds[kind] && !(kind === 'integer' && bits & eventKinds.number))

const viewVolume = ({ time, accepted, duplicates, refused }: StreamVolumeRow) => ({
  time: unixSeconds(time),
  accepted,
  duplicates,
  refused,
})

/** Where the write key belongs in an address. */
const writeKeyHere = 'YOUR_WRITE_KEY'

export const viewStream = (
  { id, accountId, connectorId, publicUrl }: { id: string; accountId: string; connectorId: string; publicUrl: string },
  {
    settings,
    figures,
    keys,
    consumers,
    columns,
    volumes,
  }: {
    settings: Values
    figures: StreamFiguresRow | undefined
    keys: readonly StreamKeyRow[]
    consumers: readonly ConsumerRow[]
    columns: readonly { readonly name: string; readonly kinds: number }[]
    volumes: readonly StreamVolumeRow[]
  },
): EventStream => ({
  id,
  accountId,
  address: `${publicUrl}/events/${id}`,
  host: publicUrl,
  callbackAddress: callbackAddress(connectorId, `${publicUrl}/events/${id}`, writeKeyHere) ?? null,
  keys: keys.map(viewKey),
  ...viewFigures(settings, figures),
  consumers: isStoredInKafka(settings) ? null : consumers.map(viewConsumer),
  columns: columns.map(({ name, kinds }) => ({ name, kinds: kindsIn(kinds) })),
  volumes: {
    minutes: volumes.filter(isMinute).map(viewVolume),
    hours: volumes.filter((row) => !isMinute(row)).map(viewVolume),
  },
})
