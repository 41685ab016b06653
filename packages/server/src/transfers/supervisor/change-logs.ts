import type { ChangeLog, Connector, Values } from '@penstock/connector'
import {
  type DropSlotJob,
  type JobError,
  type JobResult,
  type MeasureLogJob,
  sideSettings,
  withDefaults,
} from '@penstock/engine'
import { limits } from '@penstock/wire'
import { record, serviceActor } from '../../audit/record.ts'
import type { Catalogue } from '../../connectors/catalogue.ts'
import { newIdentifier } from '../../identifiers.ts'
import { DataKey } from '../../secrets/data-keys.ts'
import { openJson, places } from '../sealed.ts'
import { forgetCursor, recordState } from '../state-queries.ts'
import { type JobOf, runBackgroundJob } from './background-job.ts'
import * as queries from './change-log-queries.ts'
import type { SupervisorDeps } from './deps.ts'
import { DueWork } from './due-work.ts'

/**
 * The logs of servers from which connections read changes, in every worker. Each is measured after a transfer and every 15 minutes, also while
 * its connection is disabled or deleted, because the server keeps it all the time. A slot that its connection does not read any more is dropped:
 * one of other settings, of another configuration, or of a connection that was deleted permanently.
 */

/** How long settings can be changed back before the slot is dropped. */
const graceSeconds = 600
/** How long a slot of a connection that was purged is tried to be dropped. */
const tryPurgedSeconds = 3 * 86_400
/** From this share of the most that the server keeps for a slot, it warns. */
const riskyShare = 0.8

/** A log of a connector with a configuration, and whether the settings of a connection read from it. */
type Log = { readonly log: ChangeLog; readonly connector: Connector }

function logOf(catalogue: Pick<Catalogue, 'known'>, connectorId: string): Log | undefined {
  const connector = catalogue.known(connectorId)
  const log = connector.source?.changeLog
  return log && { log, connector }
}

const serverOf = ({ log, connector }: Log, settings: Values): string =>
  log.server(withDefaults(connector.secrets, settings))
const slotOf = ({ log, connector }: Log, settings: Values): string | undefined =>
  log.slot(sideSettings(connector, 'Source', settings))

/** The work of a transfer, as far as its log is concerned. */
type LogOfWork = {
  readonly organizationId: string
  readonly accountId: string
  readonly connectionId: string
  readonly srcConnectorId: string
  readonly srcConfigurationId: string
  readonly srcConfig: Values
  readonly srcSettings: Values
  readonly replayOf: string | null
  readonly parts: number
}

/**
 * Notes the log of a transfer before it can create a slot, so that no slot is forgotten.
 * @returns whether it reads a log, which is then to be measured once it has ended
 */
export async function noteLogOf({ database, catalogue }: SupervisorDeps, work: LogOfWork): Promise<boolean> {
  const found = work.replayOf === null && work.parts === 1 ? logOf(catalogue, work.srcConnectorId) : undefined
  const slot = found && slotOf(found, work.srcConfig)
  if (slot === undefined) return false
  const { organizationId, accountId, connectionId, srcConnectorId: connectorId, srcConfigurationId } = work
  const key = {
    connectionId,
    configurationId: srcConfigurationId,
    slot,
    server: serverOf(found as Log, work.srcSettings),
  }
  await queries.noteLog.run(database, { ...key, organizationId, accountId, connectorId })
  return true
}

/** Looks at the logs that are due. */
export class ChangeLogs extends DueWork<queries.TakenLog> {
  protected readonly failure = 'a log of changes could not be measured'
  protected take(limit: number) {
    return queries.takeLogs.all(this.deps.database, { limit })
  }

  protected async work(row: queries.TakenLog): Promise<void> {
    const { database, catalogue } = this.deps
    const found = logOf(catalogue, row.connectorId)
    if (row.stays || !found || (row.slot === '' && !this.#isRead(row, found))) {
      return void (await queries.forgetLog.run(database, row))
    }
    if (!row.asked && this.#isRead(row, found)) return this.#measure(row, found)
    await this.#leave(row, found)
  }

  /** Whether the connection reads the log, or will once it is enabled or restored. */
  #isRead(row: queries.TakenLog, found: Log): boolean {
    if (row.isExpired || row.srcConnectorId !== row.connectorId || row.srcConfigurationId !== row.configurationId) {
      return false
    }
    if (slotOf(found, row.srcConfig ?? {}) !== row.slot || row.settings === null) return false
    return serverOf(found, row.settings) === row.server
  }

  async #measure(row: queries.TakenLog, found: Log): Promise<void> {
    const { database, keyring } = this.deps
    const { connectionId, slot } = row
    const key = new DataKey(keyring, row.dataKeyId, async () => {})
    const cursor = await openJson(database, key, places.cursor(connectionId), row.cursorSealed)
    const measure = (of: JobOf) => ({ kind: 'measure log', slot, cursor, ...of }) as const
    const result = await this.#run(row, found, measure)
    if (!result.ok) return void (await queries.storeProblem.run(database, { ...row, problem: inWords(result.error) }))
    const { keptBytes, limitBytes, status } = result.value
    const kept = keptBytes ?? 0
    const warns =
      status === 'lost' ||
      status === 'unreserved' ||
      kept >= limits.logKeptBytes ||
      (limitBytes !== null && kept >= riskyShare * limitBytes)
    await queries.storeMeasure.run(database, { ...row, ...result.value, warns })
  }

