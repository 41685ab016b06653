import { defineConnector, text } from '@penstock/connector'
import { createTable, listsOf, warehouseDelivery, writeFields } from '../kit/warehouse/definition.ts'
import { clickhouse } from './platform.ts'
import { signIn } from './sign-in.ts'

/** Rows for a table of ClickHouse. */
export const clickhouseDestination = defineConnector({
  slug: 'clickhouse-destination',
  name: 'ClickHouse Data Store',
  platform: clickhouse,
  dataType: 'data store',
  dataTypeCategory: 'data store',
  description: 'Inserts rows into a table of ClickHouse, replaces the existing ones, or updates rows by their key.',
  actions: ['append', 'replace', 'update'],
  notes:
    'Each batch is one insert in the format JSONEachRow over the HTTP interface, with a deduplication token. A batch that comes twice after a crash is inserted once if the table detects duplicates: those with a Replicated or Shared engine do, and so do tables that the connector creates; other tables of the MergeTree family need the setting non_replicated_deduplication_window. At other tables, look for duplicates after a crash. Upsert inserts into a table with the engine ReplacingMergeTree, whose sorting key is the key: read it with FINAL, because ClickHouse removes older rows with the same key later, in the background. If the table has a version column, the row with the highest version wins, otherwise the last one. Rows that a report does not have any more are deleted by their keys after the last batch of their days, if these days have keys of up to 32 MiB. Rows that the source has removed are deleted by their keys, and the table can be a mirror of the source (Rows to send: Mirror); each batch with removals takes a DELETE for a few thousand keys, which ClickHouse runs as a mutation. Replace empties the table before the first rows are written. The user needs SELECT on system.columns, INSERT on the table, TRUNCATE for Replace, SELECT on system.tables and on the table and ALTER DELETE for Upsert, and CREATE TABLE if the table is missing. Times are written in UTC. A value that a column would round, shorten or interpret differently is rejected, and so is a missing value for a column that is not Nullable and has no default. Lists, maps and tuples are written from JSON.',
  tested:
    'Our own test server, which follows the published documentation of ClickHouse’s HTTP interface, with DuckDB behind it. ClickHouse’s own client, @clickhouse/client 1.23.1, understands the server. The tests of appending and replacing also pass on the engine of ClickHouse 26.7 (chdb 3.4.0), without its HTTP interface and its users.',
  api: { version: 'HTTP interface of ClickHouse (without a version)', ends: 'no end is announced' },
  servers: ['address'],
  secrets: signIn,
  destination: {
    discover: listsOf(() => import('./discover.ts'), {
      database: 'discoverDatabases',
      table: 'discoverTables',
      keyColumns: 'discoverColumns',
      columns: 'discoverColumns',
    }),
    fields: {
      database: text({ label: 'Database', description: 'Database of the table', default: 'default' }),
      table: text({ label: 'Table', description: 'Name of the table that rows are written to', required: true }),
      ...writeFields({
        keys: 'Columns that identify a row, separated by commas; the table must be a ReplacingMergeTree whose sorting key has exactly these columns',
      }),
      ...createTable,
    },
    deliver: warehouseDelivery(100_000, () => import('./write.ts'), { notesBatches: true }),
  },
  check: async (context) => (await import('./check.ts')).checkDestination(context),
})
