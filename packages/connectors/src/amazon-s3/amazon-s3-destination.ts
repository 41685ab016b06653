import { defineConnector, secret, select, text } from '@penstock/connector'
import { writeFields } from '@penstock/connector/files/definition'
import { fileDelivery } from '../kit/file-store.ts'
import { encryption, signIn } from './access.ts'
import { amazonS3 } from './platform.ts'

const files = () => import('./files.ts')

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
    'Every transfer creates a new object and does not change earlier ones: the name contains the time and the transfer. The object appears when it is complete. A transfer that is cancelled or fails leaves an object with the rows that were accepted. {{date}} in the path is replaced by the date of the transfer, and {{yyyy}}, {{MM}}, {{dd}}, {{HH}} by its parts. Add a lifecycle rule to the bucket that removes incomplete uploads after some days, so that interrupted transfers do not incur costs. If Redshift writes the files itself, they are in a folder of the transfer with a manifest, which the access key must be allowed to read (s3:GetObject and s3:ListBucket).',
  tested:
    'An S3 server from npm, fauxqs 2.4.1, behind a proxy that verifies signatures and injects failures; not Amazon S3 itself. The client of AWS, @aws-sdk/client-s3 3.1169.0, passes the verification.',
  api: { version: 'Amazon S3 REST API of 1 March 2006', ends: 'no end is announced' },
  secrets: signIn({
    accessKeyId: text({
      keepsState: 'credential',
      label: 'Access key ID',
      description: 'ID of an IAM access key that may write to the bucket',
      required: true,
    }),
    secretAccessKey: secret({
      label: 'Secret access key',
      description: 'Secret that AWS showed once when the access key was created',
      required: true,
    }),
  }),
  destination: {
    fields: {
      outputPath: text({
        asked: true,
        label: 'Output path',
        description: 's3:// address of the prefix or object to write',
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
      columnTypes: writeFields.columnTypes,
      binaryForm: writeFields.binaryForm,
      severalFiles: writeFields.severalFiles,
      ...encryption,
    },
    deliver: {
      ...fileDelivery(files, () => import('./check.ts')),
      place: async (context) => (await import('./export-place.ts')).exportPlace(context),
    },
    discover: { outputPath: async (context) => (await files()).discover(context, 'outputPath', true) },
  },
  check: async (context) => (await import('./check.ts')).checkDestination(context),
})
