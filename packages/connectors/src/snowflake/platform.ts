import { definePlatform } from '@penstock/connector'

export const snowflake = definePlatform({
  slug: 'snowflake',
  name: 'Snowflake',
  type: 'Cloud Storage Provider',
  alsoCalled: ['database', 'warehouse', 'sql'],
  icon: 'snowflake',
})
