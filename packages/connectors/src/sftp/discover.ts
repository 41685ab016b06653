import type { Discovered, DiscoveredPage, DiscoveryContext } from '@penstock/connector'
import { browsed } from '../discovery/browse.ts'
import { hostKeyOf } from './host-key.ts'
import { kindOf, listEntries, stat } from './requests.ts'
import { openSession } from './session.ts'
import { join } from './store.ts'

/**
 * Files and directories of the server, one directory at a time. Without a slash in the search, entries of the user's initial
 * directory.
 * @param directoriesOnly for a place to write to
 */
export async function discover(context: DiscoveryContext, directoriesOnly = false): Promise<DiscoveredPage> {
  const session = await openSession(context, hostKeyOf(context.secrets))
  try {
    return await browsed(context, async (folder) => {
      const found: Discovered[] = []
      for await (const { name, attributes } of listEntries(session, folder || '.')) {
        if (name.startsWith('.')) continue
        const value = folder === '' ? name : join(folder, name)
        const isLink = kindOf(attributes) === 'link'
        const target = isLink ? await stat(session, value).catch(() => undefined) : attributes
        const kind = target && kindOf(target)
        if (kind === 'directory') found.push({ value: `${value}/`, kind: 'folder' })
        if (kind === 'file' && !directoriesOnly) found.push({ value, kind: 'file' })
      }
      return found
    })
  } finally {
    session.close()
  }
}
