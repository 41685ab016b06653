import { eventKinds } from '@penstock/connector'
import {
  type EventStream,
  type EventValueKind,
  eventValueKinds,
  type StreamConsumer,
  type StreamKey,
} from '@penstock/wire'
import { unixSeconds } from '../time.ts'
import type { ConsumerRow, StreamFiguresRow, StreamKeyRow } from './queries.ts'
import { isMinute, type VolumeRow } from './volume-queries.ts'

export const viewKey = ({ id, hint, createdTime, lastUsedTime }: StreamKeyRow): StreamKey => ({
  id,
  hint,
  createdTime: unixSeconds(createdTime),
  lastUsedTime: lastUsedTime && unixSeconds(lastUsedTime),
})

/** @param figures undefined if the configuration never had a write key */
export const viewFigures = (figures: StreamFiguresRow | undefined) => ({
  accepted: figures?.accepted ?? 0,
  duplicates: figures?.duplicates ?? 0,
  refused: figures?.refused ?? 0,
  keptEvents: figures ? figures.lastNumber - figures.removedNumber : 0,
  keptBytes: figures?.keptBytes ?? 0,
  newestTime: figures?.lastTime ? unixSeconds(figures.lastTime) : null,
  oldestTime: figures?.oldestTime ? unixSeconds(figures.oldestTime) : null,
})

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

const viewVolume = ({ time, accepted, duplicates, refused }: VolumeRow) => ({
  time: unixSeconds(time),
  accepted,
  duplicates,
  refused,
})

export const viewStream = (
  { id, accountId, publicUrl }: { id: string; accountId: string; publicUrl: string },
  {
    figures,
    keys,
    consumers,
    columns,
    volumes,
  }: {
    figures: StreamFiguresRow | undefined
    keys: readonly StreamKeyRow[]
    consumers: readonly ConsumerRow[]
    columns: readonly { readonly name: string; readonly kinds: number }[]
    volumes: readonly VolumeRow[]
  },
): EventStream => ({
  id,
  accountId,
  address: `${publicUrl}/events/${id}`,
  host: publicUrl,
  keys: keys.map(viewKey),
  ...viewFigures(figures),
  consumers: consumers.map(viewConsumer),
  columns: columns.map(({ name, kinds }) => ({ name, kinds: kindsIn(kinds) })),
  volumes: {
    minutes: volumes.filter(isMinute).map(viewVolume),
    hours: volumes.filter((row) => !isMinute(row)).map(viewVolume),
  },
})
