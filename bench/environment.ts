import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeEmbeddedPostgres, startEmbeddedPostgres } from '../packages/server/src/embedded/embedded-postgres.ts'

/** The environment of a run: a temporary directory with a PostgreSQL as Penstock includes it, with fsync. */
export type Environment = { readonly directory: string; readonly serverUrl: string }

/** Removes everything of a run at its end, also if a signal ends it: `await using cleanup = cleanupOfRun()`. */
export function cleanupOfRun(): AsyncDisposableStack {
  const cleanup = new AsyncDisposableStack()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void cleanup.disposeAsync().finally(() => process.exit(1)))
  }
  return cleanup
}

/** Starts PostgreSQL. `cleanup` removes everything. */
export async function startPostgres(cleanup: AsyncDisposableStack): Promise<Environment> {
  const directory = await mkdtemp(join(tmpdir(), 'penstock-bench-'))
  cleanup.defer(() => rm(directory, { recursive: true, force: true, maxRetries: 10 }))
  // PostgreSQL does not run as root and must be able to enter the directory.
  await chmod(directory, 0o711)
  const home = join(directory, 'postgres')
  cleanup.defer(() => removeEmbeddedPostgres(home))
  const postgres = await startEmbeddedPostgres({ directory: home })
  // Its watchdog would start it again.
  cleanup.defer(() => postgres.stop())
  return { directory, serverUrl: postgres.url }
}
