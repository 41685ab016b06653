import { definePlatform } from '@penstock/connector'

export const googleBigQuery = definePlatform({
  slug: 'google-bigquery',
  name: 'Google BigQuery',
  type: 'Cloud Storage Provider',
  icon: 'googlebigquery',
  alsoCalled: ['bq', 'warehouse', 'sql'],
})
