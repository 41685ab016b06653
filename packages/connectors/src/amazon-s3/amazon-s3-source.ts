import { defineConnector, secret, text } from '@penstock/connector'
import { amazonS3 } from './platform.ts'

/** CSV files in a bucket of Amazon S3. */
export const amazonS3Source = defineConnector({
  slug: 'amazon-s3-source',
  name: 'Amazon S3 Source',
  platform: amazonS3,
  dataType: 'data store',
  dataTypeCategory: 'data store',
  description: 'Reads CSV files, compressed with gzip or not, from a bucket of Amazon S3.',
  actions: ['get'],
  notes:
    'Of a prefix, the CSV files right under it are read, compressed ones among them; nothing deeper is. All files should have the same columns.',
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
  },
  source: {
    fields: {
      bucketUri: text({
        label: 'Bucket URI',
        description: 'What to read: an address that starts with s3:// and names a prefix or one object',
        required: true,
      }),
    },
  },
})
