import { defineConnector } from '@penstock/connector'
import { googleSignIn } from '../google/sign-in.ts'
import { googleAds } from './platform.ts'

/** Performance figures of Google Ads. */
export const googleAdsReporting = defineConnector({
  slug: 'google-ads-reporting',
  name: 'Google Ads Reporting',
  platform: googleAds,
  dataType: 'reporting',
  dataTypeCategory: 'reporting',
  description: 'Reads the performance of the ads of an account through the Google Ads API.',
  secrets: googleSignIn('a user of the Google Ads account'),
  source: {},
})
