import { definePlatform } from '@penstock/connector'

export const snapchatAds = definePlatform({
  slug: 'snapchat-ads',
  name: 'Snapchat Ads',
  type: 'Social Media Platform',
  icon: 'snapchat',
  alsoCalled: ['snap'],
})
