import { fileStore } from '../object-stores/file-store.ts'
import { encodeName } from '../object-stores/place.ts'
import { azureBlobs } from './azure-blobs.ts'
import { azureBlocks } from './azure-blocks.ts'
import { makeAzureClient } from './azure-client.ts'
import { locate } from './container.ts'

export const { open, write, discover, discoverColumns, discoverWorkbook } = fileStore({
  reads: { setting: 'blobUri', label: 'The blob URI' },
  scheme: 'http',
  client(context, address, label) {
    const { container, path } = locate(context, address, label)
    const client = makeAzureClient(context, container)
    const addressOf = (name: string) => `${container.service}/${container.name}/${encodeName(name)}`
    return { client, objects: azureBlobs(client), bucket: container.name, path, addressOf }
  },
  sink: ({ client }, { name: blob, contentType, transferId }) => azureBlocks(client, { blob, contentType, transferId }),
})
