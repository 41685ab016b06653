import { setTimeout as delay } from 'node:timers/promises'
import { ConnectorError } from '@penstock/connector'
import { type ConfirmArgument, type DivideArgument, type JobError, sendsChangedRows, storable } from '@penstock/engine'
import { decide, finalState, isTransferErrorCode, type Role, type TransferErrorCode } from '@penstock/wire'
import type { Db, Transaction } from '../../db/database.ts'
import type { Logger } from '../../log.ts'
import { EndJob, RunnerDied } from '../../runners/runner-process.ts'
import { watchManagers } from '../../secret-managers/outdated.ts'
import { Unreadable } from '../../secrets/seal.ts'
import { isJobMethod, isTransferMethod, JobHost } from '../job-host.ts'
import { wakeWorkers } from '../queries.ts'
import { consequencesOf } from '../reads-again.ts'
import { saveEventsRead, saveRejectsRead } from '../rejecting-queries.ts'
import { frozenSides, replacesAll } from '../sides.ts'
import { watchAudiencesOf } from './audiences.ts'
import { measureSoon } from './change-log-queries.ts'
import { noteLogOf } from './change-logs.ts'
import { giveBack } from './claim.ts'
import type { WorkRow } from './claim-queries.ts'
import { crashRetriesOf, describeCrash } from './crashes.ts'
import { heartbeatMs, type SupervisorDeps, type SupervisorSettings } from './deps.ts'
import { settleDigests } from './digest-queries.ts'
import { endPart } from './end-part.ts'
import { Defect, Divided, endingOf, incidentOf, Lost, Released, resumes, Stopped } from './endings.ts'
import { sentenceOfDoubt } from './in-doubt.ts'
import { saveReplaced } from './ledger-queries.ts'
import { changedSides } from './present-settings-queries.ts'
import * as queries from './queries.ts'
import { skipPaused } from './tables.ts'
import { DatabaseTransferHost } from './transfer-host.ts'
import { TransferLog } from './transfer-log.ts'
import { TransferTrace } from './transfer-trace.ts'

/** Supervises a transfer: runs it in a runner, and stores how it ended. */

/** How long a transfer that is stopped may take to end; a runner gives its destination half a minute for that. */
const stopGraceMs = 35_000
/** How long a transfer may take to end if its worker stops and gives it back. */
const releaseGraceMs = 5_000
/** How often another worker is tried for a connector that is missing. */
const missingRetriesMax = 3
const missingWaitFirstMs = 500
const missingWaitMostMs = 5_000

/** Runs a claimed transfer, and stores how it ended. Rejects if that could not be stored: another worker will claim it. */
export async function superviseTransfer(
  deps: SupervisorDeps,
  work: WorkRow,
  log: Logger,
  stopping: AbortSignal,
): Promise<void> {
  const { startSpan, catalogue } = deps
  // A connector that this worker does not know ends the transfer below.
  const sides = [work.srcConnectorId, work.destConnectorId].map((id) => catalogue.find(id) ?? { slug: id, name: id })
  const slugs = sides.map(({ slug }) => slug)
  const trace = startSpan && new TransferTrace(startSpan, work, slugs)
  const about = {
    transferId: work.id,
    connectionId: work.connectionId,
    attempt: work.attempt,
    ...(work.parts > 1 && { part: work.part }),
    ...trace?.logFields,
  }
  log.info(about, 'transfer claimed')
  const [source = '', destination = ''] = sides.map(({ name }) => name)
  const lines = new TransferLog(deps.database, work, { source, destination })
  let failure: unknown
  try {
    await runWithPresentSecrets(deps, work, stopping, about, { trace, lines })
    log.info(about, work.parts > 1 ? 'part of a transfer ended' : 'transfer ended')
  } catch (error) {
    failure = error
    await writeEnd(deps, work, error, about, { log, lines, stopping })
  } finally {
    trace?.end(failure)
  }
}

