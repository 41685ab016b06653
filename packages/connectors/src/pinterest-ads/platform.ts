import { definePlatform } from '@penstock/connector'

export const pinterestAds = definePlatform({
  slug: 'pinterest-ads',
  name: 'Pinterest Ads',
  type: 'Social Media Platform',
  alsoCalled: ['pinterest'],
  icon: 'pinterest',
})
