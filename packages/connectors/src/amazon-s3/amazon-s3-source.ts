import { defineConnector, secret, text } from '@penstock/connector'
import { fileSource } from '../kit/file-store.ts'
import { signIn } from './access.ts'
import { amazonS3 } from './platform.ts'

const files = () => import('./files.ts')

/** Files in a bucket of Amazon S3, or of a store that speaks like it. */
export const amazonS3Source = defineConnector({
  slug: 'amazon-s3-source',
  name: 'Amazon S3 Source',
  platform: amazonS3,
  dataType: 'data store',
  dataTypeCategory: 'data store',
  description:
    'Reads CSV, JSON, Excel, Parquet, Avro and DuckDB files, compressed with gzip, zstd, bzip2 or not, from a bucket of Amazon S3.',
  actions: ['get'],
  notes:
    'For a prefix, the files directly below it are read in the order of their names; files in deeper folders are not. All files should have the same columns. If a file is replaced while it is being read, the transfer fails. Set an endpoint to read from another store that is compatible with S3.',
  tested:
    'An S3 server from npm, fauxqs 2.4.1, behind a proxy that verifies signatures and injects failures; not Amazon S3 itself. The client of AWS, @aws-sdk/client-s3 3.1169.0, passes the verification.',
  api: { version: 'Amazon S3 REST API of 1 March 2006', ends: 'no end is announced' },
  secrets: signIn({
    accessKeyId: text({
      keepsState: 'credential',
      label: 'Access key',
      description: 'ID of an IAM access key; permission to read is enough',
      required: true,
    }),
    secretAccessKey: secret({
      label: 'Secret key',
      description: 'Secret that belongs to this access key',
      required: true,
    }),
  }),
  source: {
    ...fileSource(
      files,
      {
        bucketUri: text({
          label: 'Bucket URI',
          description: 's3:// address of the prefix or object to read',
          required: true,
        }),
      },
      { bucketUri: async (context) => (await files()).discover(context, 'bucketUri') },
    ),
    offer: async (context) => (await files()).offer(context),
  },
  check: async (context) => (await import('./check.ts')).checkSource(context),
})
