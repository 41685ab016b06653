import { rm } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { openCluster } from './cluster.ts'
import { dataName, readNote } from './cluster-directory.ts'
import { exists, makeDirectory } from './files.ts'
import { type Lock, tryLock, withLock } from './lock.ts'
import { isRoot } from './owner.ts'
import { findPostmaster } from './postmaster.ts'
import { ensureRunning, hasEnded, shutDown } from './server.ts'
import { connectionString, ensureDatabase, isInUse } from './session.ts'
import { startWatchdog } from './watchdog.ts'

/** A PostgreSQL that Penstock runs itself, as this process holds it. */
export type EmbeddedPostgres = {
  /**
   * The connection string, with the generated password, of the database `penstock`: on the loopback address, and by the
   * server's socket, if it has one, which the parameter `host` names. It stays the same when the server is started again, by
   * whichever process, unless another program has taken its port meanwhile: so read it for each new connection.
   */
  readonly url: string
  /**
   * Releases the server. Stops it cleanly unless another Penstock process holds it or is connected to it (under an application
   * name that starts with `penstock`). Close this process's connections first. Resolves when the server's process has ended. It
   * can be called again.
   */
  stop(): Promise<void>
}

export type EmbeddedPostgresOptions = {
  /** the server's own folder, an absolute path; it is created if it is missing */
  directory: string
  /** whether committed data survives a power cut (default true); false is for tests */
  durable?: boolean
  /** called with what happens to the server */
  log?: (message: string) => void
  /** further settings of PostgreSQL; a running server keeps its own */
  settings?: Record<string, string>
}

/**
 * Starts the PostgreSQL of a directory and creates its database the first time, or joins the server that runs there already.
 * The server runs apart from this process and outlives it. While this process lives, it restarts the server if the server dies.
 * Rejects with an error that says what happened and what to do.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { directory, durable = true, log = () => {}, settings = {} } = options
  if (!isAbsolute(directory)) throw new Error(`The directory of the embedded PostgreSQL must be absolute: ${directory}`)
  await makeDirectory(directory, isRoot() ? 0o711 : 0o700)
  const lock = join(directory, 'lock')
  // Each process that uses the server holds this lock as shared. A process that can get it exclusively is the last one.
  const holders = join(directory, 'holders')

  const held = await withLock(lock, async () => {
    const cluster = await openCluster(directory, { durable, settings })
    const adopted = await findPostmaster(cluster.data)
    const { pid, port, socketDirectory } = await ensureRunning(cluster)
    const address = { port, socketDirectory, password: cluster.password }
    let share: Lock | undefined
    try {
      await ensureDatabase(address)
      share = await tryLock(holders, 'shared')
    } catch (error) {
      // No other process can hold a server that was started here, under the lock.
      if (!adopted) await shutDown(cluster)
      throw error
    }
    log(`PostgreSQL ${adopted ? 'already runs' : 'started'} on port ${port} (process ${pid}), data in ${cluster.data}`)
    return { cluster, address, share }
  })
  const { cluster, address, share } = held

  const watchdog = startWatchdog(
    async () => {
      const running = await findPostmaster(cluster.data)
      if (running?.port === address.port) return
      const { pid, port, socketDirectory } = running ?? (await withLock(lock, () => ensureRunning(cluster)))
      log(`PostgreSQL had died and runs again on port ${port} (process ${pid})`)
      Object.assign(address, { port, socketDirectory })
    },
    (error) => log(error instanceof Error ? error.message : String(error)),
  )

  return {
    get url() {
      return connectionString(address)
    },
    async stop() {
      await watchdog.stop()
      await withLock(lock, async () => {
        share?.release()
        const running = await findPostmaster(cluster.data)
        if (!running) return
        const alone = await tryLock(holders, 'exclusive')
        alone?.release()
        if (!alone || (await isInUse({ ...address, port: running.port }))) {
          log('PostgreSQL is left running, because another Penstock process uses it')
          return
        }
        await shutDown(cluster)
        log('PostgreSQL has stopped')
      })
    },
  }
}

/** Whether the directory has a database already. */
export async function hasEmbeddedPostgres(directory: string): Promise<boolean> {
  return exists(join((await readNote(directory)) ?? directory, dataName))
}

/**
 * Stops the server of a directory immediately, even if it is in use, and permanently deletes its database and the directory.
 * Does nothing if the directory does not exist.
 */
export async function removeEmbeddedPostgres(directory: string): Promise<void> {
  if (!(await exists(directory))) return
  await withLock(join(directory, 'lock'), async () => {
    const home = (await readNote(directory)) ?? directory
    const data = join(home, dataName)
    const running = await findPostmaster(data)
    if (running) {
      process.kill(running.pid, 'SIGQUIT')
      if (!(await hasEnded(running, data, 30_000))) {
        throw new Error(`The PostgreSQL in ${home} (process ${running.pid}) does not end. Kill it, and try again.`)
      }
    }
    for (const path of [home, directory]) await rm(path, { recursive: true, force: true, maxRetries: 10 })
  })
}
