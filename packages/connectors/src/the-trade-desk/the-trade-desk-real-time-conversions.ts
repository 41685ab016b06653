import { text } from '@penstock/connector'
import { restApi } from '../kit/api.ts'
import { currency, decimal, objects, oneOf, plain, special } from '../kit/columns.ts'
import { eventDestination } from '../kit/event-destination.ts'
import { isObject, listIn, numberIn, objectIn, parseJson } from '../platform-api/json.ts'
import type { BatchRow } from '../platform-api/rows/batch-rows.ts'
import { consentColumns, consentsOf } from './conversion-columns.ts'
import { developerPortal } from './developer-portal.ts'
import { realTimeEcapi } from './ecapi.ts'
import { codeOf } from './failed-lines.ts'
import { theTradeDesk } from './platform.ts'

/** The kinds of IDs as The Trade Desk spells them, and other names of them. */
const adidTypes = {
  tdid: 'TDID',
  idfa: 'IDFA',
  aaid: 'AAID',
  gaid: 'AAID',
  daid: 'DAID',
  maid: 'DAID',
  naid: 'NAID',
  idl: 'IDL',
  rampid: 'IDL',
  ramp_id: 'IDL',
  'ramp-id': 'IDL',
  'ramp id': 'IDL',
  euid: 'EUID',
  uid2: 'UID2',
  uid_2: 'UID2',
  'uid-2': 'UID2',
  'uid 2': 'UID2',
}

const api = restApi({
  name: 'The Trade Desk',
  baseUrl: 'https://insight.adsrvr.org',
  errors: { statuses: { 400: 'invalid_batch' } },
})

