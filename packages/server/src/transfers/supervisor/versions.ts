import { setTimeout as delay } from 'node:timers/promises'
import type { Db } from '../../db/database.ts'
import { listMigrations } from '../../db/migrations.ts'
import type { Logger } from '../../log.ts'
import { programVersion } from '../../version.ts'
import { heartbeatMs, type SupervisorDeps } from './deps.ts'
import * as queries from './version-queries.ts'

/**
 * Versions of workers. An older worker could deliver the data of a newer worker's transfer a second time. So an older
 * worker neither starts on a database that a newer one has worked on, nor claims anything after a newer one has
 * started.
 */

const version = programVersion()

/**
 * The numbers of a version, in the order of their weight: `1.2.3` is greater than `1.2.3-rc.4`. They compare as arrays do in
 * PostgreSQL.
 */
export function numbersOf(text: string): number[] {
  const [, release = '', before] = /^([\d.]+)(?:-([^+]*))?/.exec(text) ?? []
  const numbers = release.split('.').map(Number)
  return before === undefined ? [...numbers, 1] : [...numbers, 0, ...(before.match(/\d+/g) ?? []).map(Number)]
}

let known: Promise<queries.ProgramParameters> | undefined
/** This program, as statements compare it. */
export function thisProgram(): Promise<queries.ProgramParameters> {
  known ??= listMigrations().then((migrations) => ({
    number: numbersOf(version),
    newestMigration: migrations.at(-1) ?? '',
  }))
  return known
}

/** Description of a newer program; undefined if there is none. */
export async function describeNewer(db: Db): Promise<string | undefined> {
  const newer = await queries.findNewer.first(db, await thisProgram())
  if (!newer) return undefined
  return newer.version === null
    ? `A newer version of Penstock has migrated this database, and this is ${version}`
    : `Penstock ${newer.version} has worked on this database, and this is ${version}`
}

/** Says that a worker of this version begins. Throws where a newer one has worked on the database. */
export async function recordWorker(db: Db): Promise<void> {
  const newer = await describeNewer(db)
  if (newer !== undefined) {
    throw new Error(
      `${newer}: an older worker could deliver records twice. Start the newer version, or restore the backup from before the upgrade with the version that made it.`,
    )
  }
  await queries.recordVersion.run(db, { version, number: (await thisProgram()).number })
}

/** Resolves once a newer version is there, which is logged, or when the signal aborts. */
export async function untilOutdated(deps: SupervisorDeps, log: Logger, stopping: AbortSignal): Promise<void> {
  while (!stopping.aborted) {
    const newer = await describeNewer(deps.database).catch(() => undefined)
    if (newer !== undefined) {
      const what = 'this worker finishes the transfers that it runs, and starts nothing more'
      return log.error(`${newer}: ${what}. Replace this process with one of the newer version.`)
    }
    await delay(heartbeatMs(deps), undefined, { signal: stopping }).catch(() => {})
  }
}
