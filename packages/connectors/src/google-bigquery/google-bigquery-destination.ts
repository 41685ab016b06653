import { defineConnector, secret, text } from '@penstock/connector'
import { accountFields } from '../google/account-fields.ts'
import {
  createTable,
  listsOf,
  loadFiles,
  warehouseDelivery,
  warehouseLoads,
  writeFields,
} from '../kit/warehouse/definition.ts'
import { whyNotFile } from './load-limits.ts'
import { googleBigQuery } from './platform.ts'

/** Rows for a table of BigQuery. */
export const googleBigqueryDestination = defineConnector({
  slug: 'google-bigquery-destination',
  name: 'Google BigQuery Data Store',
  platform: googleBigQuery,
  dataType: 'data store',
  dataTypeCategory: 'data store',
  description:
    'Writes rows to a BigQuery table: appends them, replaces the existing ones, or updates rows by their key.',
  actions: ['append', 'replace', 'update'],
  notes:
    'Rows are loaded with load jobs, which BigQuery does not bill. Each batch has up to 50,000 rows or 16 MiB. The ID of a job follows from its rows, so that a batch which comes twice is loaded once. BigQuery allows about 1,500 loads per table and day. Replace empties the table before the first rows are loaded. Upsert loads each batch into a table penstock_staging_… of the same dataset, which is deleted after the MERGE or expires after 7 days; if a batch has several rows with the same key, the last one wins. Rows that a report does not have any more are deleted, by the same MERGE or by a DELETE after the last batch of their days. Rows that the source has removed are deleted by the MERGE, and the table can be a mirror of the source (Rows to send: Mirror). Replace and Upsert run SQL, which needs a project with billing, and BigQuery bills a MERGE for the bytes that it reads: the whole table, unless its partitions or clusters follow the key. A table that requires a partition filter cannot be upserted. The service account needs the roles BigQuery Job User, and BigQuery Data Editor on the dataset. Times are written in UTC. A value that a column would round, shorten or interpret differently is rejected. Lists and records are written from JSON. With Load files inside BigQuery (Append and Replace), BigQuery loads CSV files of Google Cloud Storage itself into tables penstock_load_… of the same dataset, which are deleted afterwards or expire after 7 days, and writes their rows by one INSERT, or one MERGE for Replace; rows pass Penstock only if they are rejected. For this, the service account also needs Storage Object Viewer on the bucket, which must be in the location of the dataset, and BigQuery bills the statements for the bytes of the loaded rows. Compared with a worker, numbers with an exponent in columns of integers and decimals, and values with the replacement character U+FFFD, are rejected.',
  tested:
    'Our own test server, which follows the published documentation of BigQuery’s REST interface, with DuckDB behind it; not BigQuery itself. Google’s own client, @google-cloud/bigquery 9.3.0, understands the server. No one else has checked the SQL.',
  api: { version: 'BigQuery API v2', ends: 'no end is announced' },
  secrets: accountFields(
    secret({
      label: 'JSON key',
      description: 'Key file of the service account, pasted in full',
      required: true,
    }),
  ),
  destination: {
    discover: listsOf(() => import('./discover.ts'), {
      dataset: 'discoverDatasets',
      table: 'discoverTables',
      keyColumns: 'discoverTargetColumns',
      columns: 'discoverTargetColumns',
    }),
    fields: {
      projectId: text({
        label: 'Google project ID',
        description: 'ID of the Google Cloud project in which jobs run, and which contains the dataset',
        required: true,
      }),
      dataset: text({
        label: 'BigQuery dataset',
        description:
          'Name of the dataset that contains the table, with the project in front if it belongs to another project',
        required: true,
      }),
      table: text({
        label: 'BigQuery table',
        description: 'Name of the table that rows are written to',
        required: true,
      }),
      ...writeFields(),
      ...createTable,
      ...loadFiles('BigQuery', 'Google Cloud Storage'),
    },
    deliver: warehouseDelivery(50_000, () => import('./write.ts'), {
      notesBatches: true,
      loads: warehouseLoads(
        {
          schemes: ['gs'],
          whyNot: ({ settings }) => (settings.writeMode === 'Upsert' ? 'Upsert needs the keys of the rows' : undefined),
          whyNotFile,
        },
        () => import('./load.ts'),
      ),
    }),
  },
  check: async (context) => (await import('./check.ts')).checkDestination(context),
})
