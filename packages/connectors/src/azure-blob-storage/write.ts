import type { DestinationContext, DestinationWriter } from '@penstock/connector'
import { writeFiles, writeOptionsOf } from '@penstock/connector/files'
import { contentTypeOf, objectNameOf } from '../object-stores/place.ts'
import { azureBlocks } from './azure-blocks.ts'
import { makeAzureClient } from './azure-client.ts'
import { locate } from './container.ts'

/** Opens the blob that this transfer writes. */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const { settings, transferId } = context
  const { container, path } = locate(context, settings.outputPath, 'The output path')
  const client = makeAzureClient(context, container)
  return writeFiles(
    context,
    (extension) => {
      const blob = objectNameOf(path, context, extension, context.test)
      return azureBlocks(client, { blob, contentType: contentTypeOf(extension), transferId })
    },
    { ...writeOptionsOf(settings), gzip: settings.gzipOutput === true },
  )
}
