import { boolean, type Discover, defineConnector, secret, select, text } from '@penstock/connector'
import { windowKeys } from '../databases/fields.ts'
import { whyNotFile } from './load-limits.ts'
import { googleBigQuery } from './platform.ts'

const columns: Discover = async (context) => (await import('./discover.ts')).discoverTargetColumns(context)

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
    'Our own test server, which follows the published documentation of BigQuery’s REST interface, with DuckDB behind it; not BigQuery itself.',
  api: { version: 'BigQuery API v2', ends: 'no end is announced' },
  secrets: {
    jsonKey: secret({
      label: 'JSON key',
      description: 'Key file of the service account, pasted in full',
      required: true,
    }),
  },
  destination: {
    discover: {
      dataset: async (context) => (await import('./discover.ts')).discoverDatasets(context),
      table: async (context) => (await import('./discover.ts')).discoverTables(context),
      keyColumns: columns,
      columns,
    },
    fields: {
      projectId: text({
        label: 'Google project ID',
        description: 'ID of the Google Cloud project in which jobs run, and which contains the dataset',
        required: true,
      }),
      dataset: text({
        label: 'BigQuery dataset',
        description: 'Name of the dataset that contains the table; with the project before it, if it is of another one',
        required: true,
      }),
      table: text({
        label: 'BigQuery table',
        description: 'Name of the table that rows are written to',
        required: true,
      }),
      writeMode: select({
        label: 'Write mode',
        description: 'Whether rows are added, replace the content of the table, or replace the rows with the same key',
        options: ['Append', 'Replace', 'Upsert'],
        default: 'Append',
      }),
      keyColumns: text({
        label: 'Key columns',
        description: 'Columns that identify a row, separated by commas',
        required: true,
        when: { writeMode: 'Upsert' },
      }),
      createTable: boolean({
        label: 'Create table',
        description: 'Whether a missing table is created, with text columns',
        default: false,
      }),
      loadFiles: boolean({
        label: 'Load files inside BigQuery',
        description:
          'Whether BigQuery itself loads CSV and Parquet files from Google Cloud Storage; rows pass Penstock if the connection needs what only Penstock does, such as hashing',
        default: false,
      }),
    },
    deliver: {
      batch: () => ({ rowsMax: 50_000, bytesMax: 16 << 20 }),
      windowKeys,
      removesBy: windowKeys,
      replaces: (settings) => settings.writeMode === 'Replace',
      open: async (context) => (await import('./write.ts')).open(context),
      inspect: async (context) => (await import('./write.ts')).inspect(context),
      tryRows: async (context) => (await import('./write.ts')).tryRows(context),
      loads: {
        schemes: ['gs'],
        isWanted: ({ loadFiles }) => loadFiles === true,
        whyNot: ({ settings }) => (settings.writeMode === 'Upsert' ? 'Upsert needs the keys of the rows' : undefined),
        whyNotFile,
        whyNotTable: async (context) => (await import('./load.ts')).whyNotTable(context),
        open: async (context) => (await import('./load.ts')).openLoader(context),
      },
    },
  },
  check: async (context) => (await import('./check.ts')).checkDestination(context),
})
