import type { Batch } from '@penstock/connector'
import type { JsonObject } from '../platform-api/json.ts'
import type { BatchRow } from '../platform-api/rows/batch-rows.ts'
import { filled, readAll, textsOf } from '../platform-api/rows/event-values.ts'
import { eventIdOf, type Read, readObject, wrong } from '../platform-api/rows/events.ts'
import { readTimeMs } from '../platform-api/rows/milliseconds.ts'

/** mParticle asks that older events be brought another way. */
const daysMax = 30

export const eventTypes = ['custom_event', 'screen_view', 'session_start', 'session_end'] as const
export const customEventTypes = [
  ...(['navigation', 'location', 'search', 'transaction', 'user_content', 'user_preference'] as const),
  ...(['social', 'media', 'other', 'unknown'] as const),
] as const

/** mParticle's names of the columns by which a user or a device is found. */
const userColumns = { customer_id: 'customer_id', email: 'email', mobile_number: 'phone', other: 'other_id' }
const deviceColumns = { ios_advertising_id: 'idfa', android_advertising_id: 'gaid' }

/** Makes mParticle's batch of a row: one event of one user. */
export function batchOfRow(batch: Batch, row: BatchRow, environment: string): Read<JsonObject> {
  const eventType = row.text('event_type')?.toLowerCase() ?? 'custom_event'
  const type = eventTypes.find((one) => one === eventType)
  if (type === undefined) return wrong(`The kind of event must be one of ${eventTypes.join(', ')}.`, 'event_type')
  const named = readNames(row, type)
  if ('wrong' in named) return named
  const read = readAll({
    time: readTimeMs(row, 'timestamp_unixtime_ms', daysMax),
    eventNum: readWhole(row, 'event_num'),
    sessionId: readWhole(row, 'session_id'),
    location: readLocation(row),
    state: readObject(row, 'device_current_state'),
    attributes: readTextObject(row, 'custom_attributes'),
    flags: readTextObject(row, 'custom_flags'),
    userAttributes: readTextObject(row, 'user_attributes'),
  })
  if ('wrong' in read) return read
  const { time, eventNum, sessionId, location, state, attributes, flags, userAttributes } = read.read
  const user = textsOf(row, userColumns)
  const device = textsOf(row, deviceColumns)
  const mpid = row.text('mpid')
  if (mpid !== undefined && !/^-?\d{1,19}$/.test(mpid)) return wrong('The mParticle ID must be a whole number.', 'mpid')
  if (Object.keys({ ...user, ...device }).length === 0 && mpid === undefined) {
    return wrong('The row has no identifier of the user or the device.', 'customer_id')
  }
  // A number is an ID as mParticle has it; any other text, or none, names the message.
  const eventId = row.text('event_id')
  const isNumber = eventId !== undefined && isWhole(eventId)
  const data = filled({
    ...named.read,
    timestamp_unixtime_ms: time,
    event_id: isNumber ? Number(eventId) : undefined,
    event_num: eventNum,
    source_message_id: row.text('source_message_id') ?? eventIdOf(batch, isNumber ? withoutId(row) : row),
    session_id: sessionId,
    session_uuid: row.text('session_uuid'),
    location,
    device_current_state: state,
    custom_attributes: attributes,
    custom_flags: flags,
  })
  return {
    read: filled({
      schema_version: 2,
      environment,
      // Digits beyond those of a number of JSON stay what they are.
      mpid: mpid === undefined || isWhole(mpid) ? mpid && Number(mpid) : mpid,
      user_identities: user,
      user_attributes: userAttributes,
      device_info: device,
      ip: row.text('ip'),
      events: [{ event_type: type, data }],
    }),
  }
}

const withoutId = (row: BatchRow): BatchRow => ({
  ...row,
  text: (column) => (column === 'event_id' ? undefined : row.text(column)),
})

function readNames(row: BatchRow, type: (typeof eventTypes)[number]): Read<JsonObject> {
  const name = row.text('event_name')
  if (type === 'session_start' || type === 'session_end') return { read: {} }
  if (name === undefined) return wrong('The name of the event is missing.', 'event_name')
  if (type === 'screen_view') return { read: { screen_name: name } }
  const given = row.text('custom_event_type')?.toLowerCase() ?? 'other'
  const kind = customEventTypes.find((one) => one === given)
  if (kind !== undefined) return { read: { event_name: name, custom_event_type: kind } }
  return wrong(`The type must be one of ${customEventTypes.join(', ')}.`, 'custom_event_type')
}

const isWhole = (text: string): boolean => /^-?\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text))

function readWhole(row: BatchRow, column: string): Read<number | undefined> {
  const text = row.text(column)
  if (text === undefined) return { read: undefined }
  return isWhole(text) ? { read: Number(text) } : wrong('The value must be a whole number.', column)
}

/** An object whose values are texts, as mParticle wants them: numbers and the like become texts, `null` is left out. */
function readTextObject(row: BatchRow, column: string): Read<JsonObject> {
  const found = readObject(row, column)
  if ('wrong' in found) return found
  const texts = Object.entries(found.read).flatMap(([name, value]): [string, string][] =>
    value === null ? [] : [[name, typeof value === 'object' ? JSON.stringify(value) : String(value)]],
  )
  return { read: Object.fromEntries(texts) }
}

function readLocation(row: BatchRow): Read<JsonObject> {
  const found = readObject(row, 'location')
  if ('wrong' in found || Object.keys(found.read).length === 0) return found
  const { latitude, longitude } = found.read
  const isDegree = (value: unknown, most: number) =>
    (typeof value === 'number' || typeof value === 'string') && value !== '' && Math.abs(Number(value)) <= most
  if (isDegree(latitude, 90) && isDegree(longitude, 180)) return found
  return wrong('The location must have a latitude and a longitude in degrees.', 'location')
}
