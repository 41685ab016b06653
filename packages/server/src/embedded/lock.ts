import { open } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { hasCode } from './files.ts'

/** A lock that is held. The system also releases it when the process ends, in whatever way. */
export type Lock = { release(): void }

/**
 * Locks an empty file. Node has only one lock of the operating system, the lock inside SQLite. Only such a lock needs no guess
 * about whether its holder is still alive.
 *
 * @returns undefined if another holder, in this process or any other, has the lock
 */
export async function tryLock(path: string, mode: 'shared' | 'exclusive'): Promise<Lock | undefined> {
  await createEmpty(path)
  const database = openAsOurs(path)
  try {
    database.exec(mode === 'exclusive' ? 'begin exclusive' : 'begin; select 1 from sqlite_schema')
  } catch (error) {
    database.close()
    if (error instanceof Error && error.message.includes('locked')) return undefined
    throw error
  }
  return {
    release() {
      if (database.isOpen) database.close()
    },
  }
}

/** Runs `work` while no other process runs work under the same path. Waits up to `timeoutMs` for its turn. */
export async function withLock<T>(path: string, work: () => Promise<T>, timeoutMs = 180_000): Promise<T> {
  const deadline = performance.now() + timeoutMs
  let lock = await tryLock(path, 'exclusive')
  while (!lock) {
    if (performance.now() > deadline) {
      throw new Error(
        `Another Penstock process has held ${path} for ${timeoutMs / 1000} seconds. It is starting or stopping the PostgreSQL of that directory: look what it waits for, end it, and try again.`,
      )
    }
    await sleep(20)
    lock = await tryLock(path, 'exclusive')
  }
  try {
    return await work()
  } finally {
    lock.release()
  }
}

/**
 * Creates the file with mode 0600 unless it is there. An existing one is not opened, because closing any handle of a file
 * would give up the locks this process has on it.
 */
async function createEmpty(path: string): Promise<void> {
  try {
    await (await open(path, 'wx', 0o600)).close()
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return
    throw error
  }
}

function openAsOurs(path: string): DatabaseSync {
  try {
    return new DatabaseSync(path, { timeout: 0 })
  } catch (error) {
    throw new Error(
      `This user may not open ${path} (${error instanceof Error ? error.message : error}). Start Penstock as the user it was first started as.`,
      { cause: error },
    )
  }
}
