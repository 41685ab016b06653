import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** Cache of packages that only tests need, so that each is downloaded once. */
const cache = join(dirname(dirname(import.meta.dirname)), '.cache', 'packages')

/**
 * A package of the npm registry with its dependencies. It is downloaded the first time. Scripts of packages are not run.
 *
 * @param version an exact version
 * @returns the folder of the package
 */
export async function downloadPackage(name: string, version: string): Promise<string> {
  const prefix = join(cache, `${name.replace('/', '-')}-${version}`)
  const directory = join(prefix, 'node_modules', name)
  if (existsSync(join(directory, 'package.json'))) return directory
  console.log(`Downloading ${name} ${version} into ${prefix}`)
  await mkdir(prefix, { recursive: true })
  const flags = ['--no-save', '--no-package-lock', '--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline']
  const npm = spawn('npm', ['install', '--prefix', prefix, ...flags, `${name}@${version}`], { stdio: 'inherit' })
  const [code] = await once(npm, 'exit')
  if (code !== 0) throw new Error(`npm could not install ${name}@${version}`)
  return directory
}

/** The exports of a package that `downloadPackage` downloads. The caller says of which type they are. */
export const loadPackage = async <T>(name: string, version: string): Promise<T> => {
  const directory = await downloadPackage(name, version)
  return createRequire(join(directory, 'package.json'))(directory) as T
}
