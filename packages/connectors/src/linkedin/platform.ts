import { definePlatform } from '@penstock/connector'

export const linkedin = definePlatform({
  slug: 'linkedin',
  name: 'LinkedIn',
  type: 'Social Media Platform',
  alsoCalled: ['linked in'],
})
