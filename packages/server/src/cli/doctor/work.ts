import type { Config } from '../../config.ts'
import { databaseNow } from '../../db/clock.ts'
import type { Database } from '../../db/database.ts'
import { createOutgoing, OutgoingError } from '../../outgoing/outgoing.ts'
import { issuersInUse } from '../../single-sign-on/queries.ts'
import { describeNewer } from '../../transfers/supervisor/versions.ts'
import { readTransferTotals } from '../../transfers/totals/totals.ts'
import { readHeartbeats, readOverdueWork } from '../../worker/figure-queries.ts'
import { type Finding, problem, warning, well } from './check.ts'

/** After how many seconds work that a worker begins every minute is overdue. */
const overdueSecondsMax = 180
const skewMsMax = 5_000
const issuerMs = 5_000

/** Whether a live worker of this version does the work, by what it leaves in the database. */
export async function checkWorkers(database: Database, { heartbeatTimeoutSeconds }: Config): Promise<Finding> {
  const [overdue, totals, heartbeats, newer] = await Promise.all([
    readOverdueWork(database),
    readTransferTotals(database),
    readHeartbeats(database, heartbeatTimeoutSeconds * 2),
    describeNewer(database),
  ])
  const last = heartbeats.last ? `, the last heartbeat of a transfer was at ${heartbeats.last.toISOString()}` : ''
  const { queued, running, oldestWaitSeconds } = totals
  const figures = `waiting transfers: ${queued}, running: ${running}${last}`
  if (heartbeats.stale > 0)
    return problem(
      `Running transfers without a heartbeat (${heartbeats.stale}) for more than ${heartbeatTimeoutSeconds * 2} seconds, which no worker has continued; ${figures}. Start a worker, and look for frozen ones.`,
    )
  if (overdue.workersOverdueSeconds > overdueSecondsMax) {
    const howLong = overdue.neverWorked ? 'yet' : `for ${Math.round(overdue.workersOverdueSeconds)} seconds`
    const since = `No worker has worked ${howLong}: ${figures}`
    return queued > 0
      ? problem(
          `${since}, the longest for ${Math.round(oldestWaitSeconds)} seconds. Start a worker (the command \`worker\`), or the service without PENSTOCK_WORKER=0.`,
        )
      : warning(`${since}. Start a worker (the command \`worker\`), or the service without PENSTOCK_WORKER=0.`)
  }
  if (newer) return warning(`${newer}: workers of this version start nothing more. Replace them.`)
  return well(figures)
}

/** Whether this machine and the database agree on the time. */
export async function checkClock(database: Database): Promise<Finding> {
  const before = Date.now()
  const now = await databaseNow(database)
  const skewMs = Math.round(now.getTime() - (before + Date.now()) / 2)
  const seconds = (Math.abs(skewMs) / 1000).toFixed(1)
  if (Math.abs(skewMs) <= skewMsMax) return well(`${seconds} seconds from the clock of the database`)
  return warning(
    `The clock of this machine is ${seconds} seconds ${skewMs > 0 ? 'behind' : 'ahead of'} the database. Synchronise both (NTP): platforms refuse requests of a wrong time.`,
  )
}

/** Whether the identity providers of the organizations can be reached from here. */
export async function checkSignIn(database: Database, config: Config): Promise<Finding> {
  const issuers = (await issuersInUse.all(database, {})).map(({ issuer }) => issuer)
  if (issuers.length === 0) return well('no organization has single sign-on')
  const outgoing = createOutgoing(config)
  try {
    const found = await Promise.all(
      issuers.map(async (issuer) => {
        try {
          // Any answer shows that the network, its policy and TLS let the sign-in through.
          const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
          await outgoing.post(url, { body: '', contentType: 'text/plain', timeoutMs: issuerMs })
          return []
        } catch (error) {
          return [
            `${URL.parse(issuer)?.host ?? 'an issuer'} (${error instanceof OutgoingError ? error.code : 'no answer'})`,
          ]
        }
      }),
    )
    const failed = found.flat()
    if (failed.length === 0) return well(`${issuers.length} identity providers answer`)
    return warning(
      `Identity providers cannot be reached: ${failed.join(', ')}. Check the network and PENSTOCK_EGRESS_ALLOW, or inform the organization.`,
    )
  } finally {
    await outgoing.close()
  }
}
