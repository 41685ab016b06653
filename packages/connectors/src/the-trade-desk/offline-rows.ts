import type { JsonObject } from '../platform-api/json.ts'
import type { BatchRow } from '../platform-api/rows/batch-rows.ts'
import { filled, readAll, readCurrency, readNumber, readSeconds, textsOf } from '../platform-api/rows/event-values.ts'
import { type Read, wrong } from '../platform-api/rows/events.ts'
import { readItems, readPrivacy } from './conversion-values.ts'
import { threeLettersOf } from './country-codes.ts'
import { type IdType, problemOfId } from './user-ids.ts'

/** A conversion, and the provider that it is of. */
export type TradeDeskConversion = { readonly provider: string; readonly item: JsonObject }

/** The kinds of identifiers that a conversion can have. */
const idTypes = [
  'TDID',
  'DAID',
  'UID2',
  'UID2Token',
  'RampID',
  'EUID',
  'EUIDToken',
] as const satisfies readonly IdType[]
const texts = Object.fromEntries(
  [
    'EventName',
    'Region',
    'Metro',
    'City',
    'MerchantId',
    'OrderId',
    ...Array.from({ length: 10 }, (_, n) => `TD${n + 1}`),
  ].map((name) => [name, name]),
)
const guid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Makes a conversion of a row, or says why The Trade Desk would not take it. */
export function offlineConversionOf(row: BatchRow): Read<TradeDeskConversion> {
  const provider = row.text('DataProviderId')
  if (provider === undefined) return wrong('The ID of the data provider is missing.', 'DataProviderId')
  const tag = row.text('TrackingTagId')
  if (tag === undefined) return wrong('The ID of the tracking tag is missing.', 'TrackingTagId')
  const read = readAll({
    time: readSeconds(row, 'TimestampUtc', undefined),
    ids: readIds(row),
    value: readNumber(row, 'Value'),
    currency: readCurrency(row, 'ValueCurrency'),
    country: readCountry(row),
    lineItems: readItems(row, 'LineItems'),
    privacy: readPrivacy(row, 'PrivacySettings'),
  })
  if ('wrong' in read) return read
  const { time, ids, value, currency, country, lineItems, privacy } = read.read
  const item = filled({
    ...ids,
    TrackingTagId: tag,
    TimestampUtc: new Date(time * 1000).toISOString().replace('.000Z', 'Z'),
    // As it is written, so that no digit is lost.
    Value: value === undefined ? undefined : row.text('Value'),
    ValueCurrency: currency,
    Country: country,
    ...textsOf(row, texts),
    LineItems: lineItems?.map(textual),
    PrivacySettings: privacy,
  })
  return { read: { provider, item } }
}

/** Numbers of products are texts there. */
const textual = (item: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(item).map(([key, value]) => [key, typeof value === 'number' ? String(value) : value]),
  )

/** One identifier in a field of its own, several of them in a list. */
function readIds(row: BatchRow): Read<JsonObject> {
  const pairs: [string, string][] = []
  for (const type of idTypes) {
    const id = row.text(type)
    if (id === undefined) continue
    const problem = problemOfId(type, id)
    if (problem !== undefined) return wrong(problem, type)
    pairs.push([type, id])
  }
  const impression = row.text('ImpressionId')
  if (impression !== undefined && !guid.test(impression)) {
    return wrong('The value is not an ID of the form 8-4-4-4-12.', 'ImpressionId')
  }
  if (pairs.length === 0 && impression === undefined) {
    return wrong('The row has no identifier of the person or the impression.', 'ImpressionId')
  }
  const ids = pairs.length > 1 ? { UserIdArray: pairs } : Object.fromEntries(pairs)
  return { read: filled({ ...ids, ImpressionId: impression }) }
}

function readCountry(row: BatchRow): Read<string | undefined> {
  const text = row.text('Country')
  if (text === undefined) return { read: undefined }
  const country = threeLettersOf(text)
  if (country === undefined) return wrong('The country must be a code of ISO 3166: USA.', 'Country')
  if (country === 'USA' && row.text('Region') === undefined)
    return wrong('In the USA, the region is required.', 'Region')
  return { read: country }
}