/** Runs it, and again if a platform refused the sign-in with a secret that may have been rotated, before anything was confirmed. */
async function runWithPresentSecrets(
  deps: SupervisorDeps,
  work: WorkRow,
  stopping: AbortSignal,
  about: Readonly<Record<string, unknown>>,
  { trace, lines }: { trace: TransferTrace | undefined; lines: TransferLog },
): Promise<void> {
  const secretManagers = watchManagers(deps.secretManagers)
  const begun = { is: work.attempt > 1 }
  try {
    await runTransfer({ ...deps, secretManagers }, work, stopping, about, { trace, lines, begun })
  } catch (error) {
    if (!(error instanceof ConnectorError) || begun.is || !secretManagers.forgetRefused(error.code)) throw error
    lines.add('noted', `${error.message} The secret is read from its secret manager again.`)
    await runTransfer(deps, work, stopping, about, { trace, lines, begun })
  }
}

/** Runs the transfer in a runner. Throws what ended it before everything was delivered, confirmed and visible. */
async function runTransfer(
  deps: SupervisorDeps,
  work: WorkRow,
  stopping: AbortSignal,
  about: Readonly<Record<string, unknown>>,
  {
    trace,
    lines,
    begun,
  }: {
    trace: TransferTrace | undefined
    lines: TransferLog /** Set once anything is confirmed. */
    begun: { is: boolean }
  },
): Promise<void> {
  const { database, catalogue, runners, settings } = deps
  // A transfer that has begun must be cleaned up at its destination, which needs a runner. Any other one ends here.
  const isNew = work.parts > 1 ? work.attempt === 1 : work.columns === null
  const standing = isNew ? endingOf(work) : undefined
  if (standing) throw standing
  if (await skipPaused(deps, work, lines)) return
  const sides = frozenSides(catalogue, work)
  const { source, destination } = sides
  await sayIfAgain(database, work, { source: source.connector, destination: destination.connector }, lines)
  const readsLog = await noteLogOf(deps, work)
  await watchAudiencesOf(deps, work)
  const begunMs = performance.now()
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
    queries.heartbeat.first(database, queries.fenceOf(work)).then(
      (standing) => {
        const reason =
          endingOf(standing) ?? overtimeOf(work.ranMs - work.pausedMs + performance.now() - begunMs, settings)
        if (reason) end(reason)
      },
      // While the database is unavailable there is nothing to report; a batch that cannot be confirmed ends the transfer.
      () => {},
    )
    void lines.flush()
  }, heartbeatMs(deps))
  const host = new DatabaseTransferHost(deps, work, sides, lines.note)
  const ofJob = new JobHost(deps, work.replayOf ? [destination] : [source, destination])
  try {
    const { retry, replaceShareMin, progressMs } = settings
    trace?.runs()
    const result = await runners.run(
      {
        kind: 'transfer',
        id: queries.nameOfPart(work),
        connectionId: work.connectionId,
        ...(work.parts > 1 && { partOf: work.id }),
        retry,
        replaceShareMin,
        connectors: [work.srcConnectorId, work.destConnectorId].map((id) => catalogue.known(id).slug),
      },
      {
        owner: work.accountId,
        watch: { progressMs },
        signal: ending.signal,
        about,
        answer: async (method, argument) => {
          // Renewed secrets are saved even if the transfer has ended meanwhile.
          const saves = method === 'replaceSecret' || method === 'releaseSecret'
          if (endedBy !== undefined && !saves) throw endJob(endedBy)
          try {
            if (!isTransferMethod(method)) throw new EndJob(false, 0)
            if (method === 'confirm') begun.is = true
            if (method === 'divide') await lines.divide(argument as DivideArgument)
            const answered = await (isJobMethod(method)
              ? ofJob.answer(method, argument)
              : host.answer(method, argument))
            if (method === 'confirm') {
              const { confirmation } = argument as ConfirmArgument
              deps.activity?.confirmed(confirmation)
              ofJob.confirmed(confirmation.cursor)
            }
            trace?.answered(method, argument, answered)
            lines.answered(method, argument, answered)
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
    lines.addEnd()
    await lines.flush()
    await finish(deps, work, lines, ofJob)
  } catch (error) {
    throw error instanceof RunnerDied || error instanceof EndJob ? (endedBy ?? error) : error
  } finally {
    clearInterval(heartbeat)
    // It is measured later, too.
    if (readsLog) await measureSoon.run(database, { connectionId: work.connectionId }).catch(() => {})
    await ofJob.close()
    stopping.removeEventListener('abort', release)
  }
}

const endJob = (error: unknown): EndJob =>
  resumes(error) ? new EndJob(true, releaseGraceMs) : new EndJob(false, stopGraceMs)

const lostToAnother = 'transfer lost to another worker'

/** Everything is delivered, confirmed and visible. */
async function finish(
  deps: SupervisorDeps,
  work: WorkRow,
  lines: TransferLog,
  { rejectsRead, eventsRead }: JobHost,
): Promise<void> {
  const { id, connectionId } = work
  const isReplaced = replacesAll(deps.catalogue, work)
  const hasDigests = sendsChangedRows(work.destConfig)
  const isOfRejects = rejectsRead !== undefined && work.testRows === null
  const movesCursor = work.testRows === null && work.backfill === null
  const isOfEvents = eventsRead !== undefined && movesCursor
  const also = async (tx: Transaction) => {
    if (isReplaced) await saveReplaced.run(tx, { id })
    if (isOfRejects) await saveRejectsRead.run(tx, { id, ...rejectsRead })
    if (isOfEvents) await saveEventsRead.run(tx, { id, ...eventsRead })
    if (hasDigests) await settleDigests.run(tx, { id, connectionId })
  }
  const success = { status: 'succeeded', code: null, message: null, side: null, connection: null } as const
  const stores = isReplaced || isOfRejects || isOfEvents || hasDigests
  if (!(await endPart(deps, work, success, lines.lineOf, stores ? also : undefined))) throw new Lost()
}

/** Adds lines to the log of a new transfer if it reads everything again, and people must know what follows. */
async function sayIfAgain(
  db: Db,
  work: WorkRow,
  connectors: Parameters<typeof consequencesOf>[1],
  lines: TransferLog,
): Promise<void> {
  if (work.attempt > 1 || work.parts > 1 || work.testRows !== null || work.replayOf !== null) return
  for (const { message } of await consequencesOf(db, connectors, work)) lines.add('noted', message)
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

function overtimeOf(ranMs: number, { runTimeMs }: SupervisorSettings): Error | undefined {
  if (ranMs < runTimeMs) return undefined
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
  { log, lines, stopping }: { log: Logger; lines: TransferLog; stopping: AbortSignal },
): Promise<void> {
  const { database } = deps
  const { id } = work
  const incident = incidentOf(error)
  const interruption = 'interruption' in incident ? incident.interruption : undefined
  if (error instanceof Divided) return log.info({ ...about, parts: error.parts }, 'transfer divided into parts')
  if (interruption === 'lost') return log.warn(about, lostToAnother)
  // Our own database is unavailable: nothing can be written, and another worker claims the transfer.
  if (interruption === 'database_away') throw error
  let decision = decide(incident, { ...finalState, retryAfterMs: 0 })
  if (decision.do === 'requeue' && interruption) {
    const why =
      error instanceof RunnerDied ? 'The worker could not start or load what runs the transfer.' : 'The worker stopped.'
    lines.add('ended', `${why} Another attempt continues after the last confirmed record.`)
    await lines.flush()
    await giveBack(database, work)
    return log.info(about, 'transfer given back')
  }
  if (decision.do === 'requeue') {
    const { code, message } = describeError(error, deps)
    lines.add('ended', `${message} Another attempt follows, unless this happened too often.`)
    await lines.flush()
    // A runner that died is replaced; another machine, or an operator, may have the connector soon.
    if (code === 'connector_missing')
      await delay(waitForConnectorMs(work), undefined, { signal: stopping }).catch(() => {})
    if (await retryCrashed(deps, work, error))
      return log.warn({ ...about, code }, 'transfer is tried again by another runner')
  }
  decision = decide(incident, finalState)
  if (decision.do !== 'end') throw new Error(`A transfer that is over cannot ${decision.do}`, { cause: error })
  const { status, connection } = decision
  const described = describeError(error, deps)
  const { code, side } = described
  const changed = await withChanges(deps, work, described)
  // That of several parts is reported when the last one has ended.
  const doubt = work.parts > 1 ? '' : await sentenceOfDoubt(database, id, side)
  const message = changed && `${changed}${doubt}`
  lines.add(
    'ended',
    code === null
      ? `The transfer was cancelled.${doubt}`
      : `${status === 'failed' ? 'Failed' : 'Stopped'}: ${message} (${code})`,
  )
  await lines.flush()
  const isOwn = await endPart(deps, work, { status, code, message, side, connection }, lines.lineOf)
  if (error instanceof Defect) log.error({ ...about, report: error.report }, 'transfer failed: internal error')
  else if (error instanceof Unreadable) log.error({ ...about, err: error }, 'a sealed value cannot be opened')
  else if (code === 'internal') log.error({ ...about, err: error }, 'transfer failed: internal error')
  else if (isOwn) log.warn({ ...about, code, status }, 'transfer ended')
  else log.warn(about, lostToAnother)
}

/** How long a worker that lacks a connector waits until it gives a transfer back, in milliseconds: longer with each attempt. */
const waitForConnectorMs = ({ attempt }: WorkRow): number =>
  Math.min(missingWaitMostMs, missingWaitFirstMs * 2 ** (attempt - 1))

/** Queues the transfer again, unless its runners died too often in a row. */
async function retryCrashed({ database }: SupervisorDeps, work: WorkRow, error: unknown): Promise<boolean> {
  const most = error instanceof RunnerDied ? crashRetriesOf(error.reason) : missingRetriesMax
  return database.transaction(async (tx) => {
    const requeued = await queries.requeueCrashed.run(tx, { ...queries.fenceOf(work), crashesMax: most })
    if (requeued === 0) return false
    await wakeWorkers.run(tx, {})
    return true
  })
}

/** Stored error of a transfer; without a code if a person cancelled it. */
type StoredError = {
  readonly code: TransferErrorCode | null
  readonly message: string | null
  /** The side of the connection that the error belongs to; `null` if it belongs to neither. */
  readonly side: Role | null
}

/** The message of an error, which says so if the connector of its side was configured in another way since the transfer took its settings. */
async function withChanges(
  { database, catalogue }: SupervisorDeps,
  { id, srcConnectorId, destConnectorId }: WorkRow,
  { code, message, side }: StoredError,
): Promise<string | null> {
  if (message === null || side === null || code === 'settings_changed') return message
  const changed = await changedSides.first(database, { id })
  if (!(side === 'Source' ? changed?.src : changed?.dest)) return message
  const name = catalogue.find(side === 'Source' ? srcConnectorId : destConnectorId)?.name ?? 'the connector'
  return `${message} The configuration of ${name} was changed after this transfer had begun with it: start a new transfer, which uses the present one.`
}

function describeError(error: unknown, deps: SupervisorDeps): StoredError {
  if (error instanceof Stopped) {
    return { code: error.code, message: error.code === null ? null : error.message, side: null }
  }
  if (error instanceof ConnectorError) return { code: error.code, message: storable(error.message), side: error.side }
  if (error instanceof Unreadable) {
    return {
      code: 'stored_value_unreadable',
      side: null,
      message:
        'A sealed value that this transfer needs cannot be opened: it was altered, is not sealed, or its key is not known. Ask the operator to restore the database from a backup, or save the secrets of its connectors again.',
    }
  }
  if (error instanceof RunnerDied) return { ...describeCrash(error, deps.settings.progressMs), side: null }
  if (error instanceof Defect && error.isConnector) {
    return {
      code: 'connector_failed',
      side: error.side,
      message:
        'The connector failed with an unknown error. No confirmed record is lost: start the transfer again, and if it persists, report its identifier to your operator.',
    }
  }
  return {
    code: 'internal',
    side: null,
    message:
      'Penstock itself failed. No confirmed record is lost: report the identifier of this transfer to your operator.',
  }
}
