import { defineConnector, secret, text } from '@penstock/connector'
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
    'The service account needs the roles BigQuery Job User and BigQuery Data Viewer. For large tables a staging bucket is advisable; the account then also needs the role Storage Object User.',
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
        description: 'Bucket in Google Cloud Storage through which large results are read',
      }),
    },
  },
})
