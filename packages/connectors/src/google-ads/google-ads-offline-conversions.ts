import { defineConnector } from '@penstock/connector'
import { googleAds } from './platform.ts'
import { signIn } from './sign-in.ts'

/** Sales in shops, for Google Ads. */
export const googleAdsOfflineConversions = defineConnector({
  slug: 'google-ads-offline-conversions',
  name: 'Google Ads Offline Conversions',
  platform: googleAds,
  dataType: 'offline conversions',
  dataTypeCategory: 'events',
  description: 'Reports sales that were made in shops to Google Ads as conversions.',
  secrets: signIn,
  destination: {},
})
