import type { ConnectorContext, FileOffer } from '@penstock/connector'
import { readOptionsOf } from '@penstock/connector/files'
import { offerFiles } from '../object-stores/offer.ts'
import { placeOf } from '../object-stores/place.ts'
import { makeGcsClient } from './gcs-client.ts'
import { gcsObjects } from './gcs-objects.ts'

/** Offers what the bucket URI means. The versions of the files are their generations. */
export async function offer(context: ConnectorContext): Promise<FileOffer | { readonly whyNot: string }> {
  const { settings, signal } = context
  if (readOptionsOf(settings).onlyNew) return { whyNot: 'only new and changed files are read' }
  const place = placeOf(settings.bucketUri, 'gs', 'The bucket URI')
  const store = gcsObjects(makeGcsClient(context, place.bucket))
  return offerFiles(store, { ...place, scheme: 'gs' }, readOptionsOf(settings), signal)
}
