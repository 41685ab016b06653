import { type Discover, defineConnector, number, text } from '@penstock/connector'
import { backfillByCursor, keyOrDigest, lagOfClock, tableSourceFields } from '../databases/fields.ts'
import { databricks } from './platform.ts'
import { signIn } from './sign-in.ts'

const columns: Discover = async (context) => (await import('./discover.ts')).discoverSourceColumns(context)
const ofTable = { dataSourceType: 'Table Reference' }

/** Rows from a table, a view or a query of Databricks. */
export const databricksSource = defineConnector({
  slug: 'databricks-source',
  name: 'Databricks Source',
  platform: databricks,
  dataType: 'data store',
  dataTypeCategory: 'data store',
  description: 'Reads rows from a table, a view or a query of Databricks.',
  actions: ['read'],
  notes:
    'The user needs CAN USE on the warehouse, USE CATALOG and USE SCHEMA, and SELECT on the table. A warehouse that was stopped starts, which takes minutes, and is billed. Rows come from the cloud storage of the workspace, at signed addresses that are valid for minutes: the service must be able to reach it. Databricks keeps results for about an hour. Within that time, an interrupted transfer resumes in the same result; later, it runs a new statement and resumes after the last row. For this, all rows are sorted, by the key columns or by a digest of each row: set key columns for large tables. For an incremental transfer, the cursor is a time, a day or an exact number; rows without a value in it are not read, and a day is read once it is over. Times with a zone are read in UTC.',
  tested:
    'Our own test server, which follows the published documentation of Databricks’ REST interface, with DuckDB behind it; not Databricks itself. No one else has checked the server, because Databricks’ own client speaks another protocol.',
  api: { version: 'SQL Statement Execution API 2.0 and Unity Catalog API 2.1', ends: 'no end is announced' },
  secrets: signIn,
  source: {
    discover: {
      warehouse: async (context) => (await import('./discover.ts')).discoverWarehouses(context),
      catalog: async (context) => (await import('./discover.ts')).discoverCatalogs(context),
      schema: async (context) => (await import('./discover.ts')).discoverSchemas(context),
      table: async (context) => (await import('./discover.ts')).discoverTables(context),
      keyColumns: columns,
      markerColumn: columns,
      columns,
    },
    fields: {
      warehouse: text({
        keepsState: 'pace',
        label: 'Warehouse ID',
        description: 'ID of the SQL warehouse that reads rows',
        required: true,
      }),
      catalog: text({ label: 'Catalog', description: 'Catalog of the table or view', required: true, when: ofTable }),
      schema: text({ label: 'Schema', description: 'Schema of the table or view', required: true, when: ofTable }),
      ...tableSourceFields({ schemas: false }),
      keyColumns: keyOrDigest,
      lagSeconds: lagOfClock,
      statementTimeoutSeconds: number({
        keepsState: 'pace',
        label: 'Statement timeout in seconds',
        description: 'How long a statement may take before it is cancelled',
        min: 1,
        max: 86_400,
        default: 3600,
      }),
    },
    backfill: backfillByCursor,
    open: async (context) => (await import('./read.ts')).open(context),
  },
  check: async (context) => (await import('./check.ts')).checkSource(context),
})
