import { definePlatform } from '@penstock/connector'

export const httpApiPlatform = definePlatform({
  slug: 'http-api',
  name: 'HTTP API',
  type: 'Cloud Storage Provider',
  alsoCalled: ['rest', 'json', 'api', 'custom', 'declarative', 'airbyte'],
})
