import { definePlatform } from '@penstock/connector'

export const postgresqlPlatform = definePlatform({
  slug: 'postgresql',
  name: 'PostgreSQL',
  type: 'Cloud Storage Provider',
  icon: 'postgresql',
  alsoCalled: ['postgres', 'database', 'sql'],
})
