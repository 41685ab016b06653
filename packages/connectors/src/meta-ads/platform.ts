import { definePlatform } from '@penstock/connector'

export const metaAds = definePlatform({
  slug: 'meta-ads',
  name: 'Meta Ads',
  type: 'Social Media Platform',
  icon: 'meta',
  alsoCalled: ['facebook', 'instagram', 'fb'],
})
