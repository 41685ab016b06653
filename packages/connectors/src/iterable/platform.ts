import { definePlatform } from '@penstock/connector'

export const iterablePlatform = definePlatform({
  slug: 'iterable',
  name: 'Iterable',
  type: 'Customer Data Platform (CDP)',
  prepare: ['A server-side API key: Iterable › Integrations › API keys.', 'For a list, its ID: Audience › Lists.'],
})
