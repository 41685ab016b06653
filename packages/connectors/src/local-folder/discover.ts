import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Discovered, DiscoveredPage, DiscoveryContext } from '@penstock/connector'
import { browsed } from '../discovery/browse.ts'
import { asDiskError } from './disk-error.ts'
import { folderOf, followWithin, namesIn } from './paths.ts'

/** Files and folders, one folder at a time: the search up to its last slash is the folder. */
export const discoverFiles = (context: DiscoveryContext): Promise<DiscoveredPage> => browse(context, true)

/** Folders only, to write in. */
export const discoverFolders = (context: DiscoveryContext): Promise<DiscoveredPage> => browse(context, false)

async function browse(context: DiscoveryContext, withFiles: boolean): Promise<DiscoveredPage> {
  const root = await folderOf(context)
  return browsed(context, async (folder) => {
    const names = namesIn(folder, 'The folder')
    try {
      const path = await followWithin(root, join(root, ...names))
      const entries = await readdir(path, { withFileTypes: true })
      const found: Discovered[] = []
      for (const entry of entries) {
        if (entry.name.startsWith('.')) continue
        const kind = entry.isSymbolicLink() ? await kindOfLink(root, join(path, entry.name)) : kindOf(entry)
        if (kind === 'folder') found.push({ value: `${folder}${entry.name}/`, kind })
        if (kind === 'file' && withFiles) found.push({ value: `${folder}${entry.name}`, kind })
      }
      return found
    } catch (error) {
      throw asDiskError(error, folder === '' ? 'The folder' : folder)
    }
  })
}

type Kind = 'file' | 'folder' | undefined

const kindOf = (entry: { isFile(): boolean; isDirectory(): boolean }): Kind =>
  entry.isDirectory() ? 'folder' : entry.isFile() ? 'file' : undefined

/** A link that leads out of the folder, or nowhere, is not listed. */
async function kindOfLink(root: string, path: string): Promise<Kind> {
  try {
    return kindOf(await stat(await followWithin(root, path)))
  } catch {
    return undefined
  }
}
