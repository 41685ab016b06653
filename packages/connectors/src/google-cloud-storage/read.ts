import type { SourceContext, SourceReader } from '@penstock/connector'
import { readFiles, readOptionsOf } from '@penstock/connector/files'
import { fileStoreOf } from '../object-stores/object-store.ts'
import { placeOf } from '../object-stores/place.ts'
import { makeGcsClient } from './gcs-client.ts'
import { gcsObjects } from './gcs-objects.ts'

/** Opens what the bucket URI means. */
export async function open(context: SourceContext): Promise<SourceReader> {
  const options = readOptionsOf(context.settings)
  const { bucket, path } = placeOf(context.settings.bucketUri, 'gs', 'The bucket URI')
  return readFiles(context, fileStoreOf(gcsObjects(makeGcsClient(context, bucket)), path, options.format), options)
}
