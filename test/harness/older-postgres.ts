import { randomBytes } from 'node:crypto'
import { chown, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findBinaries, type PostgresPackage, postgresPackageName } from '../../packages/server/src/embedded/binaries.ts'
import { run } from '../../packages/server/src/embedded/command.ts'
import { makeDirectory, writeAtomically } from '../../packages/server/src/embedded/files.ts'
import { ownerOfNewData } from '../../packages/server/src/embedded/owner.ts'
import { ensureRunning, shutDown } from '../../packages/server/src/embedded/server.ts'
import { connectionString, ensureDatabase, serviceName } from '../../packages/server/src/embedded/session.ts'
import { downloadPackage } from './downloads.ts'

/** The newest package of each version of PostgreSQL that Penstock supports besides the one that comes with it. */
export const olderVersions: Readonly<Record<string, string>> = {
  15: '15.18.0-beta.17',
  16: '16.14.0-beta.17',
  17: '17.10.0-beta.17',
}

/** A PostgreSQL of an older version, which holds nothing and is gone when it has stopped. */
export type OlderPostgres = { url: string; stop(): Promise<void> }

/**
 * Starts an older PostgreSQL on an empty directory. Downloads it from the npm registry the first time.
 *
 * @param major a version in `olderVersions`
 */
export async function startOlderPostgres(major: string): Promise<OlderPostgres> {
  const installed = await install(major)
  const owner = await ownerOfNewData()
  const binaries = await findBinaries(owner, installed)
  const home = await mkdtemp(join(tmpdir(), `penstock-postgresql-${major}-`))
  if (owner) await chown(home, owner.uid, owner.gid)
  const [data, log, password] = [join(home, 'data'), join(home, 'log'), randomBytes(16).toString('hex')]
  await makeDirectory(log, 0o700, owner)
  const settings = { max_connections: '300' }
  const cluster = { home, data, log, password, owner, binaries, durable: false, settings }
  try {
    const passwordFile = join(home, 'password')
    await writeAtomically(passwordFile, `${password}\n`, join(home, 'password.draft'), owner)
    // The locales of PostgreSQL itself, which the embedded one uses, came with version 17.
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
        '--locale',
        'C.UTF-8',
        '--no-instructions',
        '--no-sync',
      ],
      owner,
    )
    if (code !== 0) throw new Error(`initdb of PostgreSQL ${major} failed:\n${output}`)
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

async function install(major: string): Promise<PostgresPackage> {
  const version = olderVersions[major]
  if (version === undefined) throw new Error(`There is no package for PostgreSQL ${major}.`)
  return { directory: await downloadPackage(postgresPackageName, version), name: postgresPackageName, version }
}
