import { definePlatform } from '@penstock/connector'

export const linkedinAds = definePlatform({
  slug: 'linkedin-ads',
  name: 'LinkedIn Ads',
  type: 'Social Media Platform',
  prepare: [
    'A LinkedIn member with the role Campaign manager or higher of the ad account: Campaign Manager › Account settings › Manage access.',
    'The ad account ID: the number next to the name of the account in Campaign Manager.',
  ],
  alsoCalled: ['linkedin', 'linked in'],
})
