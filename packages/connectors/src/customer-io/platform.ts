import { definePlatform } from '@penstock/connector'

export const customerIoPlatform = definePlatform({
  slug: 'customer-io',
  name: 'Customer.io',
  type: 'Customer Data Platform (CDP)',
  prepare: [
    'The site ID and the API key of the Track API: Customer.io › Settings › Account settings › API credentials.',
    'For a manual segment, its ID: the number in the address of the segment.',
  ],
  alsoCalled: ['customerio'],
})
