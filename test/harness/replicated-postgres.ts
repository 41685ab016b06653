import { execFile } from 'node:child_process'
import { chmod, chown, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Cluster, openCluster } from '../../packages/server/src/embedded/cluster.ts'
import { dataName } from '../../packages/server/src/embedded/cluster-directory.ts'
import { run } from '../../packages/server/src/embedded/command.ts'
import { makeDirectory } from '../../packages/server/src/embedded/files.ts'
import { ensureRunning, shutDown } from '../../packages/server/src/embedded/server.ts'
import { connectionString } from '../../packages/server/src/embedded/session.ts'
import { copyCluster } from './cluster.ts'
import { withSession } from './session.ts'

/** A PostgreSQL with a migrated, empty database, and a standby that follows it by streaming replication. */
export type ReplicatedPostgres = {
  readonly primaryUrl: string
  readonly standbyUrl: string
  /** One address with both servers. */
  readonly url: string
  /** Ends the primary as a crash does. */
  killPrimary(): Promise<void>
  /** Makes the standby the primary. */
  promote(): Promise<void>
}

const replicating = { wal_level: 'replica', max_wal_senders: '5', max_connections: '200' }

/**
 * Starts both until the test has ended.
 * @param synchronous whether each commit waits until the standby has stored it, so that a failover loses no commit
 */
export async function startReplicatedPostgres(
  t: { after(work: () => Promise<void>): void },
  { synchronous = true } = {},
): Promise<ReplicatedPostgres> {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'penstock-replicated-')))
  // PostgreSQL's own user must be able to pass through.
  await chmod(base, 0o711)
  const clusters: Cluster[] = []
  t.after(async () => {
    for (const cluster of clusters) await shutDown(cluster)
    await rm(base, { recursive: true, force: true, maxRetries: 10 })
  })
  const [first, second] = [join(base, 'first'), join(base, 'second')]
  const open = async (directory: string, settings: Record<string, string>) => {
    const cluster = await openCluster(directory, { durable: false, settings: { ...replicating, ...settings } })
    clusters.push(cluster)
    return cluster
  }
  const start = async (cluster: Cluster) => {
    const { port } = await ensureRunning(cluster)
    return { port, url: connectionString({ port, password: cluster.password }) }
  }

  await copyCluster(first)
  // Once in this mode, so that the copy can follow.
  const primary = await open(first, { synchronous_standby_names: synchronous ? '*' : '' })
  await start(primary)
  await shutDown(primary)
  const { owner } = primary
  await makeDirectory(second, owner ? 0o711 : 0o700)
  await promisify(execFile)('cp', ['-R', '-p', join(primary.home, dataName), join(primary.home, 'password'), second])
  const signal = join(second, dataName, 'standby.signal')
  await writeFile(signal, '')
  if (owner) await chown(signal, owner.uid, owner.gid)

  const { port, url: primaryUrl } = await start(primary)
  const standby = await open(second, {
    primary_conninfo: `host=127.0.0.1 port=${port} user=penstock password=${primary.password}`,
  })
  const { port: standbyPort, url: standbyUrl } = await start(standby)
  const url = new URL(primaryUrl)
  return {
    primaryUrl,
    standbyUrl,
    url: `postgres://penstock:${primary.password}@127.0.0.1:${port},127.0.0.1:${standbyPort}${url.pathname}`,
    killPrimary: async () => {
      await run(primary.binaries.pgCtl, ['stop', '--pgdata', primary.data, '--mode', 'immediate', '--wait'], owner)
    },
    promote: () => withSession(standbyUrl, async (session) => void (await session.query('select pg_promote()'))),
  }
}
