import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { migrate } from '../../packages/server/src/db/migrate.ts'
import { dataName, findPlace, readNote } from '../../packages/server/src/embedded/cluster-directory.ts'
import { startEmbeddedPostgres } from '../../packages/server/src/embedded/embedded-postgres.ts'
import { makeDirectory } from '../../packages/server/src/embedded/files.ts'
import { withLock } from '../../packages/server/src/embedded/lock.ts'
import { isRoot } from '../../packages/server/src/embedded/owner.ts'
import { findPostmaster } from '../../packages/server/src/embedded/postmaster.ts'

/**
 * A copy of a migrated, empty cluster, instead of the one that the embedded PostgreSQL would create. It takes a tenth of the
 * processor time. The first test of a run that needs one creates the original.
 *
 * @param directory the directory of the embedded PostgreSQL, which has no cluster yet
 */
export async function copyCluster(directory: string): Promise<void> {
  const original = join(tmpdir(), 'cluster')
  await withLock(`${original}.lock`, () => makeOriginal(original))
  await makeDirectory(directory, isRoot() ? 0o711 : 0o700)
  const from = (await readNote(original)) ?? original
  const { home } = await findPlace(directory)
  const copied = [dataName, 'password'].map((name) => join(from, name))
  // Keeps its owner, who is another user if we are root.
  await promisify(execFile)('cp', ['-R', '-p', ...copied, home])
}

async function makeOriginal(directory: string): Promise<void> {
  const made = join(directory, 'made')
  if (existsSync(made)) return
  let running = true
  while (running) {
    const server = await startEmbeddedPostgres({ directory, durable: false })
    try {
      await migrate(server.url)
    } finally {
      await server.stop()
    }
    // On a busy machine, the closed connection can still be visible, and the server keeps running because of it.
    running = (await findPostmaster(join((await readNote(directory)) ?? directory, dataName))) !== undefined
  }
  await writeFile(made, '')
}
