import { definePlatform } from '@penstock/connector'

export const redditAds = definePlatform({
  slug: 'reddit-ads',
  name: 'Reddit Ads',
  type: 'Social Media Platform',
  prepare: [
    'A Reddit user with access to the ad account: Reddit Ads › Account administration.',
    'The account ID: begins with `t2_` or `a2_`, in the address of Reddit Ads.',
  ],
  alsoCalled: ['reddit'],
  icon: 'reddit',
})
