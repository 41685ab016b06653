import type { ConnectorContext, FileOffer } from '@penstock/connector'
import { readOptionsOf } from '@penstock/connector/files'
import { offerFiles } from '../object-stores/offer.ts'
import { placeOf } from '../object-stores/place.ts'
import { makeS3Client } from './s3-client.ts'
import { s3Objects } from './s3-objects.ts'

/** Offers what the bucket URI means. A store at another endpoint has addresses that only a worker knows. */
export async function offer(context: ConnectorContext): Promise<FileOffer | { readonly whyNot: string }> {
  const { settings, secrets, signal } = context
  if (secrets.endpoint) return { whyNot: 'the bucket is at an endpoint of its own, and not in Amazon S3' }
  if (readOptionsOf(settings).onlyNew) return { whyNot: 'only new and changed files are read' }
  const place = placeOf(settings.bucketUri, 's3', 'The bucket URI')
  const store = s3Objects(makeS3Client(context), place.bucket)
  return offerFiles(store, { ...place, scheme: 's3' }, readOptionsOf(settings), signal)
}
