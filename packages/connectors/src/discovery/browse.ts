import type { Discovered, DiscoveredPage, DiscoveryContext } from '@penstock/connector'
import { pageIn, windowOf } from './pages.ts'

/**
 * Browses a tree of folders. The search up to its last slash is the folder whose entries are listed, and the rest is searched
 * in their names. Folders come first.
 * @param list returns the entries of a folder, which is empty or ends with a slash; their values begin with it, and values of
 * folders end with a slash
 */
export async function browsed(
  context: DiscoveryContext,
  list: (folder: string) => Promise<readonly Discovered[]>,
): Promise<DiscoveredPage> {
  const window = windowOf(context)
  const slash = context.search.lastIndexOf('/') + 1
  const folder = context.search.slice(0, slash)
  const wanted = context.search.slice(slash).toLowerCase()
  const found = (await list(folder)).filter(({ value }) => value.slice(folder.length).toLowerCase().includes(wanted))
  const rank = ({ kind }: Discovered) => (kind === 'folder' ? 0 : 1)
  const sorted = [...found].sort((a, b) => rank(a) - rank(b) || (a.value < b.value ? -1 : 1))
  return pageIn(sorted.slice(window.offset, window.offset + window.limit), window)
}
