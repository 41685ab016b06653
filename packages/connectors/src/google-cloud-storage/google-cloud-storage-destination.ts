import { boolean, defineConnector, secret, text } from '@penstock/connector'
import { writeFields } from '@penstock/connector/files/definition'
import { accountFields } from '../google/account-fields.ts'
import { fileDelivery } from '../kit/file-store.ts'
import { googleCloudStorage } from './platform.ts'

const files = () => import('./files.ts')

/** Files in a bucket of Google Cloud Storage. */
export const googleCloudStorageDestination = defineConnector({
  slug: 'google-cloud-storage-destination',
  name: 'Google Cloud Storage Destination',
  platform: googleCloudStorage,
  dataType: 'data store',
  dataTypeCategory: 'data store',
  description: 'Saves the records of a transfer as a file in a bucket of Google Cloud Storage.',
  actions: ['put'],
  notes:
    'An existing object with the same name is replaced. If only a prefix is given, the name consists of the time and the ID of the transfer. The object appears when it is complete. Until then, its parts are stored below .penstock/ next to it, so the service account must be allowed to create, get and delete objects. A transfer that is cancelled or fails leaves an object with the rows that were accepted, with the time and the transfer in its name.',
  tested:
    'Our own test server, which follows the published rules of Google Cloud Storage; not Google Cloud Storage itself. Google’s own client, @google-cloud/storage 8.4.0, understands the server.',
  api: { version: 'Cloud Storage JSON API v1', ends: 'no end is announced' },
  secrets: accountFields(
    secret({
      label: 'JSON key',
      description: 'Key file of a service account that may write to the bucket, pasted in full',
      required: true,
    }),
  ),
  destination: {
    fields: {
      outputPath: text({
        asked: true,
        label: 'Output path',
        description:
          'Where the file is written: a prefix that starts with gs://, or the name of an object; {{date}} is replaced by the date, and {{yyyy}}, {{MM}}, {{dd}}, {{HH}} by its parts',
        required: true,
      }),
      fileFormat: writeFields.fileFormat,
      gzipOutput: boolean({
        keepsState: 'transport',
        label: 'GZIP output',
        description: 'Compress the file with gzip; its name then ends in .gz',
      }),
      columnTypes: writeFields.columnTypes,
      binaryForm: writeFields.binaryForm,
      severalFiles: writeFields.severalFiles,
    },
    deliver: {
      ...fileDelivery(files, () => import('./check.ts')),
      place: async (context) => (await import('./export-place.ts')).exportPlace(context),
    },
    discover: { outputPath: async (context) => (await files()).discover(context, 'outputPath', true) },
  },
  check: async (context) => (await import('./check.ts')).checkDestination(context),
})
