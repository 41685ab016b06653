import { column, defineConnector, inspectBy, secret, text } from '@penstock/connector'
import { theTradeDesk } from './platform.ts'

const id = (description: string, synonyms: readonly string[]) =>
  column({ description, oneOf: 'identifier', normalise: 'text', synonyms })

/** Offline sales and visits of single users, for The Trade Desk. */
export const theTradeDeskOfflineConversions = defineConnector({
  slug: 'the-trade-desk-offline-conversions',
  name: 'The Trade Desk Offline Conversions',
  platform: theTradeDesk,
  dataType: 'raw offline conversion events',
  dataTypeCategory: 'events',
  description: 'Reports offline sales and visits to The Trade Desk, by user.',
  actions: ['add'],
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
  check: async (context) => (await import('./check-offline.ts')).checkOffline(context),
  destination: {
    deliver: {
      batch: () => ({ rowsMax: 1000, bytesMax: 1_000_000 }),
      open: async (context) => (await import('./deliver-offline.ts')).open(context),
      inspect: inspectBy(async (context) => (await import('./check-offline.ts')).sendNothing(context)),
    },
    fields: {
      advertiserId: text({
        label: 'Advertiser ID',
        description: 'ID of your advertiser at The Trade Desk',
        required: true,
      }),
      offlineDataProviderId: text({
        label: 'Offline data provider ID',
        description: 'ID of the offline data provider, the same as that of the tracking tag',
        required: true,
      }),
    },
    records: {
      DataProviderId: column({ description: 'The Trade Desk’s ID of the data provider', required: true }),
      TrackingTagId: column({
        description: 'ID of the tracking tag for offline events',
        required: true,
        synonyms: ['tracker_id'],
      }),
      TimestampUtc: column({
        description: 'When it happened, in UTC, in ISO 8601 form',
        required: true,
        synonyms: ['event_time', 'timestamp', 'occurred_at'],
      }),
      ImpressionId: column({
        description: 'GUID of the impression; needed if the row has no other identifier of the user',
        oneOf: 'identifier',
        synonyms: ['imp'],
      }),
      EventName: column({ description: 'Name of the event; needed for the catalogue of a merchant' }),
      Value: column({
        description: 'Value of the conversion',
        synonyms: ['conversion_value', 'revenue', 'amount'],
      }),
      ValueCurrency: column({ description: 'Currency of the value, as an ISO 4217 code', synonyms: ['currency'] }),
      Country: column({
        description: 'Country, as a three-letter code',
        normalise: 'country',
        oneOf: 'identifier',
      }),
      Region: column({ description: 'Region in the country; needed in the USA' }),
      OrderId: column({ description: 'ID of the order or transaction', synonyms: ['transaction_id'] }),
      TDID: id('The Trade Desk’s ID of the person', ['trade_desk_id', 'ttd_id']),
      DAID: column({
        description: 'Advertising ID of a device',
        oneOf: 'identifier',
        normalise: 'device-id',
        synonyms: ['maid', 'madid', 'mobile_advertiser_id', 'idfa', 'gaid', 'aaid'],
      }),
      UID2: id('Unified ID 2.0 of the person', ['unified_id', 'raw_uid2']),
      UID2Token: id('Token of a Unified ID 2.0', ['uid2_token', 'uid2_advertising_token']),
      RampID: id('RampID of LiveRamp, mapped for The Trade Desk', ['ramp_id', 'idl', 'liveramp_id']),
      EUID: id('European Unified ID of the person', ['raw_euid']),
      EUIDToken: id('Token of a European Unified ID', ['euid_token']),
      Metro: column({ description: 'Metropolitan area' }),
      City: column({ description: 'City' }),
      MerchantId: column({ description: 'ID of the merchant; needed for the catalogue of a merchant' }),
      LineItems: column({
        description: 'JSON list of the items bought, each with item_code, name, qty, price and cat',
        synonyms: ['items'],
      }),
      PrivacySettings: column({
        description:
          'JSON list of the consents of the person, each with privacy_type, is_applicable and consent_string',
      }),
      privacy_type: column({ description: 'Which privacy rules the consent string is for: GDPR, CCPA or GPP' }),
      privacy_applies: column({ description: 'Whether these rules apply to the person' }),
      consent_string: column({ description: 'Consent string of the person' }),
      TD1: column({ description: 'First custom field' }),
      TD2: column({ description: 'Second custom field' }),
      TD3: column({ description: 'Third custom field' }),
      TD4: column({ description: 'Fourth custom field' }),
      TD5: column({ description: 'Fifth custom field' }),
      TD6: column({ description: 'Sixth custom field' }),
      TD7: column({ description: 'Seventh custom field' }),
      TD8: column({ description: 'Eighth custom field' }),
      TD9: column({ description: 'Ninth custom field' }),
      TD10: column({ description: 'Tenth custom field' }),
    },
  },
})
