import { setTimeout as delay } from 'node:timers/promises'
import type { Connector } from '@penstock/connector'
import { record, scheduleActor, serviceActor } from '../../audit/record.ts'
import { meet } from '../../connections/connections.ts'
import type { Logger } from '../../log.ts'
import { Refusal } from '../../refusal.ts'
import { EndJob } from '../../runners/runner-process.ts'
import { answerSecrets, JobSecrets } from '../job-secrets.ts'
import { holdRunnable, wakeWorker } from '../queries.ts'
import { nextRun } from '../schedules.ts'
import { openSide } from '../sides.ts'
import { begin, requireIntegrated } from '../transfers.ts'
import { heartbeatMs, type SupervisorDeps } from './supervise.ts'
import * as queries from './upkeep-queries.ts'

/**
 * Periodic tasks of every worker: transfers whose worker died, schedules that are due, connections that are offline.
 * The first worker to notice one acts.
 */

const dueAtOnce = 100
const probesAtOnce = 10
const probeTimeoutMs = 60_000
const probeGraceMs = 5_000
const probeMostSeconds = 3_600

/** Runs the upkeep until the signal aborts. An error of the database stops nothing: the next tick tries again. */
export async function keepUp(deps: SupervisorDeps, log: Logger, stopping: AbortSignal): Promise<void> {
  while (!stopping.aborted) {
    for (const see of [requeueLost, startDue, probeOffline]) {
      if (stopping.aborted) return
      await see(deps, log, stopping).catch((err) => log.warn({ err }, 'upkeep of transfers failed; trying again'))
    }
    await delay(heartbeatMs(deps), undefined, { signal: stopping }).catch(() => {})
  }
}

/** Queues transfers of dead workers again, and wakes workers if transfers wait. */
export async function requeueLost({ database, settings }: SupervisorDeps, log: Logger): Promise<void> {
  const revived = await queries.requeueLost.all(database, {
    heartbeatTimeoutSeconds: settings.heartbeatTimeoutMs / 1000,
  })
  for (const { id } of revived)
    log.warn({ transferId: id }, 'the worker of a transfer sent no heartbeat; another worker will continue it')
  const waiting = await queries.someQueued.first(database, {})
  if (waiting) await wakeWorker.run(database, { id: waiting.id })
}

/** Starts what is due; a schedule that was missed many times starts once. */
export async function startDue({ database, catalogue }: SupervisorDeps, log: Logger): Promise<void> {
  for (let started = 0; started < dueAtOnce; started++) {
    const due = await database.transaction(async (tx) => {
      const schedule = await queries.takeDue.first(tx, {})
      if (!schedule) return undefined
      const { connectionId, accountId, cron, timezone } = schedule
      const nextTime = nextRun(cron, timezone, new Date()) ?? null
      await queries.moveSchedule.run(tx, { connectionId, nextTime })
      const row = await holdRunnable.first(tx, { accountId, id: connectionId })
      if (!row) return schedule
      try {
        requireIntegrated(catalogue, row)
        const { reply, already } = await begin(tx, row, { trigger: 'schedule' })
        const actor = scheduleActor(connectionId)
        const { organizationId } = row
        const started = {
          organizationId,
          actor,
          action: 'startTransfer',
          accountId,
          targetId: connectionId,
          after: reply,
        }
        if (!already) record(tx, started)
      } catch (error) {
        // A connection that may not run now is skipped this time.
        if (!(error instanceof Refusal)) throw error
        log.info({ connectionId, code: error.code }, 'a scheduled transfer was left out')
      }
      return schedule
    })
    if (!due) return
  }
}

/** Probes offline connections; those that can connect become active again. */
export async function probeOffline(deps: SupervisorDeps, log: Logger, stopping: AbortSignal): Promise<void> {
  const { database, catalogue } = deps
  const due = await queries.takeProbes.all(database, { limit: probesAtOnce, mostSeconds: probeMostSeconds })
  await Promise.all(
    due.map(async ({ connectionId, accountId, srcConnectorId, destConnectorId }) => {
      const sides = [srcConnectorId, destConnectorId].map(catalogue.known)
      const found = await Promise.all(sides.map((connector) => answers(deps, connector, accountId, stopping)))
      if (!found.every(Boolean)) return
      await database.transaction(async (tx) => {
        await meet(tx, connectionId, 'recovery')
        await queries.dropProbe.run(tx, { connectionId })
      }, serviceActor)
      log.info({ connectionId }, 'an offline connection answers again')
    }),
  )
}

async function answers(
  deps: SupervisorDeps,
  connector: Connector,
  accountId: string,
  stopping: AbortSignal,
): Promise<boolean> {
  if (!connector.check) return true
  const ending = new AbortController()
  const secrets = new JobSecrets(deps, accountId, [connector])
  const end = () => ending.abort(new EndJob(false, probeGraceMs))
  stopping.addEventListener('abort', end, { once: true })
  try {
    const result = await deps.runners.run(
      { kind: 'check', connector: await openSide(deps, connector, accountId), deadlineMs: probeTimeoutMs },
      {
        owner: accountId,
        watch: { deadlineMs: probeTimeoutMs + probeGraceMs },
        signal: ending.signal,
        answer: answerSecrets(secrets),
      },
    )
    return result.ok && result.value.every(({ ok }) => ok)
  } catch {
    return false
  } finally {
    stopping.removeEventListener('abort', end)
    await secrets.close()
  }
}
