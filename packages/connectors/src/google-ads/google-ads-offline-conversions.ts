import { googleSignIn } from '../google/sign-in.ts'
import { plain } from '../kit/columns.ts'
import { googleConversions } from './conversions.ts'

/** Sales in shops, for Google Ads. */
export const googleAdsOfflineConversions = googleConversions({
  slug: 'google-ads-offline-conversions',
  name: 'Google Ads Offline Conversions',
  dataType: 'offline conversions',
  description: 'Reports sales in shops to Google Ads as conversions.',
  notes:
    'Store sales need an account that Google has approved for them, and the ID of the shop in each row. Otherwise, report sales with a conversion action for imports from clicks.',
  secrets: googleSignIn('a user of the Google Ads account'),
  source: 'IN_STORE',
  settings: {},
  columns: {
    store_id: plain('eventLocation.storeId', 'ID of the shop in the Business Profile', {
      synonyms: ['shop_id', 'store'],
    }),
  },
})
