import { secret, text } from '@penstock/connector'
import { idSetting, restApi } from '../kit/api.ts'
import { currency, objects, oneOf, plain, time } from '../kit/columns.ts'
import { eventDestination } from '../kit/event-destination.ts'
import { isObject, objectIn } from '../platform-api/json.ts'
import { consentColumns, consentsOf } from './conversion-columns.ts'
import { threeLetters } from './country-codes.ts'
import { offlineEcapi } from './ecapi.ts'
import { itemNumberOf, linesIn, reasonOf } from './failed-lines.ts'
import { theTradeDesk } from './platform.ts'
import { apiToken, signatureOf } from './signature.ts'
import { idColumn } from './user-ids.ts'

/** Codes of lines, in sentences. */
const reasons: Readonly<Record<string, string>> = {
  MissingOrInvalidTDIDAndImpressionId: 'The Trade Desk finds no identifier of a person or an impression in it',
  MissingOrInvalidTrackingTagId: 'The Trade Desk does not know the tracking tag',
  InvalidMerchantId: 'The Trade Desk does not know the merchant',
  InvalidTimestamp: 'The Trade Desk does not accept the time of the conversion',
  InvalidUserIdTypeOrUserId: 'The Trade Desk does not accept the identifier',
  Unauthorized: 'The Trade Desk does not let this provider report conversions of the tracking tag',
  ChinaPII: 'The Trade Desk takes no personal data from China',
  Uid2Error: 'The Trade Desk cannot use the UID2 or EUID; people may have opted out',
}

const other = 'The Trade Desk did not accept the conversion'

const api = restApi({
  name: 'The Trade Desk',
  baseUrl: 'https://offlineattrib.adsrvr.org',
  errors: {
    // Refusals are plain text or JSON of several shapes. The status is enough.
    statuses: {
      400: 'invalid_batch',
      401: ['invalid_credentials', 'Check the advertiser secret key, and the API token if there is one.'],
      403: [
        'permission_denied',
        'Check the data provider ID, and ask The Trade Desk whether the provider may send offline conversions.',
      ],
      404: ['object_not_found', 'Ask The Trade Desk whether it accepts offline conversions of this provider.'],
    },
  },
})

