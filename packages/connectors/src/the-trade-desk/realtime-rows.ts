import type { JsonObject } from '../platform-api/json.ts'
import type { BatchRow } from '../platform-api/rows/batch-rows.ts'
import { filled, readAll, readCurrency, readNumber, textsOf } from '../platform-api/rows/event-values.ts'
import { type Read, readObject, wrong } from '../platform-api/rows/events.ts'
import { readItems, readPrivacy } from './conversion-values.ts'

/** What the connection says for rows that do not say it themselves. */
export type RealTimeSettings = { readonly [Key in 'adv' | 'merchant_id' | 'tracker_id' | 'upixel_id']?: string }

/** The kinds of IDs as The Trade Desk spells them, and other names of them. */
const adidTypes: Readonly<Record<string, string>> = {
  ...{ tdid: 'TDID', idfa: 'IDFA', aaid: 'AAID', gaid: 'AAID', daid: 'DAID', maid: 'DAID', naid: 'NAID' },
  ...{ idl: 'IDL', rampid: 'IDL', euid: 'EUID', uid2: 'UID2' },
}
const texts = [
  ...['event_name', 'client_ip', 'referrer_url', 'imp', 'order_id', 'country', 'region', 'metro', 'city', 'zip'],
  ...Array.from({ length: 10 }, (_, n) => `td${n + 1}`),
]
const own = Object.fromEntries(texts.map((name) => [name, name]))

/** Makes an event of a row, or says why The Trade Desk would not take it. */
export function realTimeEventOf(row: BatchRow, settings: RealTimeSettings): Read<JsonObject> {
  const ids = {
    ...settings,
    ...textsOf(row, { adv: 'adv', merchant_id: 'merchant_id', tracker_id: 'tracker_id', upixel_id: 'upixel_id' }),
  }
  const name = row.text('event_name')
  if (ids.tracker_id === undefined && ids.upixel_id === undefined) {
    return wrong('The event needs the ID of a tracking tag, or of a universal pixel.', 'tracker_id')
  }
  if (ids.adv === undefined && ids.merchant_id === undefined) {
    return wrong('The event needs the ID of the advertiser or of the merchant.', 'adv')
  }
  if (ids.upixel_id === undefined && name === undefined) return wrong('The name of the event is missing.', 'event_name')
  const read = readAll({
    adid: readAdid(row),
    value: readNumber(row, 'value'),
    currency: readCurrency(row, 'currency'),
    items: readItems(row, 'items'),
    privacy_settings: readPrivacy(row, 'privacy_settings'),
    data_processing_option: readOption(row),
  })
  if ('wrong' in read) return read
  const { adid, ...values } = read.read
  return { read: filled({ ...ids, ...textsOf(row, own), ...adid, ...values }) }
}

function readAdid(row: BatchRow): Read<{ adid?: string; adid_type?: string }> {
  const adid = row.text('adid')
  const kind = row.text('adid_type')
  if (adid === undefined) return { read: {} }
  if (kind === undefined) return wrong('The kind of the ID is missing.', 'adid_type')
  const type = adidTypes[kind.toLowerCase().replace(/[\s_-]/g, '')]
  if (type !== undefined) return { read: { adid, adid_type: type } }
  return wrong('The kind of the ID must be TDID, IDFA, AAID, DAID, NAID, RampID, EUID or UID2.', 'adid_type')
}

/** Limited data use: an object of The Trade Desk, or `LDU` with the state in a column of its own. */
function readOption(row: BatchRow): Read<JsonObject | undefined> {
  const text = row.text('data_processing_option')
  if (text === undefined) return { read: undefined }
  if (/^LDU$/i.test(text)) return { read: filled({ policies: ['LDU'], region: row.text('data_processing_region') }) }
  return readObject(row, 'data_processing_option')
}
