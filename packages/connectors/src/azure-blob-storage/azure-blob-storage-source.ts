import { defineConnector, text } from '@penstock/connector'
import { fileSource } from '../kit/file-store.ts'
import { credentials } from './credentials.ts'
import { azureBlobStorage } from './platform.ts'

const files = () => import('./files.ts')

/** Files of a container of Azure Blob Storage, read. */
export const azureBlobStorageSource = defineConnector({
  slug: 'azure-blob-storage-source',
  name: 'Azure Blob Storage Source',
  platform: azureBlobStorage,
  dataType: 'data store',
  dataTypeCategory: 'data store',
  description:
    'Reads CSV, JSON, Excel, Parquet, Avro and DuckDB files, compressed with gzip, zstd, bzip2 or not, from a container of Azure Blob Storage.',
  actions: ['get'],
  notes:
    'For a folder, only the files directly in it are read, in the order of their names. Unless you choose a format, files with another extension are skipped. If a blob is replaced while it is being read, the transfer fails.',
  tested:
    'Microsoft’s own emulator of Azure Storage, azurite 3.33.0, behind a proxy that injects failures; not Azure itself.',
  api: { version: 'Blob service REST API 2023-11-03', ends: 'no end is announced' },
  secrets: credentials('read and list'),
  source: fileSource(
    files,
    {
      blobUri: text({
        label: 'Blob URI',
        description: 'https address of the folder prefix or blob to read',
        required: true,
      }),
    },
    { blobUri: async (context) => (await files()).discover(context, 'blobUri') },
  ),
  check: async (context) => (await import('./check.ts')).checkSource(context),
})
