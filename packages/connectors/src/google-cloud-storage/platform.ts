import { definePlatform } from '@penstock/connector'

export const googleCloudStorage = definePlatform({
  slug: 'google-cloud-storage',
  name: 'Google Cloud Storage',
  type: 'Cloud Storage Provider',
  icon: 'googlecloudstorage',
  alsoCalled: ['gcs', 'csv', 'json', 'parquet', 'bucket'],
})
