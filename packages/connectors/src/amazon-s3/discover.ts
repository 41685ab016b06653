import type { DiscoveredPage, DiscoveryContext } from '@penstock/connector'
import { addressIn, discoverObjects } from '../object-stores/discover.ts'
import { placeOf } from '../object-stores/place.ts'
import { makeS3Client } from './s3-client.ts'
import { s3Objects } from './s3-objects.ts'

/**
 * Folders and objects of the bucket whose address is searched for, or is set.
 * @param setting the one that has an address
 * @param foldersOnly for a place to write to
 */
export async function discover(
  context: DiscoveryContext,
  setting: string,
  foldersOnly = false,
): Promise<DiscoveredPage> {
  const { bucket, path } = placeOf(addressIn(context, setting, 's3://'), 's3', 'The address')
  const store = s3Objects(makeS3Client(context), bucket)
  return discoverObjects(context, store, path, (name) => `s3://${bucket}/${name}`, foldersOnly)
}
