import { asOutcome } from '@penstock/connector'
import { meet } from '../../connections/connections.ts'
import type { Logger } from '../../log.ts'
import { wakeWorker } from '../queries.ts'
import { ConnectorDefect } from './connector-calls.ts'
import { endingOf, goesOn, Lost, Released, Stopped } from './endings.ts'
import * as queries from './queries.ts'
import { type EngineDeps, runTransfer } from './run.ts'
import { storable } from './storable.ts'

/** What a worker does with transfers: takes up whose turn it is, runs it, and writes down how it ended. */

const probeFirstSeconds = 60

export type ClaimLimits = {
  /** Transfers of one account that run at once, over all workers. */
  readonly perAccount: number
  /** Transfers that touch one platform at once, over all workers; 0: no limit. */
  readonly perPlatform: number
}

/**
 * Runs transfers, one after the other, until none has its turn or the signal aborts. Any number of these may work at
 * once, in any number of processes.
 */
export async function workOnTransfers(
  deps: EngineDeps,
  limits: ClaimLimits,
  log: Logger,
  stopping: AbortSignal,
): Promise<void> {
  while (!stopping.aborted) {
    const id = await claim(deps, limits)
    if (id === undefined) return
    await workOn(deps, id, log, stopping)
  }
}

async function claim(
  { database, catalogue }: EngineDeps,
  { perAccount, perPlatform }: ClaimLimits,
): Promise<string | undefined> {
  const platformConnectors = JSON.stringify(
    perPlatform > 0 ? catalogue.listed.map(({ id, platformId }) => ({ connector: id, platform: platformId })) : [],
  )
  return database.transaction(async (tx) => {
    await queries.holdClaims.run(tx, {})
    const claimed = await queries.claimTransfer.first(tx, {
      perAccount,
      perPlatform: perPlatform || 1,
      platformConnectors,
    })
    return claimed?.id
  })
}

async function workOn(deps: EngineDeps, id: string, log: Logger, stopping: AbortSignal): Promise<void> {
  const work = await queries.findWork.first(deps.database, { id })
  if (!work) return
  const about = { transferId: id, connectionId: work.connectionId, attempt: work.attempt }
  const ending = new AbortController()
  const release = () => ending.abort(new Released())
  stopping.addEventListener('abort', release)
  if (stopping.aborted) release()
  const heart = keepBeating(deps, work, ending)
  log.info(about, 'transfer taken up')
  try {
    await runTransfer(deps, work, ending.signal)
    log.info(about, 'transfer ended')
  } catch (error) {
    await writeEnd(deps, work, error, log)
  } finally {
    heart.stop()
    stopping.removeEventListener('abort', release)
  }
}

/** How often a worker says that it lives, and looks for those that do not: a few times within the silence of a dead one. */
export const beatMs = ({ settings }: EngineDeps): number => settings.silenceMs / 4

/** Tells the database that this worker lives, and the run when it must end. */
function keepBeating(deps: EngineDeps, { id, attempt }: queries.WorkRow, ending: AbortController) {
  const timer = setInterval(() => {
    queries.beat.first(deps.database, { id, attempt }).then(
      (standing) => {
        const end = endingOf(standing)
        if (end) ending.abort(end)
      },
      // While the database is away there is nothing to say; a batch that cannot be confirmed ends the run.
      () => {},
    )
  }, beatMs(deps))
  return { stop: () => clearInterval(timer) }
}

async function writeEnd(deps: EngineDeps, work: queries.WorkRow, error: unknown, log: Logger): Promise<void> {
  const { id, attempt, connectionId } = work
  const about = { transferId: id, connectionId, attempt }
  if (error instanceof Lost) return log.warn(about, 'transfer lost to another worker')
  if (error instanceof Released) {
    await deps.database.transaction(async (tx) => {
      const released = await queries.releaseTransfer.run(tx, { id, attempt })
      if (released > 0) await wakeWorker.run(tx, { id })
    })
    return log.info(about, 'transfer given back')
  }
  // Our own database is away: nothing can be written, and another worker takes the transfer up.
  if (goesOn(error)) throw error
  const outcome = asOutcome(error)
  const isDefect = !(error instanceof Stopped) && !outcome
  const end =
    error instanceof Stopped
      ? { status: 'cancelled' as const, code: error.code, message: error.code === null ? null : error.message }
      : {
          status: 'failed' as const,
          code: outcome?.code ?? 'internal',
          message: storable(outcome?.message ?? internal),
        }
  await deps.database.transaction(async (tx) => {
    await queries.rememberMarkerUnfinished.run(tx, { id })
    const ended = await queries.endTransfer.run(tx, { id, attempt, ...end })
    if (ended === 0) return
    await queries.dropReceipts.run(tx, { transferId: id })
    if (outcome?.instruction === 'refused') await meet(tx, connectionId, 'breakdown')
    if (outcome?.instruction === 'unreachable' && (await meet(tx, connectionId, 'outage'))) {
      await queries.scheduleProbe.run(tx, { connectionId, inSeconds: probeFirstSeconds })
    }
  })
  if (error instanceof ConnectorDefect) log.error({ ...about, err: error.cause }, 'a connector met a defect')
  else if (isDefect) log.error({ ...about, err: error }, 'a transfer met a defect')
  else log.warn({ ...about, code: end.code, status: end.status }, 'transfer ended')
}

const internal =
  'The transfer met a defect of this program or of a connector. Nothing that was confirmed is lost; tell the operator the identifier of this transfer.'
