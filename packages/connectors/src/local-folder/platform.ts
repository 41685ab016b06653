import { definePlatform } from '@penstock/connector'

export const localFolderPlatform = definePlatform({
  slug: 'local-folder',
  name: 'Local folder',
  type: 'Cloud Storage Provider',
  alsoCalled: ['csv', 'json', 'parquet', 'excel', 'file'],
})
