import { defineConnector, text } from '@penstock/connector'
import {
  createTable,
  listsOf,
  loadFiles,
  warehouseDelivery,
  warehouseLoads,
  writeFields,
} from '../kit/warehouse/definition.ts'
import { whyNotFile } from './load-limits.ts'
import { databricks } from './platform.ts'
import { signIn } from './sign-in.ts'

/** Rows for a Delta table of Databricks. */
export const databricksDestination = defineConnector({
  slug: 'databricks-destination',
  name: 'Databricks Data Store',
  platform: databricks,
  dataType: 'data store',
  dataTypeCategory: 'data store',
  description:
    'Writes rows to a Delta table of Databricks: appends them, replaces the existing ones, or updates rows by their key.',
  actions: ['append', 'replace', 'update'],
  notes:
    'Each batch is uploaded to a volume of Unity Catalog, in its folder penstock, and deleted after the statement that loads it: COPY INTO, which loads each file once, or MERGE. A batch that comes twice after a crash has the same file, so that its rows are not added twice. A table that is emptied by hand while a transfer is interrupted does not get these rows again. Replace empties the table before the first rows are loaded. For an upsert, the last of several rows with the same key in a batch wins. Rows that a report does not have any more are deleted, by the same MERGE or by a DELETE after the last batch of their days. Rows that the source has removed are deleted by the MERGE, and the table can be a mirror of the source (Rows to send: Mirror). The user needs CAN USE on the warehouse, USE CATALOG and USE SCHEMA, SELECT and MODIFY on the table, READ VOLUME and WRITE VOLUME on the volume, and CREATE TABLE if the table is missing. A warehouse that was stopped starts with the first batch, which takes minutes, and is billed. Times are written in UTC. A value that a column would round, shorten or interpret differently is rejected. The table must be in Unity Catalog. For many millions of rows, have Databricks load CSV or Parquet files from Amazon S3 itself: make the bucket an external location, grant the user READ FILES on it and CREATE TABLE in the schema, and set Load files inside Databricks. Its rows are read into a table of texts in the same schema, judged there, and pass Penstock only if they are rejected. Append then writes the good rows as files to the volume, which COPY INTO loads once; a note for each group of files stays there for 30 days. Upsert fails if a key is in several rows of a group. Numbers with an exponent in columns of whole numbers and decimals are rejected. Parquet files pass Penstock if they have nested columns, bytes, times with nanoseconds, or floating-point numbers or times for a column of another kind.',
  tested:
    'Our own test server, which follows the published documentation of Databricks’ REST interface, with DuckDB behind it; not Databricks itself. No one else has checked the server, because Databricks’ own client speaks another protocol.',
  api: {
    version: 'SQL Statement Execution API 2.0, Files API 2.0 and Unity Catalog API 2.1',
    ends: 'no end is announced',
  },
  secrets: signIn,
  destination: {
    discover: listsOf(() => import('./discover.ts'), {
      warehouse: 'discoverWarehouses',
      catalog: 'discoverCatalogs',
      schema: 'discoverSchemas',
      table: 'discoverTables',
      volume: 'discoverVolumes',
      keyColumns: 'discoverTargetColumns',
      columns: 'discoverTargetColumns',
    }),
    fields: {
      warehouse: text({
        keepsState: 'pace',
        label: 'Warehouse ID',
        description: 'ID of the SQL warehouse that loads rows',
        required: true,
      }),
      catalog: text({ label: 'Catalog', description: 'Catalog of the table', required: true }),
      schema: text({ label: 'Schema', description: 'Schema of the table', required: true }),
      table: text({ label: 'Table', description: 'Name of the table that rows are written to', required: true }),
      volume: text({
        keepsState: 'transport',
        label: 'Volume',
        description: 'Volume of the same schema that files are uploaded to before they are loaded',
        required: true,
      }),
      ...writeFields(),
      ...createTable,
      ...loadFiles('Databricks', 'Amazon S3, through an external location of Unity Catalog'),
    },
    deliver: warehouseDelivery(50_000, () => import('./write.ts'), {
      loads: warehouseLoads({ schemes: ['s3'], whyNot: () => undefined, whyNotFile }, () => import('./load.ts')),
    }),
  },
  check: async (context) => (await import('./check.ts')).checkDestination(context),
})
