import { chmod, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openCluster } from '../../packages/server/src/embedded/cluster.ts'
import { run } from '../../packages/server/src/embedded/command.ts'
import { ensureRunning, shutDown } from '../../packages/server/src/embedded/server.ts'
import { connectionString } from '../../packages/server/src/embedded/session.ts'
import { copyCluster } from './cluster.ts'

/** A PostgreSQL with `wal_level = logical`, of which replication slots give changes. */
export type LogicalPostgres = {
  readonly url: string
  /** Ends it as a crash does, and starts it again at the same port. */
  crash(): Promise<void>
  stop(): Promise<void>
}

/** Starts one. @param settings further settings of the server */
export async function startLogicalPostgres(settings: Readonly<Record<string, string>> = {}): Promise<LogicalPostgres> {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'penstock-logical-')))
  // PostgreSQL's own user must be able to pass through.
  await chmod(base, 0o711)
  const directory = join(base, 'server')
  await copyCluster(directory)
  const cluster = await openCluster(directory, {
    durable: false,
    settings: { wal_level: 'logical', max_replication_slots: '20', max_wal_senders: '5', ...settings },
  })
  const { port } = await ensureRunning(cluster)
  return {
    url: connectionString({ port, password: cluster.password }),
    async crash() {
      const { binaries, data, owner } = cluster
      await run(binaries.pgCtl, ['stop', '--pgdata', data, '--mode', 'immediate', '--wait'], owner)
      await ensureRunning(cluster)
    },
    async stop() {
      await shutDown(cluster)
      await rm(base, { recursive: true, force: true, maxRetries: 10 })
    },
  }
}
