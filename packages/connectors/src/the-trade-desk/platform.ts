import { definePlatform } from '@penstock/connector'

export const theTradeDesk = definePlatform({
  slug: 'the-trade-desk',
  name: 'The Trade Desk',
  type: 'Demand-Side Platform (DSP)',
  alsoCalled: ['ttd', 'trade desk'],
})
