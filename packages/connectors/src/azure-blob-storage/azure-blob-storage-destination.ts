import { boolean, defineConnector, text } from '@penstock/connector'
import { writeFields } from '@penstock/connector/files/definition'
import { fileDelivery } from '../kit/file-store.ts'
import { credentials } from './credentials.ts'
import { azureBlobStorage } from './platform.ts'

const files = () => import('./files.ts')

/** Files in a container of Azure Blob Storage. */
export const azureBlobStorageDestination = defineConnector({
  slug: 'azure-blob-storage-destination',
  name: 'Azure Blob Storage Destination',
  platform: azureBlobStorage,
  dataType: 'data store',
  dataTypeCategory: 'data store',
  description: 'Saves the records of a transfer as a file in a container of Azure Blob Storage.',
  actions: ['put'],
  notes:
    'An existing blob with the same name is replaced. If only a prefix is given, the name consists of the time and the ID of the transfer. The blob appears when it is complete. A transfer that is cancelled or fails leaves a blob with the rows that were accepted, unless a blob with this name already exists. Azure removes everything else that it sent after a week.',
  tested:
    'Microsoft’s own emulator of Azure Storage, azurite 3.33.0, behind a proxy that injects failures; not Azure itself.',
  api: { version: 'Blob service REST API 2023-11-03', ends: 'no end is announced' },
  secrets: {
    ...credentials('create, write, add and list'),
    defaultPath: text({
      label: 'Default path',
      description: 'Prefix for connections without their own',
    }),
  },
  destination: {
    fields: {
      outputPath: text({
        asked: true,
        label: 'Output path',
        description:
          'Where the file is written: the https address of a prefix, or the name of a blob; {{date}} is replaced by the date, and {{yyyy}}, {{MM}}, {{dd}}, {{HH}} by its parts',
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
    deliver: fileDelivery(files, () => import('./check.ts')),
    discover: { outputPath: async (context) => (await files()).discover(context, 'outputPath', true) },
  },
  check: async (context) => (await import('./check.ts')).checkDestination(context),
})
