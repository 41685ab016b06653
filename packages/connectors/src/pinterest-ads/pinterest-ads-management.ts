import { defineConnector } from '@penstock/connector'
import { pinterestAds } from './platform.ts'
import { signIn } from './sign-in.ts'

/** How campaigns on Pinterest are set up. */
export const pinterestAdsManagement = defineConnector({
  slug: 'pinterest-ads-management',
  name: 'Pinterest Ads Management',
  platform: pinterestAds,
  dataType: 'ads management',
  dataTypeCategory: 'campaign management',
  description: 'Reads how your campaigns on Pinterest are set up.',
  secrets: signIn,
  source: {},
})
