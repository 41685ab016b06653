import { ConnectorError } from '@penstock/connector'
import { isSecretMethod, type JobError, type RetryPolicy, sideSettings, storable } from '@penstock/engine'
import { decide, finalState, isTransferErrorCode, type Role, type TransferErrorCode } from '@penstock/wire'
import { serviceActor } from '../../audit/record.ts'
import { meet } from '../../connections/connections.ts'
import type { Catalogue } from '../../connectors/catalogue.ts'
import type { Database, Db } from '../../db/database.ts'
import type { Logger } from '../../log.ts'
import type { Runners } from '../../runners/runner-pool.ts'
import { EndJob, RunnerDied } from '../../runners/runner-process.ts'
import type { Keyring } from '../../secrets/keyring.ts'
import type { Telemetry } from '../../telemetry/telemetry.ts'
import * as endings from '../ending-queries.ts'
import { JobSecrets } from '../job-secrets.ts'
import { wakeWorker } from '../queries.ts'
import { movingSides } from '../sides.ts'
import { type Claims, claimTransfer } from './claim.ts'
import type { WorkRow } from './claim-queries.ts'
import { crashRetriesMax, describeCrash } from './crashes.ts'
import { Defect, endingOf, incidentOf, Lost, Released, resumes, Stopped } from './endings.ts'
import { saveReplaced } from './ledger-queries.ts'
import * as queries from './queries.ts'
import { DatabaseTransferHost } from './transfer-host.ts'
import { TransferTrace } from './transfer-trace.ts'
import { scheduleProbe } from './upkeep-queries.ts'

/** What a worker does with transfers: it claims the next one, runs it in a runner, and stores how it ended. */

/** What transfers are supervised with. */
export type SupervisorDeps = {
  readonly database: Database
  readonly keyring: Keyring
  readonly catalogue: Catalogue
  readonly runners: Runners
  readonly settings: SupervisorSettings
  /** Makes spans, where traces are exported. */
  readonly startSpan?: Telemetry['startSpan']
}

export type SupervisorSettings = {
  readonly retry: RetryPolicy
  /** A worker without a heartbeat for this long is dead, in milliseconds. */
  readonly heartbeatTimeoutMs: number
  /** Rejected records that are kept of one transfer; counts are never bounded. */
  readonly rejectsMax: number
  /** A transfer that replaces everything with less than this share of what the last one sent waits for confirmation. */
  readonly replaceShareMin: number
  /** Between two signs that a transfer moves, in milliseconds. */
  readonly progressMs: number
  /** From the first claim of a transfer to its end, in milliseconds. */
  readonly runTimeMs: number
}

const probeFirstSeconds = 60
/** How long a transfer that is stopped may take to end; a runner gives its destination half a minute for that. */
const stopGraceMs = 35_000
/** How long a transfer may take to end if its worker stops and gives it back. */
const releaseGraceMs = 5_000

/**
 * Runs transfers, one after the other, until none may be claimed or the signal aborts. Any number of these may work at
 * once, in any number of processes.
 */
export async function workOnTransfers(
  deps: SupervisorDeps,
  claims: Claims,
  log: Logger,
  stopping: AbortSignal,
): Promise<void> {
  while (!stopping.aborted) {
    const claimed = await claimTransfer(deps, claims)
    if (!claimed) return
    try {
      await superviseTransfer(deps, claimed, log, stopping)
    } finally {
      claims.release(claimed)
    }
  }
}

/** How often a worker sends a heartbeat, and looks for workers without one. */
export const heartbeatMs = ({ settings }: Pick<SupervisorDeps, 'settings'>): number => settings.heartbeatTimeoutMs / 4

async function superviseTransfer(
  deps: SupervisorDeps,
  work: WorkRow,
  log: Logger,
  stopping: AbortSignal,
): Promise<void> {
  const { startSpan, catalogue } = deps
  const slugs = [work.srcConnectorId, work.destConnectorId].map((id) => catalogue.known(id).slug)
  const trace = startSpan && new TransferTrace(startSpan, work, slugs)
  const about = {
    ...{ transferId: work.id, connectionId: work.connectionId, attempt: work.attempt },
    ...(trace ? { trace_id: trace.traceId } : {}),
  }
  log.info(about, 'transfer claimed')
  let failure: unknown
  try {
    await runTransfer(deps, work, stopping, about, trace)
    log.info(about, 'transfer ended')
  } catch (error) {
    failure = error
    await writeEnd(deps, work, error, about, log)
  } finally {
    trace?.end(failure)
  }
}

