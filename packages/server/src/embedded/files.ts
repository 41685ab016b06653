import { chmod, chown, lstat, mkdir, open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Owner } from './command.ts'

/** Whether something exists at this path. Rejects if its directory cannot be entered. */
export async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path)
    return true
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false
    throw error
  }
}

/** Whether an error is one of the system's, with this code. */
export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}

/** Creates a directory with exactly this mode, whatever the umask. An existing directory does not change. */
export async function makeDirectory(path: string, mode: number, owner?: Owner): Promise<void> {
  try {
    if (await exists(path)) return
    await mkdir(path, { recursive: true })
    if (owner) await chown(path, owner.uid, owner.gid)
    await chmod(path, mode)
  } catch (error) {
    if (!hasCode(error, 'EACCES')) throw error
    throw new Error(`This user may not create or enter ${path}. Start Penstock as the user it was first started as.`, {
      cause: error,
    })
  }
}

/**
 * Replaces a file so that a crash leaves either the old one or the whole new one.
 *
 * @param draft where the new text is written first: on the same file system and, where the file's directory belongs to
 *   another user, outside of it, since that user could have put a link to any file there
 */
export async function writeAtomically(path: string, text: string, draft = `${path}.new`, owner?: Owner): Promise<void> {
  const file = await open(draft, 'w', 0o600)
  try {
    await file.writeFile(text)
    if (owner) await file.chown(owner.uid, owner.gid)
    await file.sync()
  } finally {
    await file.close()
  }
  await renameDurably(draft, path)
}

/** Renames within a file system and returns once the new name would survive a power cut. */
export async function renameDurably(from: string, to: string): Promise<void> {
  await rename(from, to)
  const directory = await open(dirname(to), 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}
