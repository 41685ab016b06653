import { defineConnector } from '@penstock/connector'
import { googleAds } from './platform.ts'
import { signIn } from './sign-in.ts'

/** Conversions that followed a click on an ad. */
export const googleAdsClickConversions = defineConnector({
  slug: 'google-ads-click-conversions',
  name: 'Google Ads Click Conversions',
  platform: googleAds,
  dataType: 'click conversions',
  dataTypeCategory: 'events',
  description: 'Reports conversions to Google Ads together with the ad click that each of them goes back to.',
  secrets: signIn,
  destination: {},
})
