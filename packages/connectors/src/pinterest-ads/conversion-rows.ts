import type { Batch } from '@penstock/connector'
import { type JsonObject, textIn } from '../platform-api/json.ts'
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

/** Other names than these Pinterest does not accept. */
const eventNames = new Set(
  `add_payment_info add_to_cart add_to_wishlist app_install checkout custom initiate_checkout lead page_visit search signup
  subscribe view_category view_content watch_video`.split(/\s+/),
)
/** Pinterest knows four kinds of place; what others call theirs counts as one of these. */
const actionSources: Readonly<Record<string, string>> = {
  ...{ web: 'web', website: 'web', app_ios: 'app_ios', app_android: 'app_android', offline: 'offline' },
  ...{ physical_store: 'offline', phone_call: 'offline' },
}

/** What Pinterest takes as lists of digests only, by its key in `user_data`; the column of a raw or hashed value. */
const hashedColumns: Readonly<Record<string, string>> = {
  ...{ em: 'email', ph: 'phone', fn: 'first_name', ln: 'last_name', ge: 'gender', db: 'date_of_birth', ct: 'city' },
  ...{ st: 'state', zp: 'zip', country: 'country', external_id: 'external_id', hashed_maids: 'maid' },
}
const plainKeys = ['client_ip_address', 'client_user_agent', 'click_id', 'partner_id']
const contentKeys = ['order_id', 'content_name', 'content_category', 'content_brand', 'search_string', 'opt_out_type']
/** Pinterest refuses a request for a key that it does not know. */
const customKeys = new Set([
  ...[...contentKeys, 'currency', 'value', 'content_ids', 'contents', 'num_items', 'predicted_ltv', 'np'],
  ...['external_measurement_id', 'external_measurement_vendor_id'],
])
const itemKeys = ['id', 'item_name', 'item_category', 'item_brand', 'item_price']
const deviceKeys = [
  ...['app_id', 'app_name', 'app_version', 'device_brand', 'device_carrier', 'device_model', 'device_type'],
  ...['os_version', 'event_source_url'],
]
const named = (keys: readonly string[]) => Object.fromEntries(keys.map((key) => [key, key]))

/** Makes an event of a row, or says why Pinterest would not take it. */
export function eventOf(batch: Batch, row: BatchRow): Read<JsonObject> {
  const name = row.text('event_name')?.toLowerCase()
  if (name === undefined) return wrong('The name of the event is missing.', 'event_name')
  if (!eventNames.has(name)) {
    return wrong(`The name of the event must be one of ${[...eventNames].join(', ')}.`, 'event_name')
  }
  const source = actionSources[row.text('action_source')?.toLowerCase() ?? '']
  if (source === undefined) {
    return wrong('The kind of event must be web, app_ios, app_android or offline.', 'action_source')
  }
  const language = row.text('language')?.slice(0, 2).toLowerCase()
  const read = readAll({
    time: readSeconds(row, 'event_time', undefined),
    user: readUser(row),
    custom: readCustom(row),
    optOut: readBoolean(row, 'opt_out'),
    wifi: readBoolean(row, 'wifi'),
  })
  if ('wrong' in read) return read
  const { time, user, custom, optOut, wifi } = read.read
  return {
    read: filled({
      event_name: name,
      action_source: source,
      event_time: time,
      event_id: eventIdOf(batch, row),
      user_data: user,
      ...textsOf(row, named(deviceKeys)),
      custom_data: custom,
      opt_out: optOut,
      partner_name: 'ss-penstock',
      language: language !== undefined && /^[a-z]{2}$/.test(language) ? language : undefined,
      wifi,
    }),
  }
}

/** The person: what `user_data` says, and over it what columns of their own say. */
function readUser(row: BatchRow): Read<JsonObject> {
  const given = readObject(row, 'user_data')
  if ('wrong' in given) return given
  const user: Record<string, unknown> = {}
  for (const [key, column] of Object.entries(hashedColumns)) {
    const own = row.text(column)
    const values = own === undefined ? [given.read[key] ?? []].flat().filter((value) => value !== '') : [own]
    const digests = values.map((value) => String(value).toLowerCase())
    if (!digests.every(isSha256)) {
      const field = own === undefined ? 'user_data' : column
      return wrong(`The person's ${key} is not a SHA-256 digest of 64 hexadecimal characters.`, field)
    }
    if (digests.length > 0) user[key] = digests
  }
  for (const key of plainKeys) {
    const value = row.text(key) ?? textIn(given.read[key])
    if (value !== undefined) user[key] = value
  }
  // The address that an ad led to names the click.
  user.click_id ??= URL.parse(row.text('event_source_url') ?? '')?.searchParams.get('epik') || undefined
  if (user.em ?? user.hashed_maids ?? (user.client_ip_address && user.client_user_agent)) return { read: filled(user) }
  return wrong(
    'Pinterest finds a person by an e-mail address, the advertising ID of a device, or an IP address and a user agent together.',
    'email',
  )
}

/** What happened: what `custom_data` says, and over it what columns of their own say. Pinterest wants amounts as texts. */
function readCustom(row: BatchRow): Read<JsonObject> {
  const given = readObject(row, 'custom_data')
  if ('wrong' in given) return given
  const unknown = Object.keys(given.read).find((key) => !customKeys.has(key))
  if (unknown !== undefined) return wrong('The object has a key that Pinterest does not know.', 'custom_data')
  const read = readAll({
    value: readNumber(row, 'value'),
    currency: readCurrency(row, 'currency'),
    content_ids: readTexts(row, 'content_ids'),
    contents: readObjects(row, 'contents'),
    num_items: readCount(row, 'num_items'),
    predicted_ltv: readNumber(row, 'predicted_ltv'),
  })
  if ('wrong' in read) return read
  const custom = { ...given.read, ...filled(read.read), ...textsOf(row, named(contentKeys)) } as Record<string, unknown>
  for (const key of ['value', 'predicted_ltv']) custom[key] = textIn(custom[key])
  if (custom.contents === undefined) return { read: filled(custom) }
  if (!Array.isArray(custom.contents)) return wrong('The contents must be a list of objects.', 'custom_data')
  return { read: filled({ ...custom, contents: custom.contents.map(itemOf) }) }
}

/** A product with the keys that Pinterest knows, in the types that it wants. */
function itemOf(item: JsonObject): JsonObject {
  const quantity = Number(item?.quantity)
  return filled({
    ...Object.fromEntries(itemKeys.map((key) => [key, textIn(item?.[key])])),
    quantity: Number.isSafeInteger(quantity) && item?.quantity !== '' ? quantity : undefined,
  })
}
