import { setTimeout as delay } from 'node:timers/promises'
import type { Config } from '../../config.ts'
import { type Database, openDatabase } from '../../db/database.ts'
import { explainFailure } from '../../db/failures.ts'
import { hasReplayed, loggedPosition, replicaState } from '../../db/replica-queries.ts'
import { type Finding, problem, well } from './check.ts'

const setting = 'PENSTOCK_DATABASE_REPLICA_URL'
/** Time limit until a replica shows what its primary has committed, in milliseconds. */
const lagMsMax = 3_000
const lookMs = 100
const answerMs = 6_000

/** Whether the replica answers, is a standby of this database, and follows it. */
export async function checkReplica(database: Database, { replicaUrl }: Pick<Config, 'replicaUrl'>): Promise<Finding> {
  if (!replicaUrl) return well('not set')
  const replica = openDatabase({ url: replicaUrl, poolSize: 1, onIdleError: () => {} })
  const late = new AbortController()
  try {
    const silent = delay(answerMs, 'silent' as const, { signal: late.signal }).catch(() => 'silent' as const)
    const found = await Promise.race([look(database, replica), silent])
    if (found !== 'silent') return found
    return problem(
      `The replica does not answer within ${answerMs / 1000} seconds. Check that it runs and is not frozen, or remove ${setting}.`,
    )
  } catch (error) {
    return problem(explainFailure(error, replicaUrl, setting) ?? `The replica cannot be used. Check ${setting}.`)
  } finally {
    late.abort()
    void replica.close().catch(() => {})
  }
}

async function look(database: Database, replica: Database): Promise<Finding> {
  const logged = await loggedPosition.first(database, {})
  const state = logged && (await replicaState.first(replica, logged))
  if (!state) return problem(`The replica cannot be compared with the database. Check ${setting}.`)
  if (!state.isStandby)
    return problem(
      `The server of ${setting} is not a standby: it was promoted, or is another primary. Set it to a standby of DATABASE_URL.`,
    )
  if (!state.isSame)
    return problem(`The server of ${setting} is a standby of another database. Set it to a standby of DATABASE_URL.`)
  const begun = performance.now()
  while (!(await hasReplayed.first(replica, logged))?.reached) {
    if (performance.now() - begun > lagMsMax) {
      const now = await replicaState.first(replica, logged)
      return problem(
        `The replica is ${now?.bytesBehind ?? 'some'} bytes behind, and its last transaction is ${Math.round(now?.secondsBehind ?? 0)} seconds old. Lists are read from the primary until it follows: check replication on it (pg_stat_wal_receiver).`,
      )
    }
    await delay(lookMs)
  }
  return well('follows the database')
}
