import { definePlatform } from '@penstock/connector'

export const yahooDsp = definePlatform({
  slug: 'yahoo-dsp',
  name: 'Yahoo DSP',
  type: 'Demand-Side Platform (DSP)',
  alsoCalled: ['yahoo'],
})
