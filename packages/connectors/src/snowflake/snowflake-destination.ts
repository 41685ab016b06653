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
    'Replace empties the table before the first rows are written. The role needs USAGE on the warehouse, the database and the schema, SELECT, INSERT and DELETE on the table, and CREATE TABLE in the schema: a table that is missing is created with columns of text, and the table penstock_batches beside it notes which batches were written, so that none is written twice when a transfer resumes after a crash. Names are written as in SQL: in any case, or in double quotes. The table must be a table: Snowflake inserts into no view. Times go to columns without a time zone in UTC. A statement that still runs in Snowflake when a transfer is resumed is not seen by it: after a crash in that very minute, look for doubles.',
  tested:
    'Our own test server, which follows what is published of Snowflake’s SQL API, with DuckDB behind it; not Snowflake itself.',
  secrets: {
    ...signIn,
    snowflakeAccount: text({
      label: 'Snowflake account',
      description: 'Locator of your account, with its region',
      required: true,
      binds: ['password', 'privateKey'],
      when: { authType: 'key-pair' },
    }),
    accountLocator: text({
      label: 'Account locator',
      description: 'Locator of your account, with its region; without it no data moves',
      binds: ['password'],
      when: { authType: 'basic' },
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
    deliver: {
      batch: () => ({ rowsMax: 5_000, bytesMax: 512 << 10 }),
      replaces: (settings) => settings.writeMode === 'Replace',
      open: async (context) => (await import('./write.ts')).open(context),
      inspect: async (context) => (await import('./write.ts')).inspect(context),
    },
  },
  check: async (context) => (await import('./check.ts')).checkDestination(context),
})
