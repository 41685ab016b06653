import type { DiscoveredPage, DiscoveryContext } from '@penstock/connector'
import { addressIn, discoverObjects } from '../object-stores/discover.ts'
import { placeOf } from '../object-stores/place.ts'
import { makeGcsClient } from './gcs-client.ts'
import { gcsObjects } from './gcs-objects.ts'

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
  const { bucket, path } = placeOf(addressIn(context, setting, 'gs://'), 'gs', 'The address')
  const store = gcsObjects(makeGcsClient(context, bucket))
  return discoverObjects(context, store, path, (name) => `gs://${bucket}/${name}`, foldersOnly)
}
