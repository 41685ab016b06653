import { definePlatform } from '@penstock/connector'

export const adobe = definePlatform({
  slug: 'adobe',
  name: 'Adobe',
  type: 'Customer Data Platform (CDP)',
  alsoCalled: ['aam', 'audience manager', 'adobe audience manager'],
})
