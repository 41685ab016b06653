import { defineConnector } from '@penstock/connector'
import { pinterestAds } from './platform.ts'
import { signIn } from './sign-in.ts'

/** Result figures of Pinterest's campaigns. */
export const pinterestAdsAnalytics = defineConnector({
  slug: 'pinterest-ads-analytics',
  name: 'Pinterest Ads Analytics',
  platform: pinterestAds,
  dataType: 'ads analytics',
  dataTypeCategory: 'reporting',
  description: 'Reads how your campaigns on Pinterest performed.',
  secrets: signIn,
  source: {},
})
