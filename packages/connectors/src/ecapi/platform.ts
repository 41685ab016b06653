import { definePlatform } from '@penstock/connector'

export const ecapiReceivers = definePlatform({
  slug: 'ecapi',
  name: 'ECAPI',
  type: 'Demand-Side Platform (DSP)',
  prepare: [
    'The address for events, the ID of your data set and a token: ask the company that receives the events.',
    'How many events a request can have, and in which form: the standard leaves it to the receiver.',
  ],
  alsoCalled: ['iab tech lab', 'event and conversion api', 'capi'],
})
