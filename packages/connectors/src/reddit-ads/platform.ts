import { definePlatform } from '@penstock/connector'

export const redditAds = definePlatform({
  slug: 'reddit-ads',
  name: 'Reddit Ads',
  type: 'Social Media Platform',
  alsoCalled: ['reddit'],
  icon: 'reddit',
})
