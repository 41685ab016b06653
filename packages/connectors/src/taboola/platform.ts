import { definePlatform } from '@penstock/connector'

export const taboola = definePlatform({
  slug: 'taboola',
  name: 'Taboola',
  type: 'Demand-Side Platform (DSP)',
  alsoCalled: ['backstage'],
})