/** Offline sales and visits of single users, for The Trade Desk. */
export const theTradeDeskOfflineConversions = eventDestination({
  slug: 'the-trade-desk-offline-conversions',
  name: 'The Trade Desk Offline Conversions',
  platform: theTradeDesk,
  dataType: 'raw offline conversion events',
  description: 'Reports offline sales and visits to The Trade Desk, by user.',
  notes:
    'Report a conversion one to three days after it happened; The Trade Desk may drop it after 25 days. Few calls with many rows are better than many calls with few rows. A row identifies the person by an identifier of The Trade Desk, a device, UID2, EUID or RampID, or by the impression. E-mail addresses and phone numbers are not accepted: map them to UID2 or EUID first. The Advertiser ID is for your own records, since the tracking tag determines the advertiser. A batch that is sent again after a crash may count twice if its rows have no OrderId. You need the consent of the people.',
  tested:
    'Our own test server, which follows the document that is published of The Trade Desk’s Data API; not The Trade Desk itself.',
  api: { version: 'Data API v0.1 (POST /providerapi/offlineconversion)', ends: 'no end is announced' },
  secrets: {
    advertiserSecretKey: secret({
      label: 'Advertiser secret key',
      description: 'Secret key of the advertiser, used to sign uploads',
      required: true,
    }),
    apiToken: secret({
      label: 'API token',
      description: 'Token from The Trade Desk that is sent with the signature; leave it empty if you have none',
    }),
  },
  platformApi: api,
  auth: apiToken,
  settings: {
    advertiserId: text({
      asked: true,
      label: 'Advertiser ID',
      description: 'ID of your advertiser at The Trade Desk',
      required: true,
    }),
    offlineDataProviderId: idSetting({
      label: 'Offline data provider ID',
      description: 'ID of the offline data provider, the same as for the tracking tag',
      required: true,
      pattern: /\S/,
      example: 'acme-provider',
    }),
  },
  batch: { rowsMax: 1000, bytesMax: 1_000_000 },
  // Each row names its provider.
  targets: { at: '@provider', field: 'DataProviderId' },
  request: (events, { id: provider, settings, secrets }) => {
    const DataProviderId = provider ?? String(settings.offlineDataProviderId).trim()
    const body = JSON.stringify({ DataProviderId, Items: events })
    return {
      path: '/providerapi/offlineconversion',
      headers: { ttdsignature: signatureOf(body, secrets.advertiserSecretKey) },
      body,
    }
  },
  answer: {
    refuses: [400],
    refusal: 'The Trade Desk does not accept the conversion',
    results: ({ status, json, text: content }, sent) => {
      const lines = linesIn(json)
      // If all is taken, the answer can be empty.
      const hasResult = status === 400 ? lines.length > 0 : status < 300 && (isObject(json) || content.trim() === '')
      if (!hasResult) return undefined
      return sent.map((_, place) => {
        const line = lines.find((one) => itemNumberOf(one) === place + 1)
        return line && reasonOf(line, reasons, other)
      })
    },
    unnamed: ({ json }, sent) =>
      linesIn(json)
        .filter((line) => !(itemNumberOf(line) >= 1 && itemNumberOf(line) <= sent.length))
        .map((line) => reasonOf(line, reasons, other)),
  },
  // Of a signed request without a conversion, nothing is recorded: the signature is looked at before conversions are missed.
  probe: {
    names: 'data provider',
    credentials: 'advertiser secret key',
    stranger: { offlineDataProviderId: '0' },
  },
  ecapi: offlineEcapi,
  columns: {
    DataProviderId: plain('@provider', 'The Trade Desk’s ID of the data provider', { required: true }),
    TrackingTagId: plain('TrackingTagId', 'ID of the tracking tag for offline events', {
      required: true,
      synonyms: ['tracker_id'],
      addresses: true,
    }),
    TimestampUtc: time('TimestampUtc', 'When it happened, in UTC, in ISO 8601 form', {
      unit: 'utc',
      synonyms: ['event_time', 'timestamp', 'occurred_at'],
    }),
    ImpressionId: plain(
      'ImpressionId',
      'GUID of the impression; needed if the row has no other identifier of the user',
      {
        pattern: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
        wanted: 'The value is not an ID of the form 8-4-4-4-12.',
        identifies: true,
        synonyms: ['imp'],
      },
    ),
    EventName: plain('EventName', 'Name of the event; needed for the catalogue of a merchant'),
    // Sent unchanged, so that no digit is lost.
    Value: plain('Value', 'Value of the conversion', {
      pattern: /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,2})?$/i,
      wanted: 'The value must be a number with a point: 12.50.',
      synonyms: ['conversion_value', 'revenue', 'amount'],
    }),
    ValueCurrency: currency('ValueCurrency', 'Currency of the value, as an ISO 4217 code', {
      synonyms: ['currency'],
    }),
    Country: oneOf('Country', 'Country, as a three-letter code', {
      values: threeLetters,
      wanted: 'a code of ISO 3166, such as USA',
      normalise: 'country',
      oneOf: 'identifier',
    }),
    Region: plain('Region', 'Region in the country; needed in the USA'),
    OrderId: plain('OrderId', 'ID of the order or transaction', { synonyms: ['transaction_id'] }),
    TDID: idColumn('@ids', 'TDID'),
    DAID: idColumn('@ids', 'DAID'),
    UID2: idColumn('@ids', 'UID2'),
    UID2Token: idColumn('@ids', 'UID2Token'),
    RampID: idColumn('@ids', 'RampID'),
    EUID: idColumn('@ids', 'EUID'),
    EUIDToken: idColumn('@ids', 'EUIDToken'),
    Metro: plain('Metro', 'Metropolitan area'),
    City: plain('City', 'City'),
    MerchantId: plain('MerchantId', 'ID of the merchant; needed for the catalogue of a merchant', {
      addresses: true,
    }),
    // Numbers of products are texts there.
    LineItems: objects('LineItems', 'JSON list of the items bought, each with item_code, name, qty, price and cat', {
      keys: { item_code: 'text', name: 'text', qty: 'text', price: 'text', cat: 'text' },
      items: { id: 'item_code', name: 'name', price: 'price', quantity: 'qty', category: 'cat' },
      strict: true,
      synonyms: ['items'],
    }),
    PrivacySettings: objects(
      'PrivacySettings',
      'JSON list of the consents of the person, each with privacy_type, is_applicable and consent_string',
    ),
    ...consentColumns,
    TD1: plain('TD1', 'First custom field'),
    TD2: plain('TD2', 'Second custom field'),
    TD3: plain('TD3', 'Third custom field'),
    TD4: plain('TD4', 'Fourth custom field'),
    TD5: plain('TD5', 'Fifth custom field'),
    TD6: plain('TD6', 'Sixth custom field'),
    TD7: plain('TD7', 'Seventh custom field'),
    TD8: plain('TD8', 'Eighth custom field'),
    TD9: plain('TD9', 'Ninth custom field'),
    TD10: plain('TD10', 'Tenth custom field'),
  },
  person: {
    anyOf: ['@ids', 'ImpressionId'],
    missing: 'The row has no identifier of the person or the impression.',
    field: 'ImpressionId',
  },
  needs: [{ at: 'Country', is: ['usa'], paths: ['Region'], missing: 'In the USA, the region is required.' }],
  // A single identifier is in a separate field, several are in a list.
  finish: (event) => {
    const ids = Object.entries(objectIn(event['@ids']))
    return {
      read: {
        ...event,
        ...(ids.length > 1 ? { UserIdArray: ids } : Object.fromEntries(ids)),
        TimestampUtc: String(event.TimestampUtc).replace(/\.\d+Z$/, 'Z'),
        PrivacySettings: consentsOf(event, event.PrivacySettings),
      },
    }
  },
})
