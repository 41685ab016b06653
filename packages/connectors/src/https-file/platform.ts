import { definePlatform } from '@penstock/connector'

export const httpsFilePlatform = definePlatform({
  slug: 'https-file',
  name: 'HTTPS File',
  type: 'Cloud Storage Provider',
  alsoCalled: ['csv', 'json', 'parquet', 'url', 'http'],
})
