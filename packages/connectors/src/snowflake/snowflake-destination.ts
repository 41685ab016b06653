import { defineConnector, text } from '@penstock/connector'
import { listsOf, loadFiles, warehouseDelivery, warehouseLoads, writeFields } from '../kit/warehouse/definition.ts'
import { snowflake } from './platform.ts'
import { keyPairUser, signIn } from './sign-in.ts'

/** Rows for a table of Snowflake. */
export const snowflakeDestination = defineConnector({
  slug: 'snowflake-destination',
  name: 'Snowflake Data Store',
  platform: snowflake,
  dataType: 'data store',
  dataTypeCategory: 'data store',
  description:
    'Writes rows to a Snowflake table: appends them, replaces the existing ones, or updates rows by their key.',
  actions: ['append', 'replace', 'update'],
  notes:
    'Rows are inserted by statements of up to 5,000 rows with their values as a binding. Snowflake’s SQL API does not allow PUT, so that no file can be loaded through an internal stage. For many millions of rows, have Snowflake load CSV or Parquet files from Amazon S3 itself: create a storage integration for the bucket, grant the role USAGE on it, name it in the configuration, and set Load files inside Snowflake (Append and Replace). Its rows are then read through a transient table in the same schema, and pass Penstock only if they are rejected. Compared with a worker, rows with empty values too many, numbers with an exponent in columns of decimals, and numbers with more than 15 digits in columns of floating-point numbers are rejected. Replace empties the table before the first rows are written. Upsert runs a MERGE for each batch, in which the last of several rows with the same key wins. Rows that a report does not have any more are deleted after the last batch of their days; until then, the table penstock_window_keys in the same schema has the keys of days that need several batches. Rows that the source has removed are deleted by the MERGE, and the table can be a mirror of the source (Rows to send: Mirror). The role needs USAGE on the warehouse, the database and the schema, SELECT, INSERT and DELETE on the table, UPDATE for Upsert, and CREATE TABLE in the schema: a missing table is created with text columns, and the table penstock_batches in the same schema records which batches were written, so that none is written twice when a transfer resumes after a crash. Write names as in SQL: in any case, or in double quotes. The table must not be a view: Snowflake cannot insert into views. Times are written in UTC to columns without a time zone. A number of which a column does not keep all digits is rejected. A resumed transfer does not detect a statement that is still running in Snowflake: after a crash during a write, look for duplicates.',
  tested:
    'Our own test server, which follows the published documentation of Snowflake’s SQL API, with DuckDB behind it; not Snowflake itself. No one else has checked the server, because Snowflake’s own client speaks another protocol.',
  api: { version: 'Snowflake SQL API v2', ends: 'no end is announced' },
  secrets: {
    ...signIn,
    snowflakeAccount: text({
      label: 'Snowflake account',
      description: 'Locator of your account, with its region',
      required: true,
      binds: ['password', 'privateKey', 'passphrase'],
      when: { authType: 'key-pair' },
    }),
    accountLocator: text({
      label: 'Account locator',
      description: 'Locator of your account, with its region; needed to move data',
      binds: ['password'],
      when: { authType: 'basic' },
    }),
    ...keyPairUser,
    snowflakeRole: text({
      keepsState: 'credential',
      label: 'Snowflake role',
      description: 'Role used to write rows',
      required: true,
      when: { authType: ['key-pair', 'oauth'] },
    }),
    storageIntegration: text({
      keepsState: 'credential',
      label: 'Storage integration',
      description:
        'Name of a storage integration of Snowflake that may read your bucket; only for connections that load files inside Snowflake',
    }),
  },
  destination: {
    discover: listsOf(() => import('./discover.ts'), {
      warehouse: 'discoverWarehouses',
      database: 'discoverDatabases',
      schema: 'discoverSchemas',
      table: 'discoverDestinations',
      keyColumns: 'discoverTargetColumns',
      columns: 'discoverTargetColumns',
    }),
    fields: {
      warehouse: text({
        keepsState: 'pace',
        label: 'Warehouse',
        description: 'Warehouse used to write rows',
        required: true,
      }),
      database: text({ label: 'Database', description: 'Database of the table', required: true }),
      schema: text({ label: 'Schema', description: 'Schema of the table', required: true }),
      table: text({
        label: 'Table / view name',
        description: 'Name of the table that rows are written to',
        required: true,
      }),
      ...writeFields({ isRequired: true }),
      ...loadFiles('Snowflake', 'Amazon S3, through the storage integration'),
    },
    deliver: warehouseDelivery(5_000, () => import('./write.ts'), {
      batch: () => ({ rowsMax: 5_000, bytesMax: 512 << 10 }),
      notesBatches: true,
      loads: warehouseLoads(
        {
          schemes: ['s3'],
          whyNot({ secrets, settings }) {
            if (settings.writeMode === 'Upsert') return 'Upsert needs the keys of the rows'
            return secrets.storageIntegration
              ? undefined
              : 'the configuration of Snowflake names no storage integration'
          },
        },
        () => import('./load.ts'),
      ),
    }),
  },
  check: async (context) => (await import('./check.ts')).checkDestination(context),
})