/** Conversions for The Trade Desk as they happen. */
export const theTradeDeskRealTimeConversions = eventDestination({
  slug: 'the-trade-desk-real-time-conversions',
  name: 'The Trade Desk Real-Time Conversion Events',
  platform: theTradeDesk,
  dataType: 'raw real-time conversion events',
  description: 'Reports conversions to The Trade Desk as they happen, for retargeting and attribution.',
  notes:
    'Use a token that is valid for at least six months. An event needs the advertiser or the merchant, and a tracking tag or a universal pixel, from its row or from the connection. The Trade Desk does not accept the time of an event, so send events as they happen. It cannot recognise a repeated event: after a crash, the batch that was being sent may count twice if its events have no order_id. E-mail addresses and phone numbers are not accepted: map them to UID2 or EUID first. You need the consent of the people.',
  tested:
    'Our own test server, which follows what others have published about The Trade Desk’s real-time conversion events and its answers; not The Trade Desk itself.',
  api: { version: 'Real-time conversion events (without a version)', ends: 'no end is announced' },
  secrets: developerPortal,
  platformApi: api,
  auth: { header: 'ttd-auth', secret: 'apiToken' },
  settings: {
    advertiserId: text({
      asked: true,
      label: 'Advertiser ID',
      description: 'ID of the advertiser at The Trade Desk, for rows without one',
    }),
    merchantId: text({ asked: true, label: 'Merchant ID', description: 'ID of the merchant, for rows without one' }),
    trackingTagId: text({
      asked: true,
      label: 'Tracking tag ID',
      description: 'ID of the tracking tag, for rows without one',
    }),
    universalPixelId: text({
      asked: true,
      label: 'Universal pixel ID',
      description: 'ID of the universal pixel, for page views that are mapped by their URL',
    }),
  },
  batch: { rowsMax: 100, bytesMax: 500_000 },
  request: (events) => ({ path: '/track/realtimeconversion', body: { data: events } }),
  answer: {
    refuses: [400],
    refusal: 'The Trade Desk does not accept the event',
    blames: ({ json }) => new Map(blamedIn(json)),
    results: ({ status, json }, sent) => {
      if (status >= 300 || !isObject(json)) return undefined
      const blamed = new Map(blamedIn(json))
      return sent.map((_, place) => blamed.get(place))
    },
  },
  // The API accepts conversions by their IDs, and has no other request that a check could send.
  probe: null,
  ecapi: realTimeEcapi,
  columns: {
    merchant_id: plain('merchant_id', 'ID of the merchant', { setting: 'merchantId', addresses: true }),
    tracker_id: plain('tracker_id', 'ID of the tracking tag', {
      setting: 'trackingTagId',
      synonyms: ['tracking_tag_id'],
      addresses: true,
    }),
    adv: plain('adv', 'ID of the advertiser', {
      setting: 'advertiserId',
      synonyms: ['advertiser_id'],
      addresses: true,
    }),
    value: decimal('value', 'Value of the conversion', { synonyms: ['conversion_value', 'revenue', 'amount'] }),
    currency: currency('currency', 'Currency of the value, as a code', { synonyms: ['currency_code'] }),
    event_name: plain('event_name', 'Name of the event', { synonyms: ['event'] }),
    client_ip: plain('client_ip', 'IP address of the visitor', {
      synonyms: ['ip', 'ip_address', 'client_ip_address'],
    }),
    referrer_url: plain('referrer_url', 'URL of the page from which the visitor came', {
      synonyms: ['referrer', 'page_url', 'event_source_url', 'url'],
    }),
    adid: plain('adid', 'ID of the user or the device'),
    adid_type: oneOf('adid_type', 'What kind of ID adid is: TDID, RampID, mobile advertising ID, UID2 or EUID', {
      values: adidTypes,
      wanted: 'TDID, IDFA, AAID, DAID, NAID, RampID, EUID or UID2',
      with: 'adid',
      missing: 'The kind of the ID is missing.',
    }),
    imp: plain('imp', 'GUID of the impression'),
    order_id: plain('order_id', 'ID of the order', { synonyms: ['transaction_id'] }),
    items: objects('items', 'List of the items bought, each with item_code, name, qty, price and cat', {
      keys: { item_code: 'text', name: 'text', qty: 'number', price: 'number', cat: 'text' },
      items: { id: 'item_code', name: 'name', price: 'price', quantity: 'qty', category: 'cat' },
      strict: true,
    }),
    td1: plain('td1', 'First custom field'),
    td2: plain('td2', 'Second custom field'),
    td3: plain('td3', 'Third custom field'),
    td4: plain('td4', 'Fourth custom field'),
    td5: plain('td5', 'Fifth custom field'),
    td6: plain('td6', 'Sixth custom field'),
    td7: plain('td7', 'Seventh custom field'),
    td8: plain('td8', 'Eighth custom field'),
    td9: plain('td9', 'Ninth custom field'),
    td10: plain('td10', 'Tenth custom field'),
    data_processing_option: special('Privacy rules that apply to the event, and its region'),
    data_processing_region: special('State for limited data use, where the option is LDU: US-CA'),
    upixel_id: plain('upixel_id', 'ID of the universal pixel', {
      setting: 'universalPixelId',
      synonyms: ['universal_pixel_id'],
      addresses: true,
    }),
    country: plain('country', 'Country of the visitor'),
    region: plain('region', 'Region or state of the visitor', { synonyms: ['state'] }),
    metro: plain('metro', 'Metropolitan area of the visitor'),
    city: plain('city', 'City of the visitor'),
    zip: plain('zip', 'Postal code of the visitor', { synonyms: ['postal_code', 'zip_code'] }),
    privacy_settings: objects(
      'privacy_settings',
      'JSON list of the consents of the person, each with privacy_type, is_applicable and consent_string',
    ),
    ...consentColumns,
  },
  finish: (event, row) => {
    const lacks = (...keys: string[]) => keys.every((key) => event[key] === undefined)
    if (lacks('tracker_id', 'upixel_id')) {
      return { wrong: 'The event needs the ID of a tracking tag, or of a universal pixel.', field: 'tracker_id' }
    }
    if (lacks('adv', 'merchant_id')) {
      return { wrong: 'The event needs the ID of the advertiser or of the merchant.', field: 'adv' }
    }
    if (lacks('event_name', 'upixel_id')) return { wrong: 'The name of the event is missing.', field: 'event_name' }
    const option = optionIn(row)
    if (option === null) return { wrong: 'The value is not a JSON object.', field: 'data_processing_option' }
    const privacy = consentsOf(event, event.privacy_settings)
    return { read: { ...event, privacy_settings: privacy, data_processing_option: option } }
  },
})

/** Limited data use: an object of The Trade Desk, or `LDU` with the state in a separate column. `null` for anything else. */
function optionIn(row: BatchRow): unknown {
  const text = row.text('data_processing_option')
  if (text === undefined) return undefined
  if (/^LDU$/i.test(text)) return { policies: ['LDU'], region: row.text('data_processing_region') }
  const option = parseJson(text)
  return isObject(option) ? option : null
}

/** The events that an answer names by their places, from 0, and why they were not taken. */
function blamedIn(json: unknown): [place: number, reason: string][] {
  return listIn(objectIn(json).EventResponses)
    .map(objectIn)
    .flatMap(({ EventIndex, Successful, EventErrors }): [number, string][] => {
      if (Successful !== false) return []
      const codes = listIn(EventErrors).map((error) => codeOf(objectIn(error).Error))
      const shown = codes.slice(0, 5).join(', ') || 'Unknown'
      return [[numberIn(EventIndex) ?? -1, `The Trade Desk did not accept the event (${shown}).`]]
    })
}
