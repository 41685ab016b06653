import type { Dirent } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { runnerFolders } from '../places.ts'

/** Identifies the current files of the runners' code. The text changes if an upgrade overwrites them. */
export async function stampCode(): Promise<string> {
  const folders = await Promise.all(runnerFolders().map(filesIn))
  const stamps = await Promise.all(folders.flat().map(stampOf))
  return stamps.join('\n')
}

const skipped = new Set(['node_modules', 'test', '.git'])

/** Of packages that others wrote, only the file that npm writes whenever it installs. */
async function filesIn(folder: string): Promise<string[]> {
  if (basename(folder) === 'node_modules') return [join(folder, '.package-lock.json')]
  const entries = await readdir(folder, { withFileTypes: true }).catch((): Dirent[] => [])
  const files = entries.filter((entry) => entry.isFile()).map(({ name }) => join(folder, name))
  const inner = entries.filter((entry) => entry.isDirectory() && !skipped.has(entry.name))
  return [...files, ...(await Promise.all(inner.map(({ name }) => filesIn(join(folder, name))))).flat()]
}

async function stampOf(file: string): Promise<string> {
  const found = await stat(file).catch(() => undefined)
  return found ? `${file} ${found.ino} ${found.size} ${found.mtimeMs}` : `${file} -`
}
