import type { Discovered, DiscoveredPage, DiscoveryContext } from '@penstock/connector'
import { fileOf } from './listing.ts'
import type { ObjectStore } from './object-store.ts'

/**
 * The address that a discovery begins with: the search, if it is an address, otherwise the setting.
 * @param scheme the beginning of an address, such as `s3://`; if it is empty, any text is an address
 */
export const addressIn = ({ search, settings }: DiscoveryContext, setting: string, scheme: string): string =>
  search !== '' && search.toLowerCase().startsWith(scheme) ? search : `${settings[setting] ?? ''}`

/**
 * Folders and objects whose names begin with a path: the stores find no other part of a name. Folders come first.
 * @param addressOf the value of the setting for a name
 * @param foldersOnly for a place to write to
 */
export async function discoverObjects(
  { cursor, size }: DiscoveryContext,
  store: ObjectStore,
  path: string,
  addressOf: (name: string) => string,
  foldersOnly = false,
): Promise<DiscoveredPage> {
  const { files, folders = [], next } = await store.page(path, cursor, size)
  const items: Discovered[] = folders.map((name) => ({ value: addressOf(name), kind: 'folder' }))
  if (!foldersOnly) {
    for (const file of files) {
      // Stores show folders that were made by hand as an object without a name behind the slash.
      if (!file.name.endsWith('/')) items.push({ value: addressOf(fileOf('The store', file).name), kind: 'file' })
    }
  }
  return { items, next: next || undefined }
}
