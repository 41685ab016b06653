import { type Discover, defineConnector } from '@penstock/connector'
import { changeFields, serverOf } from '../databases/change-fields.ts'
import { hostedWays } from '../databases/cloud-fields.ts'
import {
  backfillByCursor,
  columnTypes,
  databaseSecrets,
  tableDestinationFields,
  tableSourceFields,
  windowKeys,
} from '../databases/fields.ts'
import { mysqlPlatform } from './platform.ts'

const tables: Discover = async (context) => (await import('./discover.ts')).discoverTables(context)
const allTables: Discover = async (context) => (await import('./tables.ts')).discoverTables(context)
const columns: Discover = async (context) => (await import('./discover.ts')).discoverColumns(context)

const { syncMode, changes } = changeFields({
  log: 'the server writes to its binary log',
  place: '_position',
  sent: 'its last values',
  counted: 'changes of the table',
})

/** Rows from and for tables of MySQL and MariaDB. */
export const mysql = defineConnector({
  slug: 'mysql',
  name: 'MySQL / MariaDB',
  platform: mysqlPlatform,
  dataType: 'data store',
  dataTypeCategory: 'data store',
  description:
    'Reads rows from a table, a view or a query of MySQL or MariaDB, and inserts or upserts rows into a table.',
  actions: ['read', 'append', 'update'],
  notes:
    'Without key columns, rows are read in the order of a digest of each row, so the server must sort all of them: set key columns for large tables. Several workers share a large table that is read whole, by ranges of its primary key if its first column has whole numbers: each range is read as it is when its worker begins. An incremental transfer waits up to the lag for rows that are written and not committed yet, because they could come before its end later. It finds them by reading cursors and keys with the isolation level READ UNCOMMITTED too, on a second connection, which holds up no one and needs no privilege but SELECT. If a transaction stays open longer, the transfer is retried later; with a lag of 0, it does not wait. A server that is read-only, as replicas are, does not have these rows, so a number as the cursor is refused there unless the lag is 0; use a time, with a lag longer than transactions and replication take. The same is true of a cluster with several primary servers and of numbers that an application has reserved. Rows without a cursor are not read; a preview counts them. An upsert finds a row by any unique key of its table; if a batch has several rows with the same key, the last one wins. With an upsert, the table can be a mirror of the source (Rows to send: Mirror): rows that left the source are deleted, if the user has DELETE on the table. Written batches are recorded in the table penstock_batches, in the same database and transaction, so that none is written twice. With an upsert, rows that a report does not have any more are deleted, if the user has DELETE on the table and CREATE TEMPORARY TABLES, and no other unique key is among the columns. The user needs CREATE until that table exists, ALTER on the table to have new columns added, and tables must use an engine with transactions, such as InnoDB. Inserting is fastest if the server allows LOAD DATA LOCAL. To read changes, the server needs a binary log with binlog_format = ROW, binlog_row_image = FULL and binlog_row_metadata = FULL, the table a primary key and no foreign key that changes its rows, and the user REPLICATION SLAVE and REPLICATION CLIENT; with MySQL also LOCK TABLES, since the beginning of the first copy locks the table for a few statements. All of the log is sent, and changes of other tables are passed over. Columns of JSON (of MySQL), geometries, UUID and texts in character sets such as gbk are read from the table as it is when a change is read. A value that a column would round, truncate or interpret differently is rejected: a number with too many digits or decimal places, a time of day for a DATE, or a text for bytes that is neither \\x with hexadecimal digits nor Base64. A row may have 64 MiB and 2,000 columns when it is read.',
  tested:
    'MariaDB 10.11 from Debian, over an unstable connection, and servers that violate the protocol. Of MySQL itself, 9.7 was used for the changes.',
  api: { version: 'client/server protocol 10 of MySQL', ends: 'no end is announced' },
  secrets: databaseSecrets({ name: 'MySQL or MariaDB', port: 3306, clouds: hostedWays }),
  servers: ['host'],
  source: {
    fields: { ...tableSourceFields({ schemas: false, many: true }), ...syncMode, ...changes },
    backfill: backfillByCursor,
    open: async (context) =>
      context.settings.syncMode === 'Changes'
        ? (await import('./changes/read.ts')).openChanges(context)
        : (await import('./read.ts')).open(context),
    manyTables: {
      isAsked: ({ dataSourceType }) => dataSourceType === 'Many Tables',
      list: async (context) => (await import('./tables.ts')).listTables(context),
    },
    changeLog: {
      slot: ({ syncMode }) => (syncMode === 'Changes' ? '' : undefined),
      server: serverOf,
      measure: async (context) => (await import('./changes/change-log.ts')).measure(context),
    },
    discover: {
      table: tables,
      tables: allTables,
      tablesExcept: allTables,
      keyColumns: columns,
      markerColumn: columns,
      columns,
    },
  },
  destination: {
    columnTypes,
    fields: tableDestinationFields({ schemas: false }),
    deliver: {
      batch: () => ({ rowsMax: 50_000, bytesMax: 16 * 1024 * 1024 }),
      windowKeys,
      removesBy: windowKeys,
      notesBatches: true,
      whyNotParts: () => undefined,
      open: async (context) => (await import('./write.ts')).open(context),
      inspect: async (context) => (await import('./inspect.ts')).inspect(context),
      addColumns: async (context) => (await import('./add-columns.ts')).addColumns(context),
      tryRows: async (context) => (await import('./try-rows.ts')).tryRows(context),
    },
    discover: { table: tables, keyColumns: columns, columns },
  },
  check: async (context) => (await import('./check.ts')).check(context),
})
