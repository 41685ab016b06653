import { type Discover, defineConnector, number, text } from '@penstock/connector'
import { backfillByCursor, keyOrDigest, lagOfClock, tableSourceFields } from '../databases/fields.ts'
import { clickhouse } from './platform.ts'
import { signIn } from './sign-in.ts'

const columns: Discover = async (context) => (await import('./discover.ts')).discoverSourceColumns(context)

/** Rows from a table, a view or a query of ClickHouse. */
export const clickhouseSource = defineConnector({
  slug: 'clickhouse-source',
  name: 'ClickHouse Source',
  platform: clickhouse,
  dataType: 'data store',
  dataTypeCategory: 'data store',
  description: 'Reads rows from a table, a view or a query of ClickHouse.',
  actions: ['read'],
  notes:
    'The user needs SELECT on the table, and on system.databases and system.tables to list what there is; a user with readonly = 1 suffices. Statements run with readonly = 1 if the user may write. Rows are read in pages, each by a statement of its own, in the order of the key columns: set the first columns of the sorting key of the table. Without key columns, rows are read in the order of a digest of each row, which ClickHouse computes and sorts for each page: only for small tables. ClickHouse has no snapshots, so rows that are changed or deleted during a transfer may be read as they were or as they are; rows that are inserted behind the last key are read, too. An interrupted transfer resumes after the last row. To read rows of a ReplacingMergeTree once, use a query with FINAL. For an incremental transfer, the cursor is a time, a day or an exact number; rows without a value in it are not read, and a day is read once it is over. ClickHouse does not say which inserts are still running: set a lag that is longer than any. Times are read in UTC. Text that is not UTF-8 has replacement characters: read hex(column) by a query instead.',
  tested:
    'Our own test server, which follows the published documentation of ClickHouse’s HTTP interface, with DuckDB behind it. ClickHouse’s own client, @clickhouse/client 1.23.1, understands the server. The tests also pass on the engine of ClickHouse 26.7 (chdb 3.4.0), without its HTTP interface and its users.',
  api: { version: 'HTTP interface of ClickHouse (without a version)', ends: 'no end is announced' },
  servers: ['address'],
  secrets: signIn,
  source: {
    discover: {
      database: async (context) => (await import('./discover.ts')).discoverDatabases(context),
      table: async (context) => (await import('./discover.ts')).discoverSources(context),
      keyColumns: columns,
      markerColumn: columns,
      columns,
    },
    fields: {
      database: text({
        label: 'Database',
        description: 'Database of the table or view, and of tables that a query names without one',
        default: 'default',
      }),
      ...tableSourceFields({ schemas: false }),
      keyColumns: keyOrDigest,
      lagSeconds: lagOfClock,
      timezone: text({
        label: 'Time zone',
        description: 'Time zone in which a day ends, if the cursor is a day, such as Europe/Paris',
        default: 'UTC',
        when: { syncMode: 'Incremental' },
      }),
      statementTimeoutSeconds: number({
        keepsState: 'pace',
        label: 'Statement timeout in seconds',
        description: 'How long ClickHouse may take for a page of rows',
        min: 1,
        max: 86_400,
        default: 1800,
      }),
    },
    backfill: backfillByCursor,
    open: async (context) => (await import('./read.ts')).open(context),
  },
  check: async (context) => (await import('./check.ts')).checkSource(context),
})
