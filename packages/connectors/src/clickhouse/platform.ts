import { definePlatform } from '@penstock/connector'

export const clickhouse = definePlatform({
  slug: 'clickhouse',
  name: 'ClickHouse',
  type: 'Cloud Storage Provider',
  icon: 'clickhouse',
  alsoCalled: ['database', 'warehouse', 'olap', 'sql'],
})
