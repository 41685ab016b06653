import { definePlatform } from '@penstock/connector'

export const databricks = definePlatform({
  slug: 'databricks',
  name: 'Databricks',
  type: 'Cloud Storage Provider',
  icon: 'databricks',
  alsoCalled: ['delta lake', 'lakehouse', 'spark', 'warehouse', 'sql'],
})
