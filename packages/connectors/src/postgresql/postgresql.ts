import { type Discover, defineConnector, type Fields, select, text } from '@penstock/connector'
import { changeFields, ofChanges, serverOf } from '../databases/change-fields.ts'
import { hostedWays } from '../databases/cloud-fields.ts'
import {
  backfillByCursor,
  columnTypes,
  databaseSecrets,
  tableDestinationFields,
  tableSourceFields,
  windowKeys,
} from '../databases/fields.ts'
import { postgresqlPlatform } from './platform.ts'

const bytesFormat = select({
  label: 'Bytes format',
  description:
    'How texts for bytea columns are read: as \\x and hexadecimal digits, otherwise as UTF-8 text; or as Base64, which other databases and warehouses return',
  options: ['PostgreSQL', 'Base64'],
  default: 'PostgreSQL',
})

const { syncMode, changes } = changeFields({
  log: 'PostgreSQL keeps in a replication slot',
  place: '_lsn',
  sent: 'the values that PostgreSQL sends (by default the key)',
  counted: 'changes of the publication',
})

/** As of other databases, and what a replication slot gives. */
const sourceFields: Fields = {
  ...tableSourceFields({ schemas: true, many: true }),
  ...syncMode,
  publication: text({
    label: 'Publication',
    description: 'Name of a publication that contains the table: create publication … for table …',
    required: true,
    when: ofChanges,
  }),
  slot: text({
    label: 'Replication slot',
    description: 'Replication slot for only this connection. The first transfer creates it',
    required: true,
    when: ofChanges,
  }),
  ...changes,
}

const schemas: Discover = async (context) => (await import('./discover.ts')).discoverSchemas(context)
const columns: Discover = async (context) => (await import('./discover.ts')).discoverColumns(context)

const allTables: Discover = async (context) => (await import('./tables.ts')).discoverTables(context)

/** Rows from and for tables of PostgreSQL. */
export const postgresql = defineConnector({
  slug: 'postgresql',
  name: 'PostgreSQL',
  platform: postgresqlPlatform,
  dataType: 'data store',
  dataTypeCategory: 'data store',
  description: 'Reads rows from a table, a view or a query of PostgreSQL, and inserts or upserts rows into a table.',
  actions: ['read', 'append', 'update'],
  notes:
    'Without key columns, rows are read in the order of a digest of each row, so the server must sort all of them: set key columns for large tables. Several workers share a large table that is read whole, by ranges of its primary key if its first column has whole numbers: each range is read as it is when its worker begins. An incremental transfer waits up to the lag for transactions that are writing to the tables, because they could add rows before its end later: with a number as the cursor, such as one from a sequence, for all of them; with a time, for those that are older than the lag. If one stays open longer, the transfer is retried later; with a lag of 0, it does not wait. A standby server does not know who writes, so a number as the cursor is refused there unless the lag is 0. Writers behind foreign tables and functions, and numbers that a sequence with a cache or an application has reserved, cannot be detected: use a time as the cursor there, with a lag longer than any transaction. Rows whose cursor is empty, NaN or Infinity are not read; a preview counts them. Bytes are read as PostgreSQL shows them: \\x and hexadecimal digits. If an upsert batch has several rows with the same key, the last one wins. With an upsert, the table can be a mirror of the source (Rows to send: Mirror): rows that left the source are deleted, if the user has DELETE on the table. Written batches are recorded in the table penstock_batches, in the same schema and transaction, so that none is written twice. Connections that write are named penstock, the transfer and its attempt; an attempt ends those of earlier ones. With an upsert, rows that the source has removed, or that a report does not have any more, are deleted, if the user has DELETE on the table. To read changes, the server needs wal_level = logical, the table a primary key or another replica identity, and the user the attribute REPLICATION. The server keeps its log for the replication slot until a transfer has confirmed it: set max_slot_wal_keep_size, so that a connection that is stopped does not fill its disk. The slot is dropped once the connection reads no changes any more, or is deleted permanently. A filter of the connection does not remove rows that no longer match it. The user needs CREATE on the schema until that table exists, and TEMPORARY on the database. To have new columns added, the user must own the table.',
  tested: 'PostgreSQL 18, which comes with Penstock, over an unstable connection.',
  api: { version: 'protocol 3.0 of PostgreSQL', ends: 'no end is announced' },
  secrets: databaseSecrets({ name: 'PostgreSQL', port: 5432, clouds: hostedWays }),
  servers: ['host'],
  source: {
    fields: sourceFields,
    rawFormats: ['copy-binary', 'copy-text'],
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
      slot: ({ syncMode, slot }) => (syncMode === 'Changes' && typeof slot === 'string' ? slot : undefined),
      server: serverOf,
      measure: async (context) => (await import('./changes/change-log.ts')).measure(context),
      release: {
        drop: async (context) => (await import('./changes/change-log.ts')).drop(context),
        statement: (slot) => `SELECT pg_drop_replication_slot('${slot}');`,
      },
    },
    discover: {
      schema: schemas,
      table: async (context) => (await import('./discover.ts')).discoverSources(context),
      tables: allTables,
      tablesExcept: allTables,
      keyColumns: columns,
      markerColumn: columns,
      columns,
    },
  },
  destination: {
    columnTypes,
    fields: { ...tableDestinationFields({ schemas: true }), bytesFormat },
    deliver: {
      batch: () => ({ rowsMax: 50_000, bytesMax: 8 * 1024 * 1024 }),
      windowKeys,
      removesBy: windowKeys,
      notesBatches: true,
      rawFormats: ['copy-binary', 'copy-text'],
      takesRaw: async (...given) => (await import('./takes-raw.ts')).takesRaw(...given),
      whyNotParts: () => undefined,
      open: async (context) => (await import('./write.ts')).open(context),
      inspect: async (context) => (await import('./inspect.ts')).inspect(context),
      addColumns: async (context) => (await import('./add-columns.ts')).addColumns(context),
      tryRows: async (context) => (await import('./try-rows.ts')).tryRows(context),
    },
    discover: {
      schema: schemas,
      table: async (context) => (await import('./discover.ts')).discoverDestinations(context),
      keyColumns: columns,
      columns,
    },
  },
  check: async (context) => (await import('./check.ts')).check(context),
})
