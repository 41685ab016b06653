import { serviceActor } from '../../audit/record.ts'
import { meet } from '../../connections/connections.ts'
import type { Logger } from '../../log.ts'
import { type ConfiguredSide, configuredSides } from '../sides.ts'
import { runBackgroundJob } from './background-job.ts'
import type { SupervisorDeps } from './deps.ts'
import * as queries from './probe-queries.ts'

/**
 * Probes of offline connections, in every worker: whether both sides answer again. They take their time, so nothing else waits
 * for them, not even each other.
 */

const probesAtOnce = 10
const probeMostSeconds = 3_600

/** Probes what is due, so many at once. */
export class Probes {
  readonly #deps: SupervisorDeps
  readonly #log: Logger
  readonly #stopping: AbortSignal
  readonly #active = new Set<Promise<void>>()

  /** @param stopping ends what is being probed */
  constructor(deps: SupervisorDeps, log: Logger, stopping: AbortSignal) {
    this.#deps = deps
    this.#log = log
    this.#stopping = stopping
  }

  /** Begins the probes that are due, and waits for none. */
  begin = async (): Promise<void> => {
    const limit = probesAtOnce - this.#active.size
    if (limit <= 0) return
    const due = await queries.takeProbes.all(this.#deps.database, { limit, mostSeconds: probeMostSeconds })
    for (const row of due) {
      const done = probe(this.#deps, row, this.#log, this.#stopping)
        .catch((err) => this.#log.warn({ err, connectionId: row.connectionId }, 'a probe failed; trying again later'))
        .finally(() => this.#active.delete(done))
      this.#active.add(done)
    }
  }

  /** Resolves once no probe is active. */
  async ended(): Promise<void> {
    await Promise.all(this.#active)
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
