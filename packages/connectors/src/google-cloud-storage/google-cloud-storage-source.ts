import { defineConnector, secret, text } from '@penstock/connector'
import { accountFields } from '../google/account-fields.ts'
import { fileSource } from '../kit/file-store.ts'
import { googleCloudStorage } from './platform.ts'

const files = () => import('./files.ts')

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
    'Our own test server, which follows the published rules of Google Cloud Storage; not Google Cloud Storage itself. Google’s own client, @google-cloud/storage 8.4.0, understands the server.',
  api: { version: 'Cloud Storage JSON API v1', ends: 'no end is announced' },
  secrets: accountFields(
    secret({
      label: 'JSON key',
      description: 'Key file of a service account that may read the bucket, pasted in full',
      required: true,
    }),
  ),
  source: {
    ...fileSource(
      files,
      {
        bucketUri: text({
          label: 'Bucket URI',
          description: 'gs:// address of the prefix or object to read',
          required: true,
        }),
      },
      { bucketUri: async (context) => (await files()).discover(context, 'bucketUri') },
    ),
    offer: async (context) => (await files()).offer(context),
  },
  check: async (context) => (await import('./check.ts')).checkSource(context),
})
