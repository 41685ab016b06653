import { definePlatform } from '@penstock/connector'

export const linkedinAds = definePlatform({
  slug: 'linkedin-ads',
  name: 'LinkedIn Ads',
  type: 'Social Media Platform',
  alsoCalled: ['linkedin', 'linked in'],
})
