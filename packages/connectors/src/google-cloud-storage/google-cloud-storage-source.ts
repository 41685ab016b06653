import { defineConnector, secret, text } from '@penstock/connector'
import { googleCloudStorage } from './platform.ts'

/** CSV files of a bucket of Google Cloud Storage, read. */
export const googleCloudStorageSource = defineConnector({
  slug: 'google-cloud-storage-source',
  name: 'Google Cloud Storage Source',
  platform: googleCloudStorage,
  dataType: 'data store',
  dataTypeCategory: 'data store',
  description: 'Reads CSV files, compressed with gzip or not, from a bucket of Google Cloud Storage.',
  actions: ['get'],
  notes: 'Files in folders below the prefix are left out, and so is whatever does not end in .csv or .csv.gz.',
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
        description: 'What to read: an address that starts with gs:// and names a prefix or one object',
        required: true,
      }),
    },
  },
})
