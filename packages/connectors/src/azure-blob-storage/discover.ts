import type { DiscoveredPage, DiscoveryContext } from '@penstock/connector'
import { addressIn, discoverObjects } from '../object-stores/discover.ts'
import { encodeName } from '../object-stores/place.ts'
import { azureBlobs } from './azure-blobs.ts'
import { makeAzureClient } from './azure-client.ts'
import { locate } from './container.ts'

/**
 * Folders and blobs of the container whose address is searched for, or is set.
 * @param setting the one that has an address
 * @param foldersOnly for a place to write to
 */
export async function discover(
  context: DiscoveryContext,
  setting: string,
  foldersOnly = false,
): Promise<DiscoveredPage> {
  const { container, path } = locate(context, addressIn(context, setting, 'http'), 'The address')
  const store = azureBlobs(makeAzureClient(context, container))
  const address = `${container.service}/${container.name}`
  return discoverObjects(context, store, path, (name) => `${address}/${encodeName(name)}`, foldersOnly)
}