/** Runs the transfer in a runner. Throws what ended it before everything was delivered, confirmed and visible. */
async function runTransfer(
  deps: SupervisorDeps,
  work: WorkRow,
  stopping: AbortSignal,
  about: Readonly<Record<string, unknown>>,
  trace: TransferTrace | undefined,
): Promise<void> {
  const { database, catalogue, runners, settings } = deps
  // What has begun is removed at its destination, which needs a runner; anything else ends here.
  const standing = work.columns === null ? endingOf(work) : undefined
  if (standing) throw standing
  const ending = new AbortController()
  let endedBy: unknown
  const end = (error: unknown) => {
    endedBy ??= error
    ending.abort(endJob(endedBy))
  }
  const release = () => end(new Released())
  stopping.addEventListener('abort', release)
  if (stopping.aborted) release()
  const heartbeat = setInterval(() => {
    queries.heartbeat.first(database, { id: work.id, attempt: work.attempt }).then(
      (standing) => {
        const reason = endingOf(standing) ?? overtimeOf(work, settings)
        if (reason) end(reason)
      },
      // While the database is unavailable there is nothing to report; a batch that cannot be confirmed ends the transfer.
      () => {},
    )
  }, heartbeatMs(deps))
  const host = new DatabaseTransferHost(deps, work)
  const sides = work.replayOf ? [work.destConnectorId] : [work.srcConnectorId, work.destConnectorId]
  const secrets = new JobSecrets(deps, work.accountId, sides.map(catalogue.known))
  try {
    const { retry, replaceShareMin, progressMs } = settings
    trace?.runs()
    const result = await runners.run(
      {
        ...{ kind: 'transfer', id: work.id, connectionId: work.connectionId, retry, replaceShareMin },
        connectors: [work.srcConnectorId, work.destConnectorId].map((id) => catalogue.known(id).slug),
      },
      {
        owner: work.accountId,
        watch: { progressMs },
        signal: ending.signal,
        about,
        answer: async (method, argument) => {
          // What was renewed is saved, even where the transfer has ended meanwhile.
          const saves = method === 'replaceSecret' || method === 'releaseSecret'
          if (endedBy !== undefined && !saves) throw endJob(endedBy)
          try {
            const answered = await (isSecretMethod(method)
              ? secrets.answer(method, argument)
              : host.answer(method, argument))
            trace?.answered(method, argument, answered)
            return answered
          } catch (error) {
            endedBy ??= error
            throw endJob(error)
          }
        },
      },
    )
    if (!result.ok) throw endedBy ?? errorOf(result.error)
    trace?.stopped()
    await finish(deps, work)
  } catch (error) {
    throw error instanceof RunnerDied || error instanceof EndJob ? (endedBy ?? error) : error
  } finally {
    clearInterval(heartbeat)
    await secrets.close()
    stopping.removeEventListener('abort', release)
  }
}

const endJob = (error: unknown): EndJob =>
  resumes(error) ? new EndJob(true, releaseGraceMs) : new EndJob(false, stopGraceMs)

const withoutError = { code: null, message: null, side: null }

/** Everything is delivered, confirmed and visible. */
async function finish({ database, catalogue }: SupervisorDeps, work: WorkRow): Promise<void> {
  const { id, attempt } = work
  const { destination, deliver } = movingSides(catalogue, work)
  const replaces = deliver.replaces?.(sideSettings(destination, 'Destination', work.destConfig)) ?? false
  const end = async (db: Db) => {
    const ended = await endings.endTransfer.first(db, { id, attempt, status: 'succeeded', ...withoutError })
    if (!ended) throw new Lost()
  }
  if (!replaces) return end(database)
  await database.transaction(async (tx) => {
    await saveReplaced.run(tx, { id })
    await end(tx)
  })
}

function errorOf(error: JobError): unknown {
  switch (error.kind) {
    case 'connector':
      // The codes of a runner are not trusted.
      return isTransferErrorCode(error.code)
        ? new ConnectorError(error.code, error.message, { side: error.side })
        : new Defect(false, { type: 'UnknownCode', stack: '' }, error.side)
    case 'defect':
      return new Defect(error.isConnector, error.report, error.side)
    default:
      return new Defect(false, { type: error.kind, stack: '' }, null)
  }
}

