import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeEmbeddedPostgres, startEmbeddedPostgres } from '../packages/server/src/embedded/embedded-postgres.ts'

/** Where a run takes place: a temporary directory, and in it a PostgreSQL as it comes with Penstock, fsync and all. */
export type Environment = { readonly directory: string; readonly serverUrl: string }

/** Removes everything of a run at its end, also if a signal ends it: `await using cleanup = cleanupOfRun()`. */
export function cleanupOfRun(): AsyncDisposableStack {
  const cleanup = new AsyncDisposableStack()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void cleanup.disposeAsync().finally(() => process.exit(1)))
  }
  return cleanup
}

/** Starts it; `cleanup` removes all of it. */
export async function startPostgres(cleanup: AsyncDisposableStack): Promise<Environment> {
  const directory = await mkdtemp(join(tmpdir(), 'penstock-bench-'))
  cleanup.defer(() => rm(directory, { recursive: true, force: true, maxRetries: 10 }))
  // PostgreSQL, which does not run as root, has to pass through.
  await chmod(directory, 0o711)
  const home = join(directory, 'postgres')
  cleanup.defer(() => removeEmbeddedPostgres(home))
  const postgres = await startEmbeddedPostgres({ directory: home })
  // Its watchdog would bring it back.
  cleanup.defer(() => postgres.stop())
  return { directory, serverUrl: postgres.url }
}
