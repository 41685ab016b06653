import { defineConnector, number, select, text } from '@penstock/connector'
import { snowflake } from './platform.ts'
import { keyPairUser, signIn } from './sign-in.ts'

/** Rows from a table, a view or a query of Snowflake. */
export const snowflakeSource = defineConnector({
  slug: 'snowflake-source',
  name: 'Snowflake Source',
  platform: snowflake,
  dataType: 'data store',
  dataTypeCategory: 'data store',
  description: 'Reads rows from Snowflake: those of a table or view, or those that a query returns.',
  actions: ['read'],
  notes:
    'The role needs USAGE on the warehouse, the database and the schema, and SELECT on the table. The warehouse must be running or resume automatically. Names are written as in SQL: in any case, or in double quotes. Rows come through the SQL API, whose results Snowflake keeps for 24 hours: an interrupted transfer resumes in the same result, and after that time with a new statement after the last row. For this all rows are ordered, by the key columns, or, where none are given, by a digest of each row: name key columns where there are many rows.',
  tested:
    'Our own test server, which follows what is published of Snowflake’s SQL API, with DuckDB behind it; not Snowflake itself.',
  secrets: {
    ...signIn,
    snowflakeAccount: text({
      label: 'Snowflake account',
      description: 'Locator of your account, with its region',
      required: true,
      binds: ['password', 'privateKey'],
    }),
    ...keyPairUser,
    snowflakeRole: text({ label: 'Snowflake role', description: 'Role under which queries run', required: true }),
  },
  source: {
    fields: {
      dataSourceType: select({
        label: 'Data source type',
        description: 'Whether a table or view is read, or the result of a query',
        options: ['Table Reference', 'SQL Query'],
        required: true,
      }),
      warehouse: text({ label: 'Warehouse', description: 'Warehouse that does the reading', required: true }),
      database: text({
        label: 'Database',
        description: 'Database that holds the table or view',
        required: true,
        when: { dataSourceType: 'Table Reference' },
      }),
      schema: text({
        label: 'Schema',
        description: 'Schema that holds the table or view',
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
      syncMode: select({
        label: 'Sync mode',
        description: 'Whether each transfer reads all rows or only those that changed since the last transfer',
        options: ['Full', 'Incremental'],
        required: true,
      }),
      timezone: text({
        label: 'Timezone',
        description: 'Time zone of cursor times that do not say theirs, such as Europe/Paris; UTC if it is empty',
      }),
      keyColumns: text({
        label: 'Key columns',
        description:
          'Columns that together tell rows apart, separated by commas; rows are read in their order. A digest of each row where none are given',
      }),
      startTime: text({ label: 'Start time', description: 'When the schedule runs for the first time' }),
      syncFrequency: number({
        label: 'Sync frequency',
        description: 'How much time lies between two transfers, counted in the unit below',
        min: 1,
      }),
      unit: select({
        label: 'Unit',
        description: 'What the sync frequency is counted in',
        options: ['Minutes', 'Hours', 'Days'],
      }),
      markerColumn: text({
        label: 'Cursor column',
        description: 'Column whose value grows whenever a row is added or changed',
        required: true,
        when: { syncMode: 'Incremental' },
      }),
      markerType: select({
        label: 'Cursor type',
        description: 'Whether the cursor column holds times or numbers',
        options: ['Datetime', 'Numeric'],
        required: true,
        when: { syncMode: 'Incremental' },
      }),
      markerPosition: text({
        label: 'Cursor position',
        description: 'Value of the cursor column up to which rows have been read; the service keeps it',
        readonly: true,
        when: { syncMode: 'Incremental' },
      }),
      lagSeconds: number({
        label: 'Lag in seconds',
        description:
          'How far behind the start of the transfer reading stops where the cursor is a time, so that what is being written at that time waits for the next run instead of being missed',
        min: 0,
        max: 86_400,
        default: 60,
        when: { syncMode: 'Incremental' },
      }),
      statementTimeoutSeconds: number({
        label: 'Statement timeout in seconds',
        description: 'How long Snowflake may take for a statement before it is cancelled',
        min: 1,
        max: 604_800,
        default: 3600,
      }),
    },
    open: async (context) => (await import('./read.ts')).open(context),
  },
  check: async (context) => (await import('./check.ts')).check(context),
})
