import { definePlatform } from '@penstock/connector'

export const azureBlobStorage = definePlatform({
  slug: 'azure-blob-storage',
  name: 'Azure Blob Storage',
  type: 'Cloud Storage Provider',
  alsoCalled: ['microsoft', 'csv', 'json', 'parquet', 'container'],
})
