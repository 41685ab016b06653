import { definePlatform } from '@penstock/connector'

export const nexxen = definePlatform({
  slug: 'nexxen',
  name: 'Nexxen',
  type: 'Demand-Side Platform (DSP)',
  alsoCalled: ['amobee'],
})
