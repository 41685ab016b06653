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
  description: 'Reports sales and visits away from the web to The Trade Desk, user by user.',
  actions: ['add'],
  notes:
    'Report a conversion one to three days after it happened; past 25 days The Trade Desk may drop it. Few calls with many rows are better than many calls with few. A row names the person by an identifier of The Trade Desk, a device, UID2, EUID or RampID, or the impression; e-mail addresses and phone numbers never go there: map them to UID2 or EUID first. The Advertiser ID is for your own records, since the tracking tag says whose conversion it is. A batch that is sent again after a crash may count twice where its rows have no OrderId. You need the consent of the people.',
  tested:
    'Our own test server, which follows the document that is published of The Trade Desk’s Data API; not The Trade Desk itself.',
  api: { version: 'Data API v0.1 (POST /providerapi/offlineconversion)', ends: 'no end is announced' },
  secrets: {
    advertiserSecretKey: secret({
      label: 'Advertiser secret key',
      description: 'Secret key of the advertiser, with which uploads are signed',
      required: true,
    }),
    apiToken: secret({
      label: 'API token',
      description: 'Token from The Trade Desk that is sent beside the signature; leave it out where it gave you none',
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
      DataProviderId: column({ description: 'ID that The Trade Desk gave the data provider', required: true }),
      TrackingTagId: column({
        description: 'ID of the tracking tag for offline events',
        required: true,
        synonyms: ['tracker_id'],
      }),
      TimestampUtc: column({
        description: 'When it happened, in UTC, written as in ISO 8601',
        required: true,
        synonyms: ['event_time', 'timestamp', 'occurred_at'],
      }),
      ImpressionId: column({
        description: 'GUID of the impression; needed if the row identifies the user by nothing else',
        oneOf: 'identifier',
        synonyms: ['imp'],
      }),
      EventName: column({ description: 'Name of the event; needed with the catalogue of a merchant' }),
      Value: column({
        description: 'What the conversion was worth',
        synonyms: ['conversion_value', 'revenue', 'amount'],
      }),
      ValueCurrency: column({ description: 'Currency of the value, as an ISO 4217 code', synonyms: ['currency'] }),
      Country: column({
        description: 'Country, as a code of three letters',
        normalise: 'country',
        oneOf: 'identifier',
      }),
      Region: column({ description: 'Region in the country; needed in the USA' }),
      OrderId: column({ description: 'ID of the order or transaction', synonyms: ['transaction_id'] }),
      TDID: id('ID that The Trade Desk gave the person', ['trade_desk_id', 'ttd_id']),
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
      MerchantId: column({ description: 'ID of the merchant; needed with the catalogue of a merchant' }),
      LineItems: column({
        description: 'JSON list of what was bought, each with item_code, name, qty, price and cat',
        synonyms: ['items'],
      }),
      PrivacySettings: column({
        description:
          'JSON list of what the person consented to, each with privacy_type, is_applicable and consent_string',
      }),
      privacy_type: column({ description: 'Which rules the consent string is of: GDPR, CCPA or GPP' }),
      privacy_applies: column({ description: 'Whether these rules apply to the person' }),
      consent_string: column({ description: 'Consent string of the person' }),
      TD1: column({ description: 'First field of your own' }),
      TD2: column({ description: 'Second field of your own' }),
      TD3: column({ description: 'Third field of your own' }),
      TD4: column({ description: 'Fourth field of your own' }),
      TD5: column({ description: 'Fifth field of your own' }),
      TD6: column({ description: 'Sixth field of your own' }),
      TD7: column({ description: 'Seventh field of your own' }),
      TD8: column({ description: 'Eighth field of your own' }),
      TD9: column({ description: 'Ninth field of your own' }),
      TD10: column({ description: 'Tenth field of your own' }),
    },
  },
})
