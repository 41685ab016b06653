import type { SourceContext, SourceReader } from '@penstock/connector'
import { readFiles, readOptionsOf } from '@penstock/connector/files'
import { fileStoreOf } from '../object-stores/object-store.ts'
import { placeOf } from '../object-stores/place.ts'
import { makeS3Client } from './s3-client.ts'
import { s3Objects } from './s3-objects.ts'

/** Opens what the bucket URI means. */
export async function open(context: SourceContext): Promise<SourceReader> {
  const options = readOptionsOf(context.settings)
  const { bucket, path } = placeOf(context.settings.bucketUri, 's3', 'The bucket URI')
  return readFiles(context, fileStoreOf(s3Objects(makeS3Client(context), bucket), path, options.format), options)
}
