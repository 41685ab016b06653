import { boolean, defineConnector, text } from '@penstock/connector'
import { fileBatch, writeFields } from '@penstock/connector/files/definition'
import { credentials } from './credentials.ts'
import { azureBlobStorage } from './platform.ts'

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
    'A blob that already has the chosen name is replaced. Where only a prefix is given, the name is made from the time and the ID of the transfer. The blob appears once it is whole. A transfer that is cancelled or fails leaves a blob of the rows that were accepted, unless one of this name is already there; what else it sent vanishes after a week.',
  tested:
    'Microsoft’s own emulator of Azure Storage, azurite 3.33.0, behind a proxy that injects failures; not Azure itself.',
  secrets: {
    ...credentials('create, write, add and list'),
    defaultPath: text({
      label: 'Default path',
      description: 'Prefix for connections that name none of their own',
    }),
  },
  destination: {
    fields: {
      outputPath: text({
        label: 'Output path',
        description:
          'Where the file goes: an https address of a prefix, or the name of a blob; {{date}} becomes the date',
        required: true,
      }),
      fileFormat: writeFields.fileFormat,
      gzipOutput: boolean({
        label: 'GZIP output',
        description: 'Compress the file with gzip; its name then ends in .gz',
      }),
    },
    deliver: {
      batch: fileBatch,
      open: async (context) => (await import('./write.ts')).open(context),
      inspect: async (context) => (await import('./check.ts')).inspect(context),
    },
  },
  check: async (context) => (await import('./check.ts')).checkDestination(context),
})
