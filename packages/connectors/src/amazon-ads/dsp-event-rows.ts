import type { Batch } from '@penstock/connector'
import type { JsonObject } from '../platform-api/json.ts'
import type { BatchRow } from '../platform-api/rows/batch-rows.ts'
import { filled, readAll, readCount, readCurrency } from '../platform-api/rows/event-values.ts'
import { type Read, readObject, wrong } from '../platform-api/rows/events.ts'
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

/** An event and the advertiser it is credited to. */
export type DspEvent = { readonly advertiserId: string; readonly body: JsonObject }

/** What a connection says of all its events. */
export type DspEventDefaults = {
  readonly country?: string | undefined
  readonly dataSetName?: string | undefined
  readonly consentAdStorage?: string | undefined
  readonly consentUserData?: string | undefined
  /** Whether every event must say what the person has consented to. */
  readonly needsConsent: boolean
}

/** Makes an event of a row for the Events API, or says why Amazon would not take it. */
export function eventOf(batch: Batch, row: BatchRow, defaults: DspEventDefaults): Read<DspEvent> {
  const advertiserId = row.text('advertiserId')
  if (advertiserId === undefined || !/^\d{1,30}$/.test(advertiserId)) {
    return wrong('The ID of the advertiser must be a number; the ID of an entity is not accepted.', 'advertiserId')
  }
  const type = readConversionType(row, 'eventType')
  if ('wrong' in type) return type
  const read = readAll({
    eventSource: readSource(row),
    countryCode: readCountry(row, defaults.country),
    eventTime: readTime(row, 'eventTime'),
    matchKeys: readMatchKeys(row, 'userId'),
    value: readValue(row, 'eventValue', type.read),
    currency: readCurrency(row, 'currency'),
    unitsSold: readCount(row, 'unitsSold'),
    limited: readLimited(row),
    consent: readConsent(row, defaults),
    customData: readCustomData(row),
  })
  if ('wrong' in read) return read
  const { eventSource, currency, unitsSold, limited, ...values } = read.read
  const isPurchase = type.read === purchase
  const { countryCode, eventTime, matchKeys, value, consent, customData } = values
  const body = filled({
    eventDescription: filled({
      name: row.text('eventName') ?? type.read,
      conversionType: type.read,
      eventSource,
      eventIngestionMethod: row.text('eventAttributionSource')?.toUpperCase() ?? 'SERVER_TO_SERVER',
      dataSetName: defaults.dataSetName,
    }),
    countryCode,
    eventTime,
    matchKeys,
    value,
    // A currency and a number of items belong to purchases only.
    currencyCode: isPurchase ? currency : undefined,
    unitsSold: isPurchase ? unitsSold : undefined,
    eventId: dedupeIdOf(batch, row),
    dataProcessingOptions: limited ? { options: 'LIMITED_DATA_USE' } : undefined,
    consent,
    customData,
  })
  return { read: { advertiserId, body } }
}

const sources = new Set(['WEBSITE', 'ANDROID', 'IOS', 'FIRE_TV', 'OFFLINE', 'MEASUREMENT_ATTRIBUTION_PARTNER'])
const commonSources: Readonly<Record<string, string>> = {
  WEB: 'WEBSITE',
  STORE: 'OFFLINE',
  PHYSICAL_STORE: 'OFFLINE',
  CRM: 'OFFLINE',
}

/** Where the person was; on a website where nothing is said. */
function readSource(row: BatchRow): Read<string> {
  const text = row.text('eventSource')?.toUpperCase().replace(/[\s-]/g, '_') ?? 'WEBSITE'
  const source = commonSources[text] ?? text
  return sources.has(source)
    ? { read: source }
    : wrong(`Where the event happened must be one of ${[...sources].join(', ')}.`, 'eventSource')
}

/** What the person has consented to, in every form that Amazon takes; in Europe it needs one of them. */
function readConsent(row: BatchRow, defaults: DspEventDefaults): Read<JsonObject> {
  const read = readAll({
    amznAdStorage: readGrant(row, 'consentAdStorage', defaults.consentAdStorage),
    amznUserData: readGrant(row, 'consentUserData', defaults.consentUserData),
  })
  if ('wrong' in read) return read
  const { amznAdStorage, amznUserData } = read.read
  const consent = filled({
    geo: filled({ ipAddress: row.text('ipAddress') }),
    // Amazon wants the consent to use data in any case, and the one to store it where there is one.
    amazonConsent: amznUserData === undefined ? undefined : filled({ amznAdStorage, amznUserData }),
    tcf: row.text('tcf'),
    gpp: row.text('gpp'),
  })
  if (defaults.needsConsent && Object.keys(consent).length === 0) {
    const reason =
      'In Europe, Amazon requires the consent of the person: map a consent column or an IP address, or fill in the consent of the connection.'
    return wrong(reason, 'consentUserData')
  }
  return { read: consent }
}

const grants: Readonly<Record<string, string>> = {
  ...{ granted: 'GRANTED', grant: 'GRANTED', true: 'GRANTED', yes: 'GRANTED', 1: 'GRANTED' },
  ...{ denied: 'DENIED', deny: 'DENIED', false: 'DENIED', no: 'DENIED', 0: 'DENIED' },
}

/** Whether a person agreed. What is not known counts as nothing said, and leaves it to the connection. */
function readGrant(row: BatchRow, column: string, usual: string | undefined): Read<string | undefined> {
  const text = row.text(column)?.toLowerCase()
  if (text === undefined || /^(consent_)?(unknown|unspecified|not_applicable)$/.test(text)) return { read: usual }
  const grant = Object.hasOwn(grants, text) ? grants[text] : undefined
  return grant === undefined ? wrong('The consent must be GRANTED or DENIED.', column) : { read: grant }
}

/** Attributes of your own: an object of texts and numbers, of which Amazon takes 13. */
function readCustomData(row: BatchRow): Read<readonly JsonObject[] | undefined> {
  const read = readObject(row, 'customData')
  if ('wrong' in read) return read
  const entries = Object.entries(read.read).filter(([, value]) => value !== null && value !== '')
  if (entries.length > 13) return wrong('Amazon accepts at most 13 attributes of an event.', 'customData')
  const isTaken = ([name, value]: [string, unknown]) =>
    /^\w{1,100}$/.test(name) && ['string', 'number', 'boolean'].includes(typeof value)
  if (!entries.every(isTaken)) {
    return wrong('Names of attributes have letters, digits and underscores; values are texts or numbers.', 'customData')
  }
  const data = entries.map(([name, value]) => ({
    name,
    dataType: Number.isSafeInteger(value) ? 'INTEGER' : 'STRING',
    value: String(value),
  }))
  return { read: data.length > 0 ? data : undefined }
}
