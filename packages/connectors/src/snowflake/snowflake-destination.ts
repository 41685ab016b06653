import { defineConnector, select, text } from '@penstock/connector'
import { snowflake } from './platform.ts'
import { keyPairUser, signIn } from './sign-in.ts'

/** Rows for a table of Snowflake. */
export const snowflakeDestination = defineConnector({
  slug: 'snowflake-destination',
  name: 'Snowflake Data Store',
  platform: snowflake,
  dataType: 'data store',
  dataTypeCategory: 'data store',
  description: 'Writes rows to a table of Snowflake, after those that are there or in their place.',
  actions: ['append', 'replace'],
  notes:
    'Replace empties the table before it writes. The role needs INSERT on the table, and CREATE TABLE where the table is to be made.',
  secrets: {
    ...signIn,
    snowflakeAccount: text({
      label: 'Snowflake account',
      description: 'Locator of your account, with its region',
      required: true,
      binds: ['password', 'privateKey'],
      when: { authType: 'key-pair' },
    }),
    ...keyPairUser,
    snowflakeRole: text({
      label: 'Snowflake role',
      description: 'Role under which rows are written',
      required: true,
      when: { authType: 'key-pair' },
    }),
  },
  destination: {
    fields: {
      warehouse: text({ label: 'Warehouse', description: 'Warehouse that does the writing', required: true }),
      database: text({ label: 'Database', description: 'Database that holds the table', required: true }),
      schema: text({ label: 'Schema', description: 'Schema that holds the table', required: true }),
      table: text({ label: 'Table / view name', description: 'Name of the table to which rows go', required: true }),
      writeMode: select({
        label: 'Write mode',
        description: 'Whether rows are added to the table or replace its content',
        options: ['Append', 'Replace'],
        required: true,
      }),
    },
  },
})
