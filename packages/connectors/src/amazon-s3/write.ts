import type { DestinationContext, DestinationWriter } from '@penstock/connector'
import { writeFiles, writeOptionsOf } from '@penstock/connector/files'
import { contentTypeOf, objectNameOf, placeOf } from '../object-stores/place.ts'
import { makeS3Client } from './s3-client.ts'
import { encryptionOf, s3Upload } from './s3-upload.ts'

/** Opens the object that this transfer writes; each transfer has its own. */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const { transferId } = context
  const { bucket, path } = placeOf(context.settings.outputPath, 's3', 'The output path')
  const client = makeS3Client(context)
  const encryption = encryptionOf(context.settings)
  return writeFiles(
    context,
    (extension) => {
      const key = objectNameOf(path, context, extension, true)
      return s3Upload(client, { bucket, key, contentType: contentTypeOf(extension), transferId, encryption })
    },
    writeOptionsOf(context.settings),
  )
}
