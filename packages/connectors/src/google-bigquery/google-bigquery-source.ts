import { defineConnector, number, secret, text } from '@penstock/connector'
import { googleBigQuery } from './platform.ts'

/** The result of a query in BigQuery. */
export const googleBigquerySource = defineConnector({
  slug: 'google-bigquery-source',
  name: 'Google BigQuery Source',
  platform: googleBigQuery,
  dataType: 'data store',
  dataTypeCategory: 'data store',
  description: 'Runs an SQL query of yours in BigQuery and reads the rows that it returns.',
  notes:
    'The service account needs the roles BigQuery Job User and BigQuery Data Viewer. Results are read from BigQuery itself, which keeps them for 24 hours: an interrupted transfer resumes in the same result, and after that time with a new query after the last row. For this all rows are ordered, whatever order the query asks for: by the key columns, or, where none are given, by a digest of each row. BigQuery has limits on how many rows it orders; name key columns and few other columns where there are many.',
  tested:
    'Our own test server, which follows what is published of BigQuery’s REST interface, with DuckDB behind it; not BigQuery itself.',
  secrets: {
    jsonKey: secret({
      label: 'JSON key',
      description: 'Key file of the service account, pasted in full',
      required: true,
    }),
  },
  source: {
    fields: {
      projectId: text({
        label: 'Google project ID',
        description: 'ID of the Google Cloud project in which the dataset is',
        required: true,
      }),
      dataset: text({
        label: 'BigQuery dataset',
        description: 'Name of the dataset in which the table is',
        required: true,
      }),
      table: text({
        label: 'BigQuery table',
        description: 'Name of the table or view that the query mainly reads',
        required: true,
      }),
      sqlQuery: text({
        label: 'SQL query',
        description: 'Query that picks the rows and names the columns to transfer',
        required: true,
      }),
      gcsBucketUri: text({
        label: 'GCS bucket URI',
        description:
          'Bucket in Google Cloud Storage for large results; not used, since results of any size are read from BigQuery',
      }),
      keyColumns: text({
        label: 'Key columns',
        description:
          'Columns of the query that together tell rows apart, separated by commas; rows are read in their order. A digest of each row where none are given',
      }),
      maximumBytesBilled: number({
        label: 'Maximum bytes billed',
        description:
          'How many bytes BigQuery may bill for the query; one that would read more is not run. No limit where none is given',
        min: 1,
      }),
      statementTimeoutSeconds: number({
        label: 'Statement timeout in seconds',
        description: 'How long BigQuery may take for the query before it is cancelled',
        min: 1,
        max: 86_400,
        default: 3600,
      }),
    },
    open: async (context) => (await import('./read.ts')).open(context),
  },
  check: async (context) => (await import('./check.ts')).check(context),
})
