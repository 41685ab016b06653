import { serviceActor } from '../../audit/record.ts'
import { meet } from '../../connections/connections.ts'
import type { Logger } from '../../log.ts'
import { type ConfiguredSide, configuredSides } from '../sides.ts'
import { runBackgroundJob } from './background-job.ts'
import type { SupervisorDeps } from './deps.ts'
import { DueWork } from './due-work.ts'
import * as queries from './probe-queries.ts'

/**
 * Probes of offline connections, in every worker: whether both sides answer again.
 */

const probeMostSeconds = 3_600

/** Probes connections that are due. */
export class Probes extends DueWork<queries.ProbeRow> {
  protected readonly failure = 'a probe failed; trying again later'
  protected take(limit: number) {
    return queries.takeProbes.all(this.deps.database, { limit, mostSeconds: probeMostSeconds })
  }
  protected work(row: queries.ProbeRow) {
    return probe(this.deps, row, this.log, this.stopping)
  }
}

/** Activates the connection again where both of its sides answer. */
async function probe(deps: SupervisorDeps, row: queries.ProbeRow, log: Logger, stopping: AbortSignal): Promise<void> {
  const { connectionId } = row
  const { source, destination } = configuredSides(deps.catalogue, row)
  const found = await Promise.all([source, destination].map((side) => answers(deps, side, stopping)))
  if (!found.every(Boolean)) return
  await deps.database.transaction(async (tx) => {
    await meet(tx, connectionId, 'recovery')
    await queries.dropProbe.run(tx, { connectionId })
  }, serviceActor)
  log.info({ connectionId }, 'an offline connection answers again')
}

async function answers(deps: SupervisorDeps, side: ConfiguredSide, stopping: AbortSignal): Promise<boolean> {
  if (!side.connector.check) return true
  try {
    const result = await runBackgroundJob(deps, side, 'probes', (of) => ({ kind: 'check', ...of }) as const, stopping)
    return result.ok && result.value.every(({ ok }) => ok)
  } catch {
    return false
  }
}
