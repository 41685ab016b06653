import { definePlatform } from '@penstock/connector'

export const amazonS3 = definePlatform({
  slug: 'amazon-s3',
  name: 'Amazon S3',
  type: 'Cloud Storage Provider',
  alsoCalled: ['aws', 'csv', 'json', 'parquet', 'bucket', 'minio'],
})
