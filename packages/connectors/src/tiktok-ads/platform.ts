import { definePlatform } from '@penstock/connector'

export const tiktokAds = definePlatform({
  slug: 'tiktok-ads',
  name: 'TikTok Ads',
  type: 'Social Media Platform',
  alsoCalled: ['tiktok', 'tik tok'],
  icon: 'tiktok',
})
