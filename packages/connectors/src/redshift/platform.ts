import { definePlatform } from '@penstock/connector'

export const amazonRedshift = definePlatform({
  slug: 'amazon-redshift',
  name: 'Amazon Redshift',
  type: 'Cloud Storage Provider',
  alsoCalled: ['aws', 'database', 'warehouse', 'sql', 'serverless'],
})
