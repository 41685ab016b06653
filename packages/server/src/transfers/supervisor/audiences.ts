import type { Json } from '@penstock/connector'
import { databaseNow } from '../../db/clock.ts'
import type { Logger } from '../../log.ts'
import { DataKey } from '../../secrets/data-keys.ts'
import { openJson, places, sealJson } from '../sealed.ts'
import * as queries from './audience-queries.ts'
import { type JobOf, runBackgroundJob } from './background-job.ts'
import type { SupervisorDeps } from './deps.ts'

/**
 * The audiences that connections feed, in every worker: once a day, the platform is asked for their sizes and matches. A transfer
 * never depends on the answer.
 */

const checksAtOnce = 10
/** Days of which the measures are kept. */
const keptDays = 90

/** Notes, with each transfer, that the audiences of its connection are measured. */
export async function watchAudiencesOf(
  { database, catalogue }: SupervisorDeps,
  {
    connectionId,
    destConnectorId,
    testRows,
  }: { connectionId: string; destConnectorId: string; testRows: number | null },
): Promise<void> {
  const { destination } = catalogue.known(destConnectorId)
  if (destination?.deliver?.measureAudiences && testRows === null) {
    await queries.watchAudiences.run(database, { connectionId })
  }
}

/** Measures the audiences that are due, of up to ten connections at the same time. */
export class Audiences {
  readonly #deps: SupervisorDeps
  readonly #log: Logger
  readonly #stopping: AbortSignal
  readonly #active = new Set<Promise<void>>()

  /** @param stopping ends what is being measured */
  constructor(deps: SupervisorDeps, log: Logger, stopping: AbortSignal) {
    this.#deps = deps
    this.#log = log
    this.#stopping = stopping
  }

  /** Begins with audiences that are due, and waits for none. */
  begin = async (): Promise<void> => {
    const limit = checksAtOnce - this.#active.size
    if (limit <= 0) return
    for (const row of await queries.takeChecks.all(this.#deps.database, { limit })) {
      const done = this.#measure(row)
        .catch((err) => this.#log.warn({ err, connectionId: row.connectionId }, 'audiences could not be measured'))
        .finally(() => this.#active.delete(done))
      this.#active.add(done)
    }
  }

  /** Resolves once none is being measured. */
  async ended(): Promise<void> {
    await Promise.all(this.#active)
  }

  async #measure(row: queries.TakenCheck): Promise<void> {
    const { database, keyring, catalogue } = this.#deps
    const { connectionId, accountId, destConfigurationId: configurationId } = row
    const connector = catalogue.known(row.destConnectorId)
    if (!connector.destination?.deliver?.measureAudiences) {
      return void (await queries.forgetAudiences.run(database, { connectionId }))
    }
    if (!row.live) return
    const key = new DataKey(keyring, row.dataKeyId, async (tx, dataKeyId) => {
      const kept = await queries.keepFirstKey.run(tx, { connectionId, dataKeyId })
      if (kept === 0) throw new Error('A transfer has made a key of the connection meanwhile')
    })
    const state = await openJson(database, key, places.state(connectionId), row.stateSealed)
    const jobOf = (of: JobOf) => ({ kind: 'measure audiences', state, ...of }) as const
    const side = { connector, accountId, configurationId }
    const result = await runBackgroundJob(this.#deps, side, 'audiences', jobOf, this.#stopping, row.destConfig)
    if (!result.ok) {
      const problem =
        result.error.kind === 'connector' ? result.error.message : 'The platform did not answer as expected.'
      return void (await queries.storeProblem.run(database, { connectionId, problem }))
    }
    const measures = result.value as unknown as Json
    const sizes = result.value.flatMap(({ high }) => high ?? [])
    const smallest = sizes.length > 0 ? Math.min(...sizes) : null
    const day = (await databaseNow(database)).toISOString().slice(0, 10)
    await database.transaction(async (tx) => {
      const sealed = sealJson(await key.make(tx), places.audiences(connectionId, day), measures)
      if (sealed) await queries.storeMeasures.run(tx, { connectionId, day, sealed, smallest, keptDays })
    })
  }
}
