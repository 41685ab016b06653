import { defineConnector, text } from '@penstock/connector'
import { credentials } from './credentials.ts'
import { azureBlobStorage } from './platform.ts'

/** CSV files of a container of Azure Blob Storage, read. */
export const azureBlobStorageSource = defineConnector({
  slug: 'azure-blob-storage-source',
  name: 'Azure Blob Storage Source',
  platform: azureBlobStorage,
  dataType: 'data store',
  dataTypeCategory: 'data store',
  description: 'Reads CSV files, compressed with gzip or not, from a container of Azure Blob Storage.',
  actions: ['get'],
  notes: 'Of a folder, only files right inside it are read, and only those that end in .csv or .csv.gz.',
  secrets: credentials('read and list'),
  source: {
    fields: {
      blobUri: text({
        label: 'Blob URI',
        description: 'What to read: the https address of a folder prefix or of one blob',
        required: true,
      }),
    },
  },
})
