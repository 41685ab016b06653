import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rename, rm, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

/** Earlier versions of Penstock, as they were released. */

const run = promisify(execFile)
const root = dirname(dirname(import.meta.dirname))
const cache = join(root, '.cache', 'released')

/**
 * Extracts the sources of a tag into the cache, unless they are there. They use the dependencies of this checkout, and their own
 * packages.
 * @returns the program `penstock` of that version; undefined if git or the tag is missing, as in a shallow clone
 */
export async function findReleased(tag: string): Promise<string | undefined> {
  const commit = await run('git', ['rev-parse', '--verify', '--quiet', `${tag}^{commit}`], { cwd: root }).then(
    ({ stdout }) => stdout.trim(),
    () => undefined,
  )
  if (commit === undefined) return undefined
  const directory = join(cache, commit)
  if (!existsSync(directory)) await extract(commit, directory)
  return join(directory, 'packages', 'server', 'bin', 'penstock.js')
}

async function extract(commit: string, directory: string): Promise<void> {
  await mkdir(cache, { recursive: true })
  const fresh = await mkdtemp(`${directory}-`)
  const archive = join(fresh, 'archive.tar')
  await run('git', ['archive', '--output', archive, commit, 'packages', 'package.json'], { cwd: root })
  await run('tar', ['-xf', archive, '-C', fresh])
  await rm(archive)
  // Node looks for other packages in the folders above.
  const scope = join(fresh, 'node_modules', '@penstock')
  await mkdir(scope, { recursive: true })
  for (const name of await readdir(join(fresh, 'packages'))) {
    await symlink(join('..', '..', 'packages', name), join(scope, name))
  }
  await run('chmod', ['755', fresh])
  // Another process may have been faster.
  await rename(fresh, directory).catch(() => rm(fresh, { recursive: true }))
}
