import { definePlatform } from '@penstock/connector'

export const uid2 = definePlatform({
  slug: 'uid2',
  name: 'Unified ID 2.0',
  type: 'Identity Management',
  alsoCalled: ['uid2', 'unified id', 'raw uid2', 'identity map'],
})

export const euid = definePlatform({
  slug: 'euid',
  name: 'European Unified ID',
  type: 'Identity Management',
  alsoCalled: ['euid', 'identity map'],
})
