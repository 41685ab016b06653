import { definePlatform } from '@penstock/connector'

export const dropboxPlatform = definePlatform({
  slug: 'dropbox',
  name: 'Dropbox',
  type: 'Cloud Storage Provider',
  alsoCalled: ['csv', 'json', 'parquet'],
  icon: 'dropbox',
})
