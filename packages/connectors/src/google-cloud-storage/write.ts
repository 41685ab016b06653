import type { DestinationContext, DestinationWriter } from '@penstock/connector'
import { writeFiles, writeOptionsOf } from '@penstock/connector/files'
import { contentTypeOf, objectNameOf, placeOf } from '../object-stores/place.ts'
import { makeGcsClient } from './gcs-client.ts'
import { gcsCompose } from './gcs-compose.ts'

/** Opens the object that this transfer writes. */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const { settings, transferId } = context
  const { bucket, path } = placeOf(settings.outputPath, 'gs', 'The output path')
  const client = makeGcsClient(context, bucket)
  return writeFiles(
    context,
    (extension) => {
      const name = objectNameOf(path, context, extension, context.test)
      const abortedName = objectNameOf(path, context, extension, true)
      return gcsCompose(client, { name, abortedName, contentType: contentTypeOf(extension), transferId })
    },
    { ...writeOptionsOf(settings), gzip: settings.gzipOutput === true },
  )
}
