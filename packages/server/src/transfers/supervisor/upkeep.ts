import type { Logger } from '../../log.ts'
import { repeat } from '../../repeat.ts'
import { Audiences } from './audiences.ts'
import { ChangeLogs } from './change-logs.ts'
import type { Claims } from './claim.ts'
import { startContinuous } from './continuous.ts'
import { startDependents } from './dependents.ts'
import { heartbeatMs, type SupervisorDeps } from './deps.ts'
import { startDueRejects } from './due-rejects.ts'
import { startDue } from './due-schedules.ts'
import { LostTransfers } from './lost-transfers.ts'
import { Probes } from './probes.ts'

/**
 * Periodic tasks of every worker: transfers whose worker died, schedules and rejected records that are due, connections that run after others,
 * connections that are offline, logs from which changes are read, sizes of audiences. None waits for another one. The first worker to notice one acts.
 */

/**
 * Runs the upkeep until the signal aborts.
 * @param claims what this worker supervises
 * @param wake called if a transfer waits
 * @param retiring aborted, at the latest, with `stopping`: nothing new is started from then on
 */
export async function keepUp(
  deps: SupervisorDeps,
  { claims, wake }: { readonly claims: Claims; readonly wake: () => void },
  log: Logger,
  stopping: AbortSignal,
  retiring = stopping,
): Promise<void> {
  const everyMs = heartbeatMs(deps)
  const lost = new LostTransfers(deps, claims, wake, log)
  const probes = new Probes(deps, log, retiring)
  const audiences = new Audiences(deps, log, retiring)
  const changeLogs = new ChangeLogs(deps, log, retiring)
  await Promise.all([
    repeat({ name: 'upkeep of transfers', everyMs, run: lost.requeue }, log, stopping),
    repeat({ name: 'starting due schedules', everyMs, run: () => startDue(deps, log, retiring) }, log, retiring),
    repeat(
      { name: 'starting dependent transfers', everyMs, run: () => startDependents(deps, log, retiring) },
      log,
      retiring,
    ),
    repeat(
      { name: 'starting transfers of rejected records', everyMs, run: () => startDueRejects(deps) },
      log,
      retiring,
    ),
    repeat(
      { name: 'starting continuous transfers', everyMs, run: () => startContinuous(deps, null, log) },
      log,
      retiring,
    ),
    repeat({ name: 'probing offline connections', everyMs, run: probes.begin }, log, retiring),
    repeat({ name: 'measuring audiences', everyMs, run: audiences.begin }, log, retiring),
    repeat({ name: 'measuring logs of changes', everyMs, run: changeLogs.begin }, log, retiring),
  ])
  lost.close()
  await Promise.all([probes, changeLogs, audiences].map((work) => work.ended()))
}
