import { boolean, type Discover, defineConnector, select, text } from '@penstock/connector'
import { windowKeys } from '../databases/fields.ts'
import { snowflake } from './platform.ts'
import { keyPairUser, signIn } from './sign-in.ts'

const columns: Discover = async (context) => (await import('./discover.ts')).discoverTargetColumns(context)

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
    'Our own test server, which follows the published documentation of Snowflake’s SQL API, with DuckDB behind it; not Snowflake itself.',
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
      label: 'Snowflake role',
      description: 'Role used to write rows',
      required: true,
      when: { authType: ['key-pair', 'oauth'] },
    }),
    storageIntegration: text({
      label: 'Storage integration',
      description:
        'Name of a storage integration of Snowflake that may read your bucket; only for connections whose files Snowflake loads itself',
    }),
  },
  destination: {
    discover: {
      warehouse: async (context) => (await import('./discover.ts')).discoverWarehouses(context),
      database: async (context) => (await import('./discover.ts')).discoverDatabases(context),
      schema: async (context) => (await import('./discover.ts')).discoverSchemas(context),
      table: async (context) => (await import('./discover.ts')).discoverDestinations(context),
      keyColumns: columns,
      columns,
    },
    fields: {
      warehouse: text({ label: 'Warehouse', description: 'Warehouse used to write rows', required: true }),
      database: text({ label: 'Database', description: 'Database of the table', required: true }),
      schema: text({ label: 'Schema', description: 'Schema of the table', required: true }),
      table: text({
        label: 'Table / view name',
        description: 'Name of the table that rows are written to',
        required: true,
      }),
      writeMode: select({
        label: 'Write mode',
        description: 'Whether rows are added, replace the content of the table, or replace the rows with the same key',
        options: ['Append', 'Replace', 'Upsert'],
        required: true,
      }),
      keyColumns: text({
        label: 'Key columns',
        description: 'Columns that identify a row, separated by commas',
        required: true,
        when: { writeMode: 'Upsert' },
      }),
      loadFiles: boolean({
        label: 'Load files inside Snowflake',
        description:
          'Whether Snowflake itself loads CSV and Parquet files from Amazon S3, through the storage integration; rows pass Penstock if the connection needs what only Penstock does, such as hashing',
        default: false,
      }),
    },
    deliver: {
      batch: () => ({ rowsMax: 5_000, bytesMax: 512 << 10 }),
      windowKeys,
      removesBy: windowKeys,
      replaces: (settings) => settings.writeMode === 'Replace',
      open: async (context) => (await import('./write.ts')).open(context),
      inspect: async (context) => (await import('./write.ts')).inspect(context),
      tryRows: async (context) => (await import('./write.ts')).tryRows(context),
      loads: {
        schemes: ['s3'],
        isWanted: ({ loadFiles }) => loadFiles === true,
        whyNot: ({ secrets, settings }) => {
          if (settings.writeMode === 'Upsert') return 'Upsert needs the keys of the rows'
          return secrets.storageIntegration ? undefined : 'the configuration of Snowflake names no storage integration'
        },
        whyNotTable: async (context) => (await import('./load.ts')).whyNotTable(context),
        open: async (context) => (await import('./load.ts')).openLoader(context),
      },
    },
  },
  check: async (context) => (await import('./check.ts')).checkDestination(context),
})
