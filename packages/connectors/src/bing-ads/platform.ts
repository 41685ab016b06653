import { definePlatform } from '@penstock/connector'

export const bingAds = definePlatform({
  slug: 'bing-ads',
  name: 'Bing Ads',
  type: 'Demand-Side Platform (DSP)',
  alsoCalled: ['microsoft'],
})
