import { type Cell, type ConnectorContext, column, type Fields, type Records, type Row } from '@penstock/connector'
import { bucketKeys } from '../kit/file-preset.ts'
import type { PresetSource } from '../kit/preset-facts.ts'
import { isObject, type JsonObject, listIn, objectIn } from '../platform-api/json.ts'

/**
 * Files of mParticle’s Amazon S3 integration: a batch of events of one person as a JSON object on each line (docs.mparticle.com,
 * “Amazon S3” and “JSON Reference”). A row is an event with what its batch says of the person and the device.
 */

const { region, ...others } = bucketKeys

/** Keys of the bucket. mParticle has its own regions. */
export const bucketSecrets: Fields = Object.fromEntries(
  Object.entries({ ...others, bucketRegion: region }).map(([name, field]) => [name, { ...field, role: 'Source' }]),
)

/** The same context with the keys under the names of a bucket. */
export const withBucketKeys = <Context extends ConnectorContext>(context: Context): Context => ({
  ...context,
  secrets: { ...context.secrets, region: context.secrets.bucketRegion },
})

type Batch = { readonly batch: JsonObject; readonly people: JsonObject }

/** Columns of the batch, in addition to the columns of the event. */
const ofBatch: Readonly<Record<string, readonly [description: string, (from: Batch) => unknown]>> = {
  mpid: ['ID that mParticle gave the person', ({ batch }) => batch.mpid],
  customer_id: ['Your own ID of the person', ({ people }) => people.customer_id],
  email: ['E-mail address of the person', ({ people }) => people.email],
  phone: ['Mobile phone number of the person', ({ people }) => people.mobile_number],
  other_id: ['Another ID of the person', ({ people }) => people.other],
  user_identities: ['Object with all identities of the person', ({ people }) => people],
  user_attributes: ['Object with attributes of the person', ({ batch }) => batch.user_attributes],
  consent_state: ['Object with what the person has agreed to', ({ batch }) => batch.consent_state],
  idfa: ['Advertising ID of a device with iOS', ({ batch }) => objectIn(batch.device_info).ios_advertising_id],
  gaid: ['Advertising ID of a device with Android', ({ batch }) => objectIn(batch.device_info).android_advertising_id],
  ip: ['IP address of the device', ({ batch }) => batch.ip],
  device_info: ['Object that describes the device', ({ batch }) => batch.device_info],
  application_info: ['Object that describes the app', ({ batch }) => batch.application_info],
  environment: ['Whether it is a production or a development event', ({ batch }) => batch.environment],
  batch_id: ['ID of the batch', ({ batch }) => batch.batch_id],
  source_request_id: ['ID of the request with which the batch came', ({ batch }) => batch.source_request_id],
  received_unixtime_ms: [
    'When mParticle received the batch, in milliseconds since 1970',
    ({ batch }) => batch.timestamp_unixtime_ms,
  ],
}

/** Columns of the event that events for mParticle do not have. */
const ofEvent: Records = {
  event_name: column({ description: 'Name of the event, or of the screen' }),
  custom_event_type: column({ description: 'Type of a custom event, such as transaction' }),
  event_data: column({ description: 'Object with all that the event says, such as the products of a purchase' }),
}

/** File names end with the time in UTC, to the microsecond, and a number. The name of the app precedes them. */
const named = /_(\d{14,20})_(\d{1,5})\.\w{1,4}(?:\.gz)?$/

/** How long after the time in its name a file can still arrive, in milliseconds. */
const settlesMs = 15 * 60_000

/** The files as a source. @param records columns of the event that events for mParticle have, too */
export function eventFiles(records: Records): PresetSource {
  const events = Object.keys(records)
  const all: Records = {
    ...records,
    ...ofEvent,
    ...Object.fromEntries(Object.entries(ofBatch).map(([name, [description]]) => [name, column({ description })])),
  }
  return {
    records: all,
    layout: () => ({ columns: Object.keys(all), rowsOf: (batch) => rowsOf(batch, events) }),
    names: named,
    order: (name) => {
      const [, time = '', number = ''] = named.exec(name) ?? []
      return `${time.padEnd(20, '0')}_${number.padStart(5, '0')}`
    },
    isSettled: (name, nowMs) => timeOf(name) < nowMs - settlesMs,
  }
}

function timeOf(name: string): number {
  const [, time = ''] = named.exec(name) ?? []
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)/.exec(time) ?? []
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
}

/** A row for each event of a batch. A batch without events only changes a profile, and has no rows. */
function rowsOf(batch: JsonObject, events: readonly string[]): Row[] {
  const from = { batch, people: identitiesIn(batch.user_identities) }
  const shared = Object.values(ofBatch).map(([, read]) => cellOf(read(from)))
  return listIn(batch.events).map((one) => {
    const { event_type, data: given } = objectIn(one)
    const data = objectIn(given)
    const own = events.map((name) => (name === 'event_type' ? event_type : data[name]))
    return [...[...own, data.event_name ?? data.screen_name, data.custom_event_type, data].map(cellOf), ...shared]
  })
}

/** Identities by their types. mParticle sends a list, but receives an object. */
function identitiesIn(value: unknown): JsonObject {
  if (isObject(value)) return value
  const pairs = listIn(value).map(objectIn)
  return Object.fromEntries(pairs.map(({ identity_type, identity }) => [String(identity_type), identity]))
}

/** Nested values as JSON. Empty values become null. */
function cellOf(value: unknown): Cell {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  if (typeof value !== 'object' || value === null) return null
  const text = JSON.stringify(value)
  return text === '{}' || text === '[]' ? null : text
}
