import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** An npm package that Penstock adds when it is wanted: an exact version, and the digest of its archive. */
export type AddedPackage = {
  readonly name: string
  readonly version: string
  /** As a lock file of npm has it: `sha512-…`. */
  readonly integrity: string
}

/** Where added packages are kept for all services of this user: below `XDG_CACHE_HOME`, or `~/.cache` if it is not set. */
const addedPackagesFolder = (): string => join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'penstock')

/**
 * Adds a package with npm, unless that was done before. npm verifies its digest and runs no script of it.
 * @param say called with one sentence before something is downloaded
 * @returns the folder of the package
 * @throws if npm is not there, or could not install it, with what to do
 */
export async function addPackage(added: AddedPackage, say: (sentence: string) => void): Promise<string> {
  const { name, version, integrity } = added
  const home = addedPackagesFolder()
  const place = join(home, `${name.replace(/^@/, '').replace('/', '-')}-${version}`)
  const folder = (root: string) => join(root, 'node_modules', name)
  if (existsSync(folder(place))) return folder(place)
  say(`Adding ${name} ${version} to ${place}, once.`)
  try {
    await mkdir(home, { recursive: true })
    const draft = await mkdtemp(join(home, 'unfinished-'))
    try {
      const dependencies = { [name]: version }
      const packages = { '': { dependencies }, [`node_modules/${name}`]: { version, integrity } }
      await writeFile(join(draft, 'package.json'), JSON.stringify({ private: true, dependencies }))
      await writeFile(join(draft, 'package-lock.json'), JSON.stringify({ lockfileVersion: 3, packages }))
      await runNpm(draft)
      // Another process may have been faster.
      await rename(draft, place).catch((error) => {
        if (!existsSync(folder(place))) throw error
      })
    } finally {
      await rm(draft, { recursive: true, force: true })
    }
  } catch (error) {
    throw new Error(`${name} ${version} could not be added to ${home}: ${(error as Error).message}`, { cause: error })
  }
  return folder(place)
}

/** Installs what the lock file of a folder says. Standard output contains only the result of a command. */
function runNpm(folder: string): Promise<void> {
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--prefix', folder]
  const shell = process.platform === 'win32'
  const child = spawn('npm', args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'], shell })
  return new Promise((resolve, reject) => {
    child.once('error', () => reject(new Error('npm cannot be run.')))
    child.once('close', (code) => (code === 0 ? resolve() : reject(new Error('npm failed; see its messages above.'))))
  })
}
