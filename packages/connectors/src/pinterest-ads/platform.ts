import { definePlatform } from '@penstock/connector'

export const pinterestAds = definePlatform({
  slug: 'pinterest-ads',
  name: 'Pinterest Ads',
  type: 'Social Media Platform',
  prepare: [
    'A Pinterest user with the permission Admin or Campaign manager for the ad account: Business access.',
    'The ad account ID: Ads Manager › account menu.',
  ],
  alsoCalled: ['pinterest'],
  icon: 'pinterest',
})
