import { definePlatform } from '@penstock/connector'

export const mysqlPlatform = definePlatform({
  slug: 'mysql',
  name: 'MySQL / MariaDB',
  type: 'Cloud Storage Provider',
  icon: 'mysql',
  alsoCalled: ['database', 'sql'],
})
