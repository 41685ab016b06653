import { setTimeout as delay } from 'node:timers/promises'
import { keepAlerts } from '../alerts/keep.ts'
import type { Config } from '../config.ts'
import { createCatalogue } from '../connectors/catalogue.ts'
import { type Database, type DatabaseUrl, openDatabase } from '../db/database.ts'
import { createNotices } from '../db/notices.ts'
import type { Logger } from '../log.ts'
import { createMailer } from '../mail.ts'
import { createOutgoing } from '../outgoing/outgoing.ts'
import type { Runners } from '../runners/runner-pool.ts'
import { openKeyring } from '../secrets/keyring.ts'
import type { MasterKey } from '../secrets/seal.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import { Claims } from '../transfers/supervisor/claim.ts'
import { type SupervisorDeps, workOnTransfers } from '../transfers/supervisor/supervise.ts'
import { keepUp } from '../transfers/supervisor/upkeep.ts'
import { Sender } from '../webhooks/sending/sender.ts'
import { countWaitingJobs } from './queries.ts'
import { type Queue, runQueue } from './queue.ts'

const restartMs = 2_000
/** For the upkeep of transfers, for webhooks and for alerts. */
const upkeepConnections = 7
const firstRetryMs = 500
const longestRetryMs = 60_000

/** What a worker works with. */
type WorkerResources = {
  readonly databaseUrl: DatabaseUrl
  readonly masterKey: MasterKey
  readonly runners: Runners
  /** Where traces go. */
  readonly telemetry?: Telemetry | undefined
}

export type Worker = {
  /** Lets active jobs finish, for ten seconds at most, and lets go of the database. Once; a further call waits for the same. */
  stop(): Promise<void>
}

/**
 * Works on background jobs, on the same database, until stopped; any number of processes may. When the database goes
 * away the queue ends, and is started again until it succeeds. Rejects where it is away from the first.
 */
export async function startWorker(config: Config, given: WorkerResources, log: Logger): Promise<Worker> {
  const { databaseUrl } = given
  const supervisor = await openSupervisor(config, given, log)
  const stopping = new AbortController()
  const { signal } = stopping
  const stopRequested = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
  const owners: string[] = []
  const { transfers } = config
  const claims = new Claims(transfers)
  const work = atMost(transfers.atOnce, () =>
    workOnTransfers(supervisor.deps, claims, log, signal).catch((err) => {
      // A living worker claims what this one could not continue.
      log.warn({ err }, 'a transfer could not continue; a worker will claim it again')
    }),
  )
  // Transfers do not keep the purge waiting.
  const concurrentJobs = transfers.atOnce + 1
  const kept = { rejectDays: config.rejects.days, auditDays: config.auditDays }
  const start = () => runQueue(databaseUrl, { stopRequested, owners, concurrentJobs, work, ...kept, log })
  const supervise = async (first: Queue) => {
    let queue: Queue | undefined = first
    while (!signal.aborted) {
      const err = await queue?.ended
      if (err) log.warn({ err }, 'the job queue lost the database; starting it again')
      await delay(restartMs, undefined, { signal }).catch(() => {})
      if (signal.aborted) return
      queue = await start().catch((err) => void log.warn({ err }, 'the job queue does not start; trying again'))
    }
    await queue?.ended
  }
  const first = await start().catch(async (error) => {
    await supervisor.close()
    throw error
  })
  const upkeep = keepUp(supervisor.deps, log, signal)
  const supervised = supervise(first)
  const outgoing = createOutgoing(config)
  const mailer = createMailer(config, log)
  const { database, keyring } = supervisor.deps
  const bounds = { leaseSeconds: config.heartbeatTimeoutSeconds }
  const sending = new Sender({ database, keyring, outgoing, mailer, bounds }, log).run(signal)
  const alerts = keepAlerts({ ...supervisor.deps, config, mailer, outgoing }, log, signal)
  let stopped: Promise<void> | undefined
  const stop = async () => {
    stopping.abort()
    await supervised
    await upkeep
    await sending
    await alerts
    await outgoing.close()
    await mailer.close()
    await supervisor.close()
  }
  return {
    stop: () => {
      stopped ??= stop()
      return stopped
    },
  }
}

/**
 * Work that ends once nothing is left, and is called for whenever there may be more: it is done so many times at once.
 * A call that finds as many active resolves at once; the first of them to end looks again.
 */
function atMost(times: number, work: () => Promise<void>): () => Promise<void> {
  let active = 0
  let isCalledFor = false
  return async () => {
    isCalledFor = true
    if (active === times) return
    active++
    while (isCalledFor) {
      isCalledFor = false
      await work()
    }
    active--
  }
}

/** How many jobs are due and not begun. */
export const waitingJobs = async (database: Database): Promise<number> =>
  (await countWaitingJobs.first(database, {}))?.waiting ?? 0

/** What transfers are supervised with: connections of their own, the keys, the catalogue and the runners. */
async function openSupervisor(
  config: Config,
  { databaseUrl, masterKey, runners, telemetry }: WorkerResources,
  log: Logger,
): Promise<{ deps: SupervisorDeps; close(): Promise<void> }> {
  const database = openDatabase({
    url: databaseUrl,
    poolSize: config.transfers.atOnce + upkeepConnections,
    onIdleError: (err) => log.warn({ err }, 'a database connection of the transfers broke'),
  })
  const notices = createNotices(databaseUrl, (err) => log.warn({ err }, 'cannot hear other processes; trying again'))
  const close = async () => {
    await notices.close()
    await database.close()
  }
  try {
    const keyring = await openKeyring(database, masterKey, notices)
    await notices.start()
    const settings = {
      retry: { firstMs: firstRetryMs, mostMs: longestRetryMs, totalMs: config.retrySeconds * 1000 },
      heartbeatTimeoutMs: config.heartbeatTimeoutSeconds * 1000,
      rejectsMax: config.rejects.max,
      replaceShareMin: config.replacePercentMin / 100,
      progressMs: config.transfers.progressSeconds * 1000,
      runTimeMs: config.transfers.hours * 3_600_000,
    }
    const catalogue = createCatalogue(config.publicUrl)
    return { deps: { database, keyring, catalogue, runners, settings, startSpan: telemetry?.startSpan }, close }
  } catch (error) {
    await close()
    throw error
  }
}
