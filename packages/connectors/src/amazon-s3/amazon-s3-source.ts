import { defineConnector, secret, text } from '@penstock/connector'
import { readFields } from '@penstock/connector/files/definition'
import { access } from './access.ts'
import { amazonS3 } from './platform.ts'

/** Files in a bucket of Amazon S3, or of a store that speaks like it. */
export const amazonS3Source = defineConnector({
  slug: 'amazon-s3-source',
  name: 'Amazon S3 Source',
  platform: amazonS3,
  dataType: 'data store',
  dataTypeCategory: 'data store',
  description: 'Reads CSV, NDJSON and Parquet files, compressed with gzip or not, from a bucket of Amazon S3.',
  actions: ['get'],
  notes:
    'Of a prefix, the files right under it are read, in the order of their names; nothing deeper is. All files should have the same columns. A file that is replaced while it is being read ends the transfer. With an endpoint, stores that are compatible with S3 are read as well.',
  tested:
    'An S3 server from npm, fauxqs 2.4.1, behind a proxy that verifies signatures and injects failures; not Amazon S3 itself.',
  secrets: {
    accessKeyId: text({
      label: 'Access key',
      description: 'ID of an IAM access key; permission to read is enough',
      required: true,
    }),
    secretAccessKey: secret({
      label: 'Secret key',
      description: 'Secret that belongs to this access key',
      required: true,
    }),
    ...access,
  },
  source: {
    fields: {
      bucketUri: text({
        label: 'Bucket URI',
        description: 'What to read: an address that starts with s3:// and names a prefix or one object',
        required: true,
      }),
      ...readFields,
    },
    open: async (context) => (await import('./read.ts')).open(context),
  },
  check: async (context) => (await import('./check.ts')).checkSource(context),
})
