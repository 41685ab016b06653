import type { DiscoveredPage, DiscoveryContext } from '@penstock/connector'
import { discoverObjects } from '../object-stores/discover.ts'
import { openDropbox } from './dropbox-client.ts'
import { dropboxFiles } from './dropbox-files.ts'
import { pathIn } from './paths.ts'

/**
 * Folders and files whose paths begin with what is searched for, or with what is set.
 * @param setting the one that has a path
 * @param foldersOnly for a place to write to
 */
export const discover = (context: DiscoveryContext, setting: string, foldersOnly = false): Promise<DiscoveredPage> =>
  discoverObjects(
    context,
    dropboxFiles(openDropbox(context)),
    pathIn(context.search || context.settings[setting]),
    (name) => `/${name}`,
    foldersOnly,
  )
