import { realpath, stat } from 'node:fs/promises'
import { dirname, isAbsolute, join, sep } from 'node:path'
import { type ConnectorContext, ConnectorError } from '@penstock/connector'
import { asDiskError } from './disk-error.ts'

/**
 * Restricts paths to the folders that the operator allows. Every path is resolved before it is used, so that no
 * symbolic link leads outside.
 */

/** The connector's folder, as the path that it really has. */
export async function folderOf({ secrets, localFolders }: ConnectorContext): Promise<string> {
  const folder = typeof secrets.folder === 'string' ? secrets.folder : ''
  if (!isAbsolute(folder) || folder.includes('\0')) throw notAllowed('The folder must be an absolute path.')
  const allowed: string[] = []
  for (const each of localFolders) {
    // One that the operator allowed and does not have yet allows nothing.
    const real = await realpath(each).catch(() => undefined)
    if (real !== undefined) allowed.push(real)
  }
  // Checked first, so that no one can find out which paths exist elsewhere.
  if (!localFolders.some((each) => isWithin(folder, each)) && !allowed.some((each) => isWithin(folder, each))) {
    throw notAllowed(
      'The operator of this service does not allow this folder. Use another one, or ask the operator to add it to PENSTOCK_LOCAL_FOLDERS; the service logs the folders of that setting when it starts.',
    )
  }
  try {
    const real = await realpath(folder)
    if (!allowed.some((each) => isWithin(real, each))) throw leadsOut()
    if (!(await stat(real)).isDirectory()) {
      throw new ConnectorError('object_not_found', 'The folder is a file. Set the folder that contains it.')
    }
    return real
  } catch (error) {
    throw asDiskError(error, 'The folder')
  }
}

/** Whether a path is a folder or inside it. Both are without links. */
const isWithin = (path: string, folder: string): boolean => {
  const [inner, outer] = [join(path, sep), join(folder, sep)]
  return inner.startsWith(outer)
}

/** The names in a relative path of a setting. None of them leads to a parent folder. */
export function namesIn(path: string, what: string): string[] {
  const names = path.split('/').filter((name) => name !== '' && name !== '.')
  if (isAbsolute(path)) throw notAllowed(`${what} must be given from the folder on, without a slash at the beginning.`)
  if (names.includes('..') || path.includes('\0')) throw notAllowed(`${what} must not lead out of the folder.`)
  return names
}

/** Resolves a path within a folder. The result must be within it. A path that does not exist yet stays unchanged. */
export async function followWithin(folder: string, path: string): Promise<string> {
  const real = await realpath(path).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT' || path === folder) throw error
    return join(await followWithin(folder, dirname(path)), path.slice(dirname(path).length))
  })
  if (!isWithin(real, folder)) throw leadsOut()
  return real
}

const notAllowed = (message: string) => new ConnectorError('path_not_allowed', message)

const leadsOut = () =>
  notAllowed(
    'A link leads out of the folder that the operator of this service allows. Remove it, or use another folder.',
  )
