import { definePlatform } from '@penstock/connector'

export const sftp = definePlatform({
  slug: 'sftp',
  name: 'SFTP',
  type: 'Cloud Storage Provider',
  alsoCalled: ['csv', 'json', 'parquet', 'ftp', 'ssh'],
})
