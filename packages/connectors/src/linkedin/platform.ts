import { definePlatform } from '@penstock/connector'

export const linkedin = definePlatform({
  slug: 'linkedin',
  name: 'LinkedIn',
  type: 'Social Media Platform',
  prepare: [
    'A LinkedIn member with the role Viewer or higher of the ad account: Campaign Manager › Account settings › Manage access.',
    'The ad account ID: the number next to the name of the account in Campaign Manager.',
  ],
  alsoCalled: ['linked in'],
})
