import type { Batch } from '@penstock/connector'
import type { JsonObject } from '../platform-api/json.ts'
import type { BatchRow } from '../platform-api/rows/batch-rows.ts'
import { filled, readAll, readCount, readCurrency } from '../platform-api/rows/event-values.ts'
import { type Read, wrong } from '../platform-api/rows/events.ts'
import type { ConversionDefinition } from './conversion-definitions.ts'
import {
  dedupeIdOf,
  purchase,
  readConversionType,
  readCountry,
  readLimited,
  readMatchKeys,
  readTime,
  readValue,
} from './event-rows.ts'

/** Amazon does not accept older events. */
const daysMax = 7

export const conversionSources = ['AMAZON_AD_TAG', 'SERVER_TO_SERVER']

/** An event and where it was recorded; a request has events of one source only. */
export type DspConversion = { readonly source: string; readonly body: JsonObject }

/** What all events of a connection have in common. */
export type DspConversionDefaults = {
  readonly country?: string | undefined
  readonly definitions: readonly ConversionDefinition[]
}

/** Makes an event of a row for the import of conversions, or says why Amazon would not take it. */
export function conversionOf(batch: Batch, row: BatchRow, defaults: DspConversionDefaults): Read<DspConversion> {
  const source = row.text('source')?.toUpperCase()
  if (source === undefined || !conversionSources.includes(source)) {
    return wrong(`The source must be one of ${conversionSources.join(', ')}.`, 'source')
  }
  const type = readConversionType(row, 'conversionType')
  if ('wrong' in type) return type
  const read = readAll({
    timestamp: readTime(row, 'eventTime', daysMax),
    matchKeys: readMatchKeys(row, 'userIdentifier'),
    countryCode: readCountry(row, defaults.country),
    value: readValue(row, 'conversionValue', type.read),
    currency: readCurrency(row, 'currency'),
    unitsSold: readCount(row, 'unitsSold'),
    limited: readLimited(row),
    definition: readDefinition(row, source, type.read, defaults.definitions),
  })
  if ('wrong' in read) return read
  const { timestamp, matchKeys, countryCode, value, currency, unitsSold, limited, definition } = read.read
  const isPurchase = type.read === purchase
  const body = filled({
    name: row.text('eventName') ?? type.read,
    conversionDefinitionId: definition,
    timestamp,
    matchKeys,
    countryCode,
    value,
    // A currency and a number of items belong to purchases only.
    currencyCode: isPurchase ? currency : undefined,
    unitsSold: isPurchase ? unitsSold : undefined,
    clientDedupeId: dedupeIdOf(batch, row),
    dataProcessingOptions: limited ? 'LIMITED_DATA_USE' : undefined,
  })
  return { read: { source, body } }
}

/** The definition that a row names, else the only one of its source and type, by its name where there are several. */
function readDefinition(
  row: BatchRow,
  source: string,
  type: string,
  definitions: readonly ConversionDefinition[],
): Read<string> {
  const named = row.text('conversionDefinitionId')
  if (named !== undefined) return { read: named }
  const found = definitions.filter((definition) => definition.source === source && definition.type === type)
  const name = row.text('eventName')
  const [only, another] = found.length > 1 ? found.filter((definition) => definition.name === name) : found
  if (only !== undefined && another === undefined) return { read: only.id }
  const reason =
    found.length === 0
      ? 'The advertiser has no conversion definition of this source and type; create one in its Events Manager.'
      : 'The advertiser has several conversion definitions of this source and type; map conversionDefinitionId, or eventName with the name of one.'
  return wrong(reason, 'conversionType')
}
