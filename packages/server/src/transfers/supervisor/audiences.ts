import type { Json } from '@penstock/connector'
import { databaseNow } from '../../db/clock.ts'
import { emit } from '../../events/events.ts'
import { DataKey } from '../../secrets/data-keys.ts'
import { unixSeconds } from '../../time.ts'
import { matchRatesOf, openMeasures } from '../audience-measures.ts'
import { openJson, places, sealJson } from '../sealed.ts'
import * as queries from './audience-queries.ts'
import { type JobOf, runBackgroundJob } from './background-job.ts'
import type { SupervisorDeps } from './deps.ts'
import { DueWork } from './due-work.ts'

/**
 * The audiences that connections feed, in every worker: once a day, the platform is asked for their sizes and matches. A transfer
 * never depends on the answer.
 */

/** Days of which the measures are kept. */
const keptDays = 90
/** Days before a measure with whose average its match rate is compared. */
const averagedDays = 7

const dayOf = (time: Date) => time.toISOString().slice(0, 10)

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

/** Measures the audiences that are due. */
export class Audiences extends DueWork<queries.TakenCheck> {
  protected readonly failure = 'audiences could not be measured'
  protected take(limit: number) {
    return queries.takeChecks.all(this.deps.database, { limit })
  }

  protected async work(row: queries.TakenCheck): Promise<void> {
    const { database, keyring, catalogue } = this.deps
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
    const result = await runBackgroundJob(this.deps, side, 'audiences', jobOf, this.stopping, row.destConfig)
    if (!result.ok) {
      const problem =
        result.error.kind === 'connector' ? result.error.message : 'The platform did not answer as expected.'
      return void (await queries.storeProblem.run(database, { connectionId, problem }))
    }
    const measures = result.value as unknown as Json
    const sizes = result.value.flatMap(({ high }) => high ?? [])
    const smallest = sizes.length > 0 ? Math.min(...sizes) : null
    const now = await databaseNow(database)
    const day = dayOf(now)
    const firstDay = dayOf(new Date(now.getTime() - averagedDays * 86_400_000))
    const earlier = (await openMeasures(database, key, connectionId, firstDay)).filter((one) => one.day < day)
    const rates = matchRatesOf(result.value, earlier) ?? { matchRate: null, matchRateBefore: null }
    await database.transaction(async (tx) => {
      const sealed = sealJson(await key.make(tx), places.audiences(connectionId, day), measures)
      await emit(tx, {
        type: 'audience.measured',
        organizationId: row.organizationId,
        accountId,
        connectionId,
        // Names can come from rows.
        data: { measuredTime: unixSeconds(now), audiences: result.value.map(({ name, ...audience }) => audience) },
      })
      if (sealed) await queries.storeMeasures.run(tx, { connectionId, day, sealed, smallest, ...rates, keptDays })
    })
  }
}
