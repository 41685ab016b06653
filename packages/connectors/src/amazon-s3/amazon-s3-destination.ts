import { defineConnector, secret, select, text } from '@penstock/connector'
import { fileBatch, writeFields } from '@penstock/connector/files/definition'
import { access } from './access.ts'
import { amazonS3 } from './platform.ts'

/** Files in a bucket of Amazon S3, or of a store with the same API. Each transfer writes a complete file. */
export const amazonS3Destination = defineConnector({
  slug: 'amazon-s3-destination',
  name: 'Amazon S3 Destination',
  platform: amazonS3,
  dataType: 'data store',
  dataTypeCategory: 'data store',
  description: 'Saves the records of a transfer as files in a bucket of Amazon S3.',
  actions: ['put', 'upload'],
  notes:
    'Every transfer makes a new object and leaves earlier ones alone: the time and the transfer are part of its name. It appears once it is whole; a transfer that is cancelled or fails leaves an object of the rows that were accepted. {{date}} in the path becomes the day of the run. A rule of the bucket that ends incomplete uploads after some days keeps the remains of broken runs from costing money.',
  tested:
    'An S3 server from npm, fauxqs 2.4.1, behind a proxy that verifies signatures and injects failures; not Amazon S3 itself.',
  secrets: {
    accessKeyId: text({
      label: 'Access key ID',
      description: 'ID of an IAM access key that may write to the bucket',
      required: true,
    }),
    secretAccessKey: secret({
      label: 'Secret access key',
      description: 'Secret that AWS showed once, when this access key was created',
      required: true,
    }),
    ...access,
  },
  destination: {
    fields: {
      outputPath: text({
        label: 'Output path',
        description: 'Where the file goes: an address that starts with s3:// and names a prefix or one object',
        required: true,
      }),
      fileFormat: select({
        label: 'File format',
        description: 'Format in which the file is written',
        options: ['CSV', 'NDJSON', 'Parquet'],
        required: true,
        default: 'CSV',
      }),
      gzip: writeFields.gzip,
    },
    deliver: {
      batch: fileBatch,
      open: async (context) => (await import('./write.ts')).open(context),
      inspect: async (context) => (await import('./check.ts')).inspect(context),
    },
  },
  check: async (context) => (await import('./check.ts')).checkDestination(context),
})
