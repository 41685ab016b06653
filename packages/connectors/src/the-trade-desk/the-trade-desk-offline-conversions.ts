import { column, defineConnector, secret, text } from '@penstock/connector'
import { theTradeDesk } from './platform.ts'

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
    'Report a conversion one to three days after it happened; past 25 days The Trade Desk may drop it. Few calls with many rows are better than many calls with few.',
  secrets: {
    advertiserSecretKey: secret({
      label: 'Advertiser secret key',
      description: 'Secret key of the advertiser, with which uploads are signed',
      required: true,
    }),
  },
  destination: {
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
      TrackingTagId: column({ description: 'ID of the tracking tag for offline events', required: true }),
      TimestampUtc: column({ description: 'When it happened, in UTC, written as in ISO 8601', required: true }),
      ImpressionId: column({
        description: 'GUID of the impression; needed if the row identifies the user by nothing else',
      }),
      EventName: column({ description: 'Name of the event; needed with the catalogue of a merchant' }),
      Value: column({ description: 'What the conversion was worth' }),
      ValueCurrency: column({ description: 'Currency of the value, as an ISO 4217 code' }),
      Country: column({ description: 'Country, as a code of three letters' }),
      Region: column({ description: 'Region in the country; needed in the USA' }),
      OrderId: column({ description: 'ID of the order or transaction' }),
    },
  },
})
