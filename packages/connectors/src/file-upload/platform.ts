import { definePlatform } from '@penstock/connector'

export const fileUploadPlatform = definePlatform({
  slug: 'file-upload',
  name: 'Uploaded file',
  type: 'Cloud Storage Provider',
  alsoCalled: ['upload', 'csv', 'json', 'parquet', 'excel', 'file'],
})
