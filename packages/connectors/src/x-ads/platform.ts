import { definePlatform } from '@penstock/connector'

export const xAds = definePlatform({
  slug: 'x-ads',
  name: 'X Ads',
  type: 'Social Media Platform',
  icon: 'x',
  alsoCalled: ['twitter'],
})
