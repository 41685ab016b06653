import { column, defineConnector } from '@penstock/connector'
import { dataManagerAuthorization } from '../google/authorization.ts'
import { dataManagerApi } from './api-version.ts'
import { conversionColumns, conversionFields, conversionNotes, conversionsTested } from './conversion-fields.ts'
import { googleAds } from './platform.ts'
import { signIn } from './sign-in.ts'

/** Sales in shops, for Google Ads. */
export const googleAdsOfflineConversions = defineConnector({
  slug: 'google-ads-offline-conversions',
  name: 'Google Ads Offline Conversions',
  platform: googleAds,
  dataType: 'offline conversions',
  dataTypeCategory: 'events',
  description: 'Reports sales in shops to Google Ads as conversions.',
  notes: `${conversionNotes} Store sales need an account that Google has approved for them, and the ID of the shop in each row. Otherwise, report sales with a conversion action for imports from clicks.`,
  tested: conversionsTested,
  api: dataManagerApi,
  secrets: signIn,
  authorization: dataManagerAuthorization,
  check: async (context) => {
    const { checkConversions } = await import('./check-data-manager.ts')
    return checkConversions((await import('./conversion-plans.ts')).storeConversions)(context)
  },
  destination: {
    deliver: {
      batch: () => ({ rowsMax: 2_000, bytesMax: 4_000_000 }),
      open: async (context) => {
        const { openConversions } = await import('./deliver-conversions.ts')
        return openConversions(context, (await import('./conversion-plans.ts')).storeConversions(context))
      },
    },
    fields: conversionFields,
    records: {
      ...conversionColumns,
      store_id: column({
        description: 'ID of the shop in the Business Profile',
        synonyms: ['shop_id', 'store'],
      }),
    },
  },
})
