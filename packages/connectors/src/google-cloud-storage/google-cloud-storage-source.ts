import { defineConnector, secret, text } from '@penstock/connector'
import { readFields } from '@penstock/connector/files/definition'
import { googleCloudStorage } from './platform.ts'

/** Files of a bucket of Google Cloud Storage, read. */
export const googleCloudStorageSource = defineConnector({
  slug: 'google-cloud-storage-source',
  name: 'Google Cloud Storage Source',
  platform: googleCloudStorage,
  dataType: 'data store',
  dataTypeCategory: 'data store',
  description:
    'Reads CSV, JSON, Excel, Parquet, Avro and DuckDB files, compressed with gzip, zstd, bzip2 or not, from a bucket of Google Cloud Storage.',
  actions: ['get'],
  notes:
    'Files in folders below the prefix are skipped. Unless you choose a format, so are files with another extension. Files are read in the order of their names. If an object is replaced while it is being read, the transfer fails.',
  tested:
    'Our own test server, which follows the published rules of Google Cloud Storage; not Google Cloud Storage itself.',
  api: { version: 'Cloud Storage JSON API v1', ends: 'no end is announced' },
  secrets: {
    jsonKey: secret({
      label: 'JSON key',
      description: 'Key file of a service account that may read the bucket, pasted in full',
      required: true,
    }),
  },
  source: {
    fields: {
      bucketUri: text({
        label: 'Bucket URI',
        description: 'What to read: the gs:// address of a prefix or of one object',
        required: true,
      }),
      ...readFields,
    },
    open: async (context) => (await import('./read.ts')).open(context),
    columnsByReading: true,
    offer: async (context) => (await import('./offer.ts')).offer(context),
    discover: {
      bucketUri: async (context) => (await import('./discover.ts')).discover(context, 'bucketUri'),
      sheet: async (context) => (await import('./read.ts')).discoverWorkbook(context),
      columns: async (context) => (await import('./read.ts')).discoverColumns(context),
    },
  },
  check: async (context) => (await import('./check.ts')).checkSource(context),
})
