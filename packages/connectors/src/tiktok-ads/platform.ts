import { definePlatform } from '@penstock/connector'

export const tiktokAds = definePlatform({
  slug: 'tiktok-ads',
  name: 'TikTok Ads',
  type: 'Social Media Platform',
  prepare: [
    'A TikTok for Business user with the role Operator or higher of the ad account: Business Center › Users.',
    'A long-term access token of an approved app: TikTok API for Business › My apps.',
    'The advertiser ID: the number below the name of the account in TikTok Ads Manager. For events, the pixel code: Events Manager.',
  ],
  alsoCalled: ['tiktok', 'tik tok'],
  icon: 'tiktok',
})