function overtimeOf({ startedTime }: WorkRow, { runTimeMs }: SupervisorSettings): Error | undefined {
  if (Date.now() - startedTime.getTime() < runTimeMs) return undefined
  const hours = Math.round(runTimeMs / 36_000) / 100
  return new ConnectorError(
    'run_time_exceeded',
    `The transfer ran for longer than ${hours} hours, the most that PENSTOCK_TRANSFER_HOURS allows. What was confirmed is kept: split the source, or ask the operator for more.`,
  )
}

async function writeEnd(
  deps: SupervisorDeps,
  work: WorkRow,
  error: unknown,
  about: Readonly<Record<string, unknown>>,
  log: Logger,
): Promise<void> {
  const { database } = deps
  const { id, attempt, connectionId } = work
  const incident = incidentOf(error)
  const interruption = 'interruption' in incident ? incident.interruption : undefined
  if (interruption === 'lost') return log.warn(about, 'transfer lost to another worker')
  // Our own database is unavailable: nothing can be written, and another worker claims the transfer.
  if (interruption === 'database_away') throw error
  const isCrash = error instanceof RunnerDied
  let decision = decide(incident, { ...finalState, retryAfterMs: isCrash ? 0 : null })
  if (decision.do === 'requeue' && !isCrash) {
    await database.transaction(async (tx) => {
      const released = await queries.releaseTransfer.run(tx, { id, attempt })
      if (released > 0) await wakeWorker.run(tx, { id })
    })
    return log.info(about, 'transfer given back')
  }
  if (decision.do === 'requeue' && isCrash) {
    if (await retryCrashed(deps, work)) {
      return log.warn({ ...about, reason: error.reason }, 'transfer is tried again after its runner died')
    }
    decision = decide(incident, finalState)
  }
  if (decision.do !== 'end') throw new Error(`A transfer that is over cannot ${decision.do}`, { cause: error })
  const { status, connection } = decision
  const { code, message, side } = describeError(error, deps)
  await database.transaction(async (tx) => {
    const ended = await endings.endTransfer.first(tx, { id, attempt, status, code, message, side })
    if (!ended) return
    if (connection && (await meet(tx, connectionId, connection)) && connection === 'outage') {
      await scheduleProbe.run(tx, { connectionId, inSeconds: probeFirstSeconds })
    }
  }, serviceActor)
  if (error instanceof Defect) log.error({ ...about, report: error.report }, 'a transfer met a defect')
  else if (code === 'internal') log.error({ ...about, err: error }, 'a transfer met a defect')
  else log.warn({ ...about, code, status }, 'transfer ended')
}

/** Queues the transfer again, unless its runners died too often in a row. */
async function retryCrashed({ database }: SupervisorDeps, { id, attempt }: WorkRow): Promise<boolean> {
  return database.transaction(async (tx) => {
    const requeued = await queries.requeueCrashed.run(tx, { id, attempt, crashesMax: crashRetriesMax })
    if (requeued === 0) return false
    await wakeWorker.run(tx, { id })
    return true
  })
}

/** What is stored of the error of a transfer; without a code where a person cancelled it. */
type StoredError = {
  readonly code: TransferErrorCode | null
  readonly message: string | null
  /** The side of the connection that it happened at; `null` where it is of neither. */
  readonly side: Role | null
}

function describeError(error: unknown, deps: SupervisorDeps): StoredError {
  if (error instanceof Stopped) {
    return { code: error.code, message: error.code === null ? null : error.message, side: null }
  }
  if (error instanceof ConnectorError) return { code: error.code, message: storable(error.message), side: error.side }
  if (error instanceof RunnerDied) return { ...describeCrash(error, deps.settings.progressMs), side: null }
  if (error instanceof Defect && error.isConnector) {
    return {
      ...{ code: 'connector_failed', side: error.side },
      message:
        'The connector failed with an unknown error. No confirmed record is lost: start the transfer again, and if it persists, report its identifier to your operator.',
    }
  }
  return {
    ...{ code: 'internal', side: null },
    message:
      'Penstock itself failed. No confirmed record is lost: report the identifier of this transfer to your operator.',
  }
}