  /** Drops the slot of a log that the connection does not read, if it can, and records the result. */
  async #leave(row: queries.TakenLog, found: Log): Promise<void> {
    const { database } = this.deps
    if (row.isShared) return void (await queries.forgetLog.run(database, row))
    if (row.leavingSeconds === null && !row.isExpired) return void (await queries.leaveLog.run(database, row))
    const seconds = row.leavingSeconds ?? 0
    if (row.isTransferring || (seconds < graceSeconds && !row.asked && !row.isExpired)) return
    if (row.settings === null) return this.#stay(row, found, 'The configuration of the connector was removed.')
    const server = serverOf(found, row.settings)
    if (server !== row.server) {
      return this.#stay(
        row,
        found,
        `The connector is configured for ${server} by now. If that is the same server, and the connection still reads the slot, leave it there.`,
      )
    }
    const { slot, confirmed } = row
    const drop = (of: JobOf) => ({ kind: 'drop slot', slot, confirmed, ...of }) as const
    const result = await this.#run(row, found, drop)
    if (result.ok) {
      if (result.value === 'in_use') return this.#stay(row, found, 'Something else reads from it.')
      return this.#dropped(row, found, result.value)
    }
    const problem = inWords(result.error)
    if (row.status === null && seconds > tryPurgedSeconds) return this.#stay(row, found, problem)
    if (row.leavingSeconds === null) await queries.leaveLog.run(database, row)
    await queries.storeProblem.run(database, { ...row, problem })
  }

  #run<J extends MeasureLogJob | DropSlotJob>(
    { accountId, configurationId, srcConfig }: queries.TakenLog,
    { connector }: Log,
    jobOf: (of: JobOf) => J,
  ): Promise<JobResult<J['kind']>> {
    const side = { connector, accountId, configurationId }
    return runBackgroundJob(this.deps, side, 'change logs', jobOf, this.stopping, srcConfig ?? {})
  }

  /** Stores that a slot is gone. */
  async #dropped(row: queries.TakenLog, found: Log, how: 'dropped' | 'missing'): Promise<void> {
    const { connectionId, slot, server } = row
    await this.deps.database.transaction(async (tx) => {
      await queries.forgetLog.run(tx, row)
      // A state that still describes the slot would be continued in vain.
      const described = row.describes?.source.settings
      if (described && slotOf(found, described) === slot) {
        await forgetCursor.run(tx, { connectionId, salt: newIdentifier() })
      }
      if (how === 'missing') return
      if (row.status !== null) await recordState.run(tx, { connectionId, of: slot, what: 'slot dropped' })
      record(tx, { ...auditOf(row), action: 'slotDropped', details: { slot, server } })
    }, serviceActor)
    if (how === 'dropped')
      this.log.info({ connectionId, slot }, 'a replication slot that no connection reads was dropped')
  }

  /** Stores that a person must drop a slot. */
  async #stay(row: queries.TakenLog, found: Log, why: string): Promise<void> {
    const { connectionId, slot, server } = row
    const details = { slot, server, why, statement: found.log.release?.statement(slot) }
    await this.deps.database.transaction(async (tx) => {
      await (row.status === null ? queries.forgetLog.run(tx, row) : queries.staySlot.run(tx, { ...row, problem: why }))
      if (row.status !== null) await recordState.run(tx, { connectionId, of: slot, what: 'slot stays' })
      record(tx, { ...auditOf(row), action: 'slotStays', details })
    }, serviceActor)
    this.log.warn({ connectionId, ...details }, 'a replication slot that no connection reads could not be dropped')
  }
}

const auditOf = ({ organizationId, accountId, connectionId: targetId }: queries.TakenLog) => ({
  organizationId,
  accountId,
  targetId,
  actor: serviceActor,
})

/** Why a job of a log did not succeed, for a person. */
const inWords = (error: JobError): string =>
  error.kind === 'connector' ? error.message : 'The connector did not answer as expected. It is tried again.'
