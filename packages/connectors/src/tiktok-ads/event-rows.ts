import type { Batch } from '@penstock/connector'
import { type BatchRow, isSha256 } from '../platform-api/batch-rows.ts'
import { eventIdOf, type Read, readObject, readTimestamp, wrong } from '../platform-api/events.ts'
import { type JsonObject, objectIn } from '../platform-api/json.ts'

export type EventSource = 'web' | 'app' | 'offline'

export type TikTokEvent = {
  readonly source: EventSource
  readonly body: JsonObject & { readonly event_id: string }
}

/** TikTok takes these as digests only. Its older interface has another name for phone. */
const hashedKeys: Readonly<Record<string, string>> = {
  email: 'email',
  phone: 'phone',
  phone_number: 'phone',
  external_id: 'external_id',
  first_name: 'first_name',
  last_name: 'last_name',
  zip_code: 'zip_code',
}
const listKeys = ['email', 'phone', 'external_id']
const identifyingKeys = ['ttclid', 'ttp', 'ip', 'user_agent', 'idfa', 'idfv', 'gaid']
const plainKeys = [...identifyingKeys, 'locale', 'city', 'state', 'country', 'att_status']

/** Makes an event of a row, or says why TikTok would not take it. */
export function eventOf(batch: Batch, row: BatchRow): Read<TikTokEvent> {
  const event = row.text('event')
  if (event === undefined) return wrong('The name of the event is missing.', 'event')
  const source = row.text('event_source')
  if (source !== 'web' && source !== 'app' && source !== 'offline') {
    return wrong('The kind of place must be web, app or offline.', 'event_source')
  }
  // What was bought in a shop is often reported weeks later.
  const time = readTimestamp(row, 'event_time', source === 'offline' ? undefined : 7)
  if ('wrong' in time) return time
  const context = readObject(row, 'context')
  if ('wrong' in context) return context
  const user = userOf(context.read)
  if ('wrong' in user) return user
  const properties = readObject(row, 'properties')
  if ('wrong' in properties) return properties
  const body = {
    event,
    event_time: time.read,
    event_id: eventIdOf(batch, row),
    user: user.read,
    ...filled({ properties: properties.read }),
    ...filled({ page: objectIn(context.read.page), app: objectIn(context.read.app), ad: objectIn(context.read.ad) }),
  }
  return { read: { source, body } }
}

/** The person, be it written at the top of the context or in its `user`. */
function userOf(context: JsonObject): Read<JsonObject> {
  const given: JsonObject = { ...context, ...objectIn(context.user) }
  const user: Record<string, unknown> = {}
  for (const [key, name] of Object.entries(hashedKeys)) {
    const values = [given[key] ?? []].flat().filter((value) => value !== '')
    if (values.length === 0) continue
    if (!values.every((value) => typeof value === 'string' && isSha256(value))) {
      return wrong(`The object's ${key} is no SHA-256 digest of 64 lower-case hexadecimal characters.`, 'context')
    }
    user[name] = listKeys.includes(name) ? values : values[0]
  }
  for (const key of plainKeys) {
    const value = given[key]
    if (typeof value === 'string' && value !== '') user[key] = value
  }
  if ([...listKeys, ...identifyingKeys].some((key) => user[key] !== undefined)) return { read: user }
  return wrong('The object holds nothing by which TikTok could find the person.', 'context')
}

/** Only objects that say something. */
const filled = (objects: Readonly<Record<string, JsonObject>>): Record<string, JsonObject> =>
  Object.fromEntries(Object.entries(objects).filter(([, object]) => Object.keys(object).length > 0))
