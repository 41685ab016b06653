import { definePlatform } from '@penstock/connector'

export const attentivePlatform = definePlatform({
  slug: 'attentive',
  name: 'Attentive',
  type: 'Customer Data Platform (CDP)',
  prepare: [
    'The key of a private app: Attentive › Marketplace › Create app.',
    'For a segment, its external ID, which you choose when you create it by the API.',
  ],
})
