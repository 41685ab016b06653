import { boolean, defineConnector, number, secret, text } from '@penstock/connector'
import { accountFields } from '../google/account-fields.ts'
import { googleBigQuery } from './platform.ts'

/** The result of a query in BigQuery. */
export const googleBigquerySource = defineConnector({
  slug: 'google-bigquery-source',
  name: 'Google BigQuery Source',
  platform: googleBigQuery,
  dataType: 'data store',
  dataTypeCategory: 'data store',
  description: 'Runs your SQL query in BigQuery and reads the rows that it returns.',
  notes:
    'The service account needs the roles BigQuery Job User and BigQuery Data Viewer. BigQuery keeps results for 24 hours. Within that time, an interrupted transfer resumes in the same result; later, it runs a new query and resumes after the last row. For this, all rows are sorted, regardless of the order in the query: by the key columns, or by a digest of each row if none are given. BigQuery limits how many rows it can sort: for a large result, set key columns and select few columns. With Export inside BigQuery, BigQuery writes the rows to Google Cloud Storage itself, unsorted, with times in its own notation; the service account then needs to create, get and delete objects of the bucket, and more than 1 GB becomes several files with numbers.',
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
  source: {
    discover: {
      dataset: async (context) => (await import('./discover.ts')).discoverDatasets(context),
      table: async (context) => (await import('./discover.ts')).discoverTables(context),
      columns: async (context) => (await import('./discover.ts')).discoverColumns(context),
    },
    fields: {
      projectId: text({
        label: 'Google project ID',
        description: 'ID of the Google Cloud project that contains the dataset',
        required: true,
      }),
      dataset: text({
        label: 'BigQuery dataset',
        description: 'Name of the dataset that contains the table',
        required: true,
      }),
      table: text({
        label: 'BigQuery table',
        description: 'Name of the table or view that the query mainly reads',
        required: true,
      }),
      sqlQuery: text({
        label: 'SQL query',
        description: 'Query that selects the rows and columns to transfer',
        required: true,
      }),
      gcsBucketUri: text({
        keepsState: 'transport',
        label: 'GCS bucket URI',
        description: 'Not used, because results of any size are read directly from BigQuery',
      }),
      keyColumns: text({
        label: 'Key columns',
        description:
          'Columns of the query that together identify a row, separated by commas. Rows are read in this order. By default a hash of each row',
      }),
      maximumBytesBilled: number({
        keepsState: 'pace',
        label: 'Maximum bytes billed',
        description: 'Maximum bytes that BigQuery bills for a query. By default no limit',
        min: 1,
      }),
      statementTimeoutSeconds: number({
        keepsState: 'pace',
        label: 'Statement timeout in seconds',
        description: 'How long the query may take before it is cancelled',
        min: 1,
        max: 86_400,
        default: 3600,
      }),
      exportFiles: boolean({
        keepsState: 'transport',
        label: 'Export inside BigQuery',
        description:
          'BigQuery writes the rows to Google Cloud Storage directly, with its own service account. Rows still pass through Penstock if it must process them, such as for a mapping',
        default: false,
      }),
    },
    exports: {
      schemes: ['gs'],
      isWanted: ({ exportFiles }) => exportFiles === true,
      open: async (context) => (await import('./export.ts')).openExporter(context),
    },
    open: async (context) => (await import('./read.ts')).open(context),
  },
  check: async (context) => (await import('./check.ts')).check(context),
})
