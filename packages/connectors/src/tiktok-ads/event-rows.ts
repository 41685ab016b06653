import type { Batch } from '@penstock/connector'
import { type JsonObject, objectIn } from '../platform-api/json.ts'
import { type BatchRow, isSha256 } from '../platform-api/rows/batch-rows.ts'
import {
  filled,
  readAll,
  readBoolean,
  readCount,
  readCurrency,
  readNumber,
  readObjects,
  readSeconds,
  readTexts,
  textsOf,
} from '../platform-api/rows/event-values.ts'
import { eventIdOf, type Read, readObject, wrong } from '../platform-api/rows/events.ts'

export const eventSources = ['web', 'app', 'offline', 'crm'] as const
export type TikTokEventSource = (typeof eventSources)[number]
const isSource = (text: string | undefined): text is TikTokEventSource => eventSources.some((source) => source === text)

export type TikTokEvent = {
  readonly source: TikTokEventSource
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
  const source = row.text('event_source')?.toLowerCase()
  if (!isSource(source)) return wrong('The kind of event must be web, app, offline or crm.', 'event_source')
  const context = readObject(row, 'context')
  if ('wrong' in context) return context
  const read = readAll({
    // What was bought in a shop, or became of a lead, is often reported weeks later.
    time: readSeconds(row, 'event_time', source === 'web' || source === 'app' ? 7 : undefined),
    user: readUser(row, context.read),
    properties: readProperties(row),
    limited: readBoolean(row, 'limited_data_use'),
  })
  if ('wrong' in read) return read
  const { time, user, properties, limited } = read.read
  const body = {
    event,
    event_time: time,
    event_id: eventIdOf(batch, row),
    user,
    ...filled({
      properties,
      page: { ...objectIn(context.read.page), ...textsOf(row, { url: 'page_url', referrer: 'page_referrer' }) },
      app: objectIn(context.read.app),
      ad: objectIn(context.read.ad),
      lead: {
        ...objectIn(context.read.lead),
        ...textsOf(row, { lead_id: 'lead_id', lead_event_source: 'lead_event_source' }),
      },
      limited_data_use: limited,
    }),
  }
  return { read: { source, body } }
}

/** The person: what the context says at its top or in its `user`, and over it what columns of their own say. */
function readUser(row: BatchRow, context: JsonObject): Read<JsonObject> {
  const given: JsonObject = { ...context, ...objectIn(context.user) }
  const user: Record<string, unknown> = {}
  for (const [key, name] of Object.entries(hashedKeys)) {
    const own = row.text(name)
    const values = (own === undefined ? [given[key] ?? []].flat() : [own]).filter((value) => value !== '')
    if (values.length === 0) continue
    const digests = values.map((value) => String(value).toLowerCase())
    if (!digests.every(isSha256)) {
      const field = own === undefined ? 'context' : name
      return wrong(`The person's ${key} is not a SHA-256 digest of 64 hexadecimal characters.`, field)
    }
    user[name] = listKeys.includes(name) ? digests : digests[0]
  }
  for (const key of plainKeys) {
    const value = row.text(key) ?? given[key]
    if (typeof value === 'string' && value !== '') user[key] = value
  }
  // The address that an ad led to names the click.
  user.ttclid ??= URL.parse(row.text('page_url') ?? '')?.searchParams.get('ttclid') || undefined
  if ([...listKeys, ...identifyingKeys].some((key) => user[key] !== undefined)) return { read: filled(user) }
  return wrong('The row has nothing by which TikTok can find the person.', 'context')
}

/** What happened: what `properties` says, and over it what columns of their own say. */
function readProperties(row: BatchRow): Read<JsonObject> {
  const given = readObject(row, 'properties')
  if ('wrong' in given) return given
  const read = readAll({
    value: readNumber(row, 'value'),
    currency: readCurrency(row, 'currency'),
    content_ids: readTexts(row, 'content_ids'),
    contents: readObjects(row, 'contents'),
    num_items: readCount(row, 'num_items'),
  })
  if ('wrong' in read) return read
  const texts = textsOf(row, {
    content_type: 'content_type',
    order_id: 'order_id',
    shop_id: 'shop_id',
    query: 'query',
  })
  return { read: filled({ ...given.read, ...filled(read.read), ...texts }) }
}
