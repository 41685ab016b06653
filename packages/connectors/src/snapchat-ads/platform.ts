import { definePlatform } from '@penstock/connector'

export const snapchatAds = definePlatform({
  slug: 'snapchat-ads',
  name: 'Snapchat Ads',
  type: 'Social Media Platform',
  prepare: [
    'A Snapchat user with the role Account admin or Data manager for the ad account: Business Manager › Ad accounts › Members.',
    'The ad account ID: Business Manager › Ad accounts › Account details. For conversions, the Pixel ID or Snap App ID: Events Manager.',
  ],
  icon: 'snapchat',
  alsoCalled: ['snap'],
})
