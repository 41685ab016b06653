import { defineConnector, number, select, syncMode, text } from '@penstock/connector'
import { backfillByCursor, keyOrDigest, lagOfClock, lookBackOfCursor } from '../databases/fields.ts'
import { snowflake } from './platform.ts'
import { keyPairUser, signIn } from './sign-in.ts'

/** Rows from a table, a view or a query of Snowflake. */
export const snowflakeSource = defineConnector({
  slug: 'snowflake-source',
  name: 'Snowflake Source',
  platform: snowflake,
  dataType: 'data store',
  dataTypeCategory: 'data store',
  description: 'Reads rows from a table, a view or a query of Snowflake.',
  actions: ['read'],
  notes:
    'The role needs USAGE on the warehouse, the database and the schema, and SELECT on the table. The warehouse must be running or resume automatically. Write names as in SQL: in any case, or in double quotes. Snowflake keeps results for 24 hours. Within that time, an interrupted transfer resumes in the same result; later, it runs a new statement and resumes after the last row. For this, all rows are sorted, by the key columns or by a digest of each row: set key columns for large tables.',
  tested:
    'Our own test server, which follows the published documentation of Snowflake’s SQL API, with DuckDB behind it; not Snowflake itself. No one else has checked the server, because Snowflake’s own client speaks another protocol.',
  api: { version: 'Snowflake SQL API v2', ends: 'no end is announced' },
  secrets: {
    ...signIn,
    snowflakeAccount: text({
      label: 'Snowflake account',
      description: 'Locator of your account, with its region',
      required: true,
      when: { authType: ['basic', 'key-pair'] },
      binds: ['password', 'privateKey', 'passphrase'],
    }),
    ...keyPairUser,
    snowflakeRole: text({
      keepsState: 'credential',
      label: 'Snowflake role',
      description: 'Role used to run queries',
      required: true,
    }),
  },
  source: {
    discover: {
      warehouse: async (context) => (await import('./discover.ts')).discoverWarehouses(context),
      database: async (context) => (await import('./discover.ts')).discoverDatabases(context),
      schema: async (context) => (await import('./discover.ts')).discoverSchemas(context),
      table: async (context) => (await import('./discover.ts')).discoverSources(context),
      columns: async (context) => (await import('./discover.ts')).discoverColumns(context),
    },
    fields: {
      dataSourceType: select({
        label: 'Data source type',
        description: 'Read a table or view, or the result of a query',
        options: ['Table Reference', 'SQL Query'],
        required: true,
      }),
      warehouse: text({
        keepsState: 'pace',
        label: 'Warehouse',
        description: 'Warehouse used to read rows',
        required: true,
      }),
      database: text({
        label: 'Database',
        description: 'Database of the table or view',
        required: true,
        when: { dataSourceType: 'Table Reference' },
      }),
      schema: text({
        label: 'Schema',
        description: 'Schema of the table or view',
        required: true,
        when: { dataSourceType: 'Table Reference' },
      }),
      table: text({
        label: 'Table',
        description: 'Name of the table or view to read',
        required: true,
        when: { dataSourceType: 'Table Reference' },
      }),
      sqlQuery: text({
        label: 'SQL query',
        description: 'SELECT statement whose rows are read',
        required: true,
        when: { dataSourceType: 'SQL Query' },
      }),
      syncMode: syncMode(['Full', 'Incremental'], {
        description: 'Read all rows each time, or only rows that changed since the last transfer',
        isRequired: true,
      }),
      timezone: text({
        label: 'Timezone',
        description: 'Time zone of cursor values without one, such as Europe/Paris; UTC if it is empty',
      }),
      keyColumns: keyOrDigest,
      startTime: text({ label: 'Start time', description: 'When the first scheduled transfer starts' }),
      syncFrequency: number({
        label: 'Sync frequency',
        description: 'Time between two transfers, in the unit below',
        min: 1,
      }),
      unit: select({
        label: 'Unit',
        description: 'Unit of the sync frequency',
        options: ['Minutes', 'Hours', 'Days'],
      }),
      markerColumn: text({
        label: 'Cursor column',
        description: 'Column whose value increases with each change. Rows without a value are not read',
        required: true,
        when: { syncMode: 'Incremental' },
      }),
      markerType: select({
        label: 'Cursor type',
        description: 'Whether the cursor column contains times or numbers',
        options: ['Datetime', 'Numeric'],
        required: true,
        when: { syncMode: 'Incremental' },
      }),
      markerPosition: text({
        label: 'Cursor position',
        description: 'Value of the cursor column up to which rows have been read; set by the service',
        readonly: true,
        when: { syncMode: 'Incremental' },
      }),
      lagSeconds: lagOfClock,
      lookBackHours: lookBackOfCursor,
      statementTimeoutSeconds: number({
        keepsState: 'pace',
        label: 'Statement timeout in seconds',
        description: 'How long a statement may take before it is cancelled',
        min: 1,
        max: 604_800,
        default: 3600,
      }),
    },
    backfill: backfillByCursor,
    open: async (context) => (await import('./read.ts')).open(context),
  },
  check: async (context) => (await import('./check.ts')).check(context),
})
