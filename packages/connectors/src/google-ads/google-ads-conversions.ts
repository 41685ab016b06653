import { defineConnector } from '@penstock/connector'
import { googleAds } from './platform.ts'

/** Conversions of any kind, for Google Ads. */
export const googleAdsConversions = defineConnector({
  slug: 'google-ads-conversions',
  name: 'Google Ads Conversions',
  platform: googleAds,
  dataType: 'Conversions',
  dataTypeCategory: 'events',
  description: 'Reports conversions to a Google Ads account.',
  secrets: {},
  destination: {},
})
