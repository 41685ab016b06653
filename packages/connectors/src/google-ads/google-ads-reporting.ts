import { defineConnector } from '@penstock/connector'
import { googleAds } from './platform.ts'
import { signIn } from './sign-in.ts'

/** Performance figures of Google Ads. */
export const googleAdsReporting = defineConnector({
  slug: 'google-ads-reporting',
  name: 'Google Ads Reporting',
  platform: googleAds,
  dataType: 'reporting',
  dataTypeCategory: 'reporting',
  description: 'Reads the performance of the ads of an account through the Google Ads API.',
  secrets: signIn,
  source: {},
})
