import { definePlatform } from '@penstock/connector'

export const criteo = definePlatform({
  slug: 'criteo',
  name: 'Criteo',
  type: 'Demand-Side Platform (DSP)',
  alsoCalled: ['retargeting'],
})
