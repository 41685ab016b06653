import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { connectors, platforms } from '@penstock/connectors'
import {
  type InstalledRecord,
  type PackageManifest,
  readInstalled,
  readInstalledConnector,
  readManifest,
  readRecord,
  recordFile,
  whyTaken,
} from '@penstock/connectors/installed'
import type { Config } from '../../config.ts'
import { findRunnerUser, whyRunnersCannotRead } from '../../runners/runner-user.ts'
import { programVersion } from '../../version.ts'
import { fetchPackage } from './fetch-package.ts'
import { fitsKit } from './kit-range.ts'
import { PackageRefused, probe } from './probe.ts'

const kit = '@penstock/connector'

/** The record of a connector that was added, and the version of its package that it replaces. */
export type AddedConnectorPackage = {
  readonly record: InstalledRecord
  readonly id: string
  readonly replaced: string | undefined
}

/**
 * Adds a connector from a package, or another version of a connector that was added. The folder of the deployment changes only
 * after all checks. A connector that cannot be used changes nothing.
 * @param from a directory, a tarball or a package, as `fetchPackage` accepts it
 * @throws PackageRefused with the reason
 */
export function addPackage(config: Config, from: string): Promise<AddedConnectorPackage> {
  return addFrom(config, async (staging) => {
    const code = join(staging, 'code')
    const main = await fetchPackage(from, code)
    await makeReadable(staging)
    const root = join(code, main)
    const manifest = readManifestOf(root)
    const definition = await probe({ code, root, user: findRunnerUser(config).user })
    return {
      form: 1,
      slug: definition.slug,
      package: { ...manifest, from },
      main,
      definition,
    }
  })
}

/**
 * Adds the connector of a record, which `make` finds and puts what belongs to it into a folder.
 * @throws PackageRefused with the reason
 */
export async function addFrom(
  config: Config,
  make: (staging: string) => Promise<Omit<InstalledRecord, 'addedTime'>>,
): Promise<AddedConnectorPackage> {
  const folder = config.connectorsFolder
  await mkdir(folder, { recursive: true, mode: 0o755 })
  // Its name is no slug, so it is never read as a connector.
  const staging = await mkdtemp(join(folder, '.adding-'))
  try {
    await chmod(staging, 0o755)
    const unreadable = whyRunnersCannotRead(config, staging)
    if (unreadable !== undefined) throw new PackageRefused(unreadable)
    const record = { ...(await make(staging)), addedTime: new Date().toISOString() }
    const { id } = requireUsable(folder, record)
    await writeFile(join(staging, recordFile), `${JSON.stringify(record, null, 2)}\n`, { mode: 0o644 })
    const replaced = await moveIn(folder, staging, record)
    return { record, id, replaced }
  } finally {
    await rm(staging, { recursive: true, force: true })
  }
}

/** Removes an added connector with its code, if this machine has it. The caller knows that nothing uses it. */
export async function removePackage({ connectorsFolder }: Config, slug: string): Promise<void> {
  const gone = join(connectorsFolder, `.removed-${slug}-${process.pid}`)
  await rename(join(connectorsFolder, slug), gone).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error
  })
  await rm(gone, { recursive: true, force: true })
}

/** Checks what a package says of itself. */
function readManifestOf(root: string): { readonly name: string; readonly version: string } {
  let manifest: PackageManifest
  try {
    manifest = readManifest(root)
  } catch {
    throw new PackageRefused('The package cannot be added: its package.json cannot be read.')
  }
  const { name, version, dependencies = {}, peerDependencies = {} } = manifest
  if (typeof name !== 'string' || typeof version !== 'string')
    throw new PackageRefused('The package cannot be added: its package.json has no name or no version.')
  const range = peerDependencies[kit] ?? dependencies[kit]
  if (typeof range !== 'string') {
    throw new PackageRefused(
      `The package cannot be added: its package.json does not say which version of ${kit} it is written for. Add "peerDependencies": { "${kit}": "^${programVersion()}" }.`,
    )
  }
  if (!fitsKit(range, programVersion())) {
    throw new PackageRefused(
      `The package cannot be added: it is written for ${kit} ${range}, and this Penstock has ${programVersion()}. Use a version of the package for this one.`,
    )
  }
  return { name, version }
}

/** Its slug and its name must be free, or its own. */
function requireUsable(folder: string, record: InstalledRecord): { readonly id: string } {
  const others = readInstalled(folder, { connectors, platforms }).connectors.filter(
    ({ record: other }) => other.slug !== record.slug || other.package.name !== record.package.name,
  )
  try {
    const connector = readInstalledConnector(record, platforms)
    const clash = whyTaken(connector, [...connectors, ...others.map((one) => one.connector)])
    if (clash !== undefined) throw new Error(clash)
    return connector
  } catch (error) {
    throw new PackageRefused(`The package cannot be added: ${(error as Error).message}.`)
  }
}

/** Moves the package into its place and the earlier version out of it, as atomically as a file system allows. */
async function moveIn(folder: string, staging: string, { slug }: InstalledRecord): Promise<string | undefined> {
  const place = join(folder, slug)
  if (!existsSync(place)) {
    await rename(staging, place)
    return undefined
  }
  let before: string
  try {
    before = readRecord(folder, slug).package.version
  } catch {
    before = 'a version that could not be read'
  }
  const old = `${staging}-before`
  await rename(place, old)
  await rename(staging, place)
  await rm(old, { recursive: true, force: true })
  return before
}

/** Runners can run as a separate user, which only reads. */
async function makeReadable(folder: string): Promise<void> {
  await chmod(folder, 0o755)
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) await makeReadable(path)
    else if (entry.isFile()) await chmod(path, 0o644)
  }
}
