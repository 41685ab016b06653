import { definePlatform } from '@penstock/connector'

export const lotame = definePlatform({
  slug: 'lotame',
  name: 'Lotame',
  type: 'Customer Data Platform (CDP)',
  alsoCalled: ['dmp'],
})
