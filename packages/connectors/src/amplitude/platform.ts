import { definePlatform } from '@penstock/connector'

export const amplitudePlatform = definePlatform({
  slug: 'amplitude',
  name: 'Amplitude',
  type: 'Customer Data Platform (CDP)',
  prepare: ['The API key of the project: Amplitude › Settings › Projects.'],
})
