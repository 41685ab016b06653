import { definePlatform } from '@penstock/connector'

export const appleAds = definePlatform({
  slug: 'apple-ads',
  name: 'Apple Ads',
  type: 'Demand-Side Platform (DSP)',
  icon: 'apple',
  alsoCalled: ['apple search ads', 'asa', 'app store'],
})
