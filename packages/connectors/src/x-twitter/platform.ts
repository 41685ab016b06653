import { definePlatform } from '@penstock/connector'

export const xTwitter = definePlatform({
  slug: 'x-twitter',
  name: 'X (Twitter)',
  type: 'Social Media Platform',
  alsoCalled: ['twitter'],
  icon: 'x',
})
