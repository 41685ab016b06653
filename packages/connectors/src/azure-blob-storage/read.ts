import type { SourceContext, SourceReader } from '@penstock/connector'
import { readFiles, readOptionsOf } from '@penstock/connector/files'
import { fileStoreOf } from '../object-stores/object-store.ts'
import { azureBlobs } from './azure-blobs.ts'
import { makeAzureClient } from './azure-client.ts'
import { locate } from './container.ts'

/** Opens what the blob URI means. */
export async function open(context: SourceContext): Promise<SourceReader> {
  const options = readOptionsOf(context.settings)
  const { container, path } = locate(context, context.settings.blobUri, 'The blob URI')
  return readFiles(context, fileStoreOf(azureBlobs(makeAzureClient(context, container)), path, options.format), options)
}
