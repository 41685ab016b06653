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
  textsOf,
} from '../platform-api/rows/event-values.ts'
import { eventIdOf, type Read, wrong } from '../platform-api/rows/events.ts'
import { readTimeMs } from '../platform-api/rows/milliseconds.ts'

/** Reddit does not take older events. */
const daysMax = 7

/** The events that Reddit knows; any other is one of your own. */
const trackingTypes = [
  ...['PAGE_VISIT', 'VIEW_CONTENT', 'SEARCH', 'ADD_TO_CART', 'ADD_TO_WISHLIST', 'LEAD', 'PURCHASE', 'SIGN_UP'],
]
const fold = (text: string): string => text.toLowerCase().replace(/[^a-z]/g, '')
const typesByName = new Map(trackingTypes.map((type) => [fold(type), type]))

/** Reddit knows four kinds of place; what others call theirs counts as one of these. */
const actionSources: Readonly<Record<string, string>> = {
  ...{ website: 'WEBSITE', web: 'WEBSITE', app: 'APP', mobile_app: 'APP', app_ios: 'APP', app_android: 'APP' },
  ...{ physical_store: 'PHYSICAL_STORE', offline: 'PHYSICAL_STORE', other: 'OTHER' },
}

/** What Reddit takes as digests, by its key; the column of a raw or hashed value. */
const hashedColumns: Readonly<Record<string, string>> = {
  ...{ email: 'email', phone_number: 'phone', external_id: 'external_id', ip_address: 'ip_address' },
  ...{ idfa: 'idfa', aaid: 'aaid' },
}
/** What is known of the browser and of limits helps, and finds no one. */
const identifyingKeys = [...Object.keys(hashedColumns), 'uuid']

/** Makes an event of a row, or says why Reddit would not take it. */
export function eventOf(batch: Batch, row: BatchRow): Read<JsonObject> {
  const name = row.text('event_name')
  if (name === undefined) return wrong('The name of the event is missing.', 'event_name')
  const source = actionSources[row.text('action_source')?.toLowerCase() ?? '']
  if (source === undefined) {
    return wrong('The kind of place must be website, app, physical_store or other.', 'action_source')
  }
  const read = readAll({
    time: readTimeMs(row, 'event_time', daysMax),
    user: readUser(row),
    value: readNumber(row, 'value'),
    currency: readCurrency(row, 'currency'),
    items: readCount(row, 'num_items'),
    products: readObjects(row, 'products'),
  })
  if ('wrong' in read) return read
  const { time, user, value, currency, items, products } = read.read
  const type = typesByName.get(fold(name))
  const clickId = row.text('click_id') ?? clickIn(row.text('event_source_url'))
  if (clickId === undefined && !identifyingKeys.some((key) => user[key] !== undefined)) {
    return wrong('The row holds nothing by which Reddit could find the person: an identifier, or a click.', 'email')
  }
  return {
    read: filled({
      event_at: time,
      action_source: source,
      type: type === undefined ? { tracking_type: 'CUSTOM', custom_event_name: name } : { tracking_type: type },
      click_id: clickId,
      event_source_url: source === 'WEBSITE' ? row.text('event_source_url') : undefined,
      user,
      metadata: filled({
        conversion_id: eventIdOf(batch, row),
        value,
        currency,
        item_count: items,
        products: products?.map(productOf),
      }),
    }),
  }
}

function readUser(row: BatchRow): Read<JsonObject> {
  const user: Record<string, unknown> = {}
  for (const [key, column] of Object.entries(hashedColumns)) {
    const digest = row.text(column)?.toLowerCase()
    if (digest === undefined) continue
    if (!isSha256(digest)) return wrong('The value is no SHA-256 digest of 64 hexadecimal characters.', column)
    user[key] = digest
  }
  const read = readAll({
    width: readCount(row, 'screen_width'),
    height: readCount(row, 'screen_height'),
    limited: readBoolean(row, 'limited_data_use'),
  })
  if ('wrong' in read) return read
  const { width, height, limited } = read.read
  return {
    read: filled({
      ...user,
      ...textsOf(row, { uuid: 'uuid', user_agent: 'user_agent' }),
      screen_dimensions: width === undefined || height === undefined ? undefined : { width, height },
      data_processing_options: limited
        ? { modes: ['LDU'], ...textsOf(row, { country: 'data_processing_country', region: 'data_processing_region' }) }
        : undefined,
    }),
  }
}

/** The address that an ad led to names the click. */
const clickIn = (address: string | undefined): string | undefined =>
  URL.parse(address ?? '')?.searchParams.get('rdt_cid') || undefined

/** A product with the keys that Reddit knows, in the types that it wants. */
function productOf(product: JsonObject): JsonObject {
  const numberOf = (value: unknown) => {
    const text = textIn(value)
    return text !== undefined && /^\d{1,15}(\.\d{1,10})?$/.test(text) ? Number(text) : undefined
  }
  const quantity = numberOf(product.quantity)
  return filled({
    ...{ id: textIn(product.id), name: textIn(product.name), category: textIn(product.category) },
    quantity: Number.isSafeInteger(quantity) ? quantity : undefined,
    item_price: numberOf(product.item_price ?? product.price),
  })
}
