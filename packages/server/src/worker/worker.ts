import { setTimeout as delay } from 'node:timers/promises'
import { keepAlerts } from '../alerts/keep.ts'
import { createAuditLinker } from '../audit/link.ts'
import type { Config } from '../config.ts'
import { createCatalogue } from '../connectors/catalogue.ts'
import { watchDefinitions } from '../connectors/watch-definitions.ts'
import type { DatabaseUrl } from '../db/addresses.ts'
import { type Database, openDatabase } from '../db/database.ts'
import { idleTransactionMs } from '../db/liveness.ts'
import { createNotices, type Notices } from '../db/notices.ts'
import { checkDatabase } from '../db/readiness.ts'
import { createIdentityTokens } from '../identity-tokens/identity-tokens.ts'
import type { Logger } from '../log.ts'
import { createMailer } from '../mail.ts'
import type { WorkerStats } from '../metrics/worker.ts'
import { createOutgoing } from '../outgoing/outgoing.ts'
import type { Runners } from '../runners/runner-pool.ts'
import { createSecretManagers } from '../secret-managers/secret-managers.ts'
import { openKeyring } from '../secrets/keyring.ts'
import type { MasterKey } from '../secrets/seal.ts'
import { keepStreams } from '../streams/keep.ts'
import { KeptBytes } from '../streams/kept-bytes.ts'
import { eventsTopic } from '../streams/topics.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import { transferTopic } from '../transfers/queries.ts'
import { WorkerActivity } from '../transfers/supervisor/activity.ts'
import { Claims } from '../transfers/supervisor/claim.ts'
import { ContinuousStarts } from '../transfers/supervisor/continuous.ts'
import type { SupervisorDeps } from '../transfers/supervisor/deps.ts'
import { keepUp } from '../transfers/supervisor/upkeep.ts'
import { recordWorker, untilOutdated } from '../transfers/supervisor/versions.ts'
import { TransferWork, workOnTransfers } from '../transfers/supervisor/work.ts'
import { Sender } from '../webhooks/sending/sender.ts'
import { keepPurging, keepPurgingUploads } from './purge.ts'

/** For the upkeep of transfers, for webhooks, for alerts and for the purge. */
const upkeepConnections = 8
const firstRetryMs = 500
const longestRetryMs = 60_000
/** How long active work can take to end. Another worker later claims transfers that take longer. */
const finishMs = 10_000
/** How long statements can take after that. This is longer than the statement timeout of the database. */
const statementsMs = 36_000

/** Resources of a worker. */
type WorkerResources = {
  readonly databaseUrl: DatabaseUrl
  readonly masterKey: MasterKey
  readonly runners: Runners
  /** Receives traces. */
  readonly telemetry?: Telemetry | undefined
}

export type Worker = {
  /**
   * Releases active transfers within ten seconds, and closes the database. It stops once. Further calls wait for the same stop.
   */
  stop(): Promise<void>
  stats(): WorkerStats
  /** Its database connections, by the name of the pool. */
  readonly pools: Readonly<Record<string, Database['pool']>>
  /** Why the worker cannot work, as a sentence. Undefined if it can. */
  problem(): Promise<string | undefined>
}

/**
 * Runs background work on the database until it is stopped. Any number of processes can do so on the same database. If the
 * database is not reachable, each task retries until it is. Rejects if the database is not reachable at the start.
 */
export async function startWorker(config: Config, given: WorkerResources, log: Logger): Promise<Worker> {
  const stopping = new AbortController()
  const { signal } = stopping
  // A worker that a newer version replaces starts nothing more.
  const outdated = new AbortController()
  const retiring = AbortSignal.any([signal, outdated.signal])
  const { transfers } = config
  const claims = new Claims(transfers)
  const { deps: opened, notices, close } = await openSupervisor(config, given, log)
  const activity = new WorkerActivity()
  const deps = { ...opened, activity }
  const { database, keyring } = deps
  await recordWorker(database).catch(async (error) => {
    await close()
    throw error
  })
  const auditLinker = createAuditLinker(database, keyring, log)
  const continuous = new ContinuousStarts(deps, log, retiring)
  const work = new TransferWork(transfers.atOnce, (onClaim) =>
    workOnTransfers(deps, claims, log, signal, onClaim, continuous.wake).catch((err) => {
      // A living worker claims what this one could not continue.
      log.warn({ err }, 'a transfer could not continue; a worker will claim it again')
    }),
  )
  const wake = () => {
    if (!retiring.aborted) work.wake()
  }
  notices.on(transferTopic, { onMessage: wake, onReconnect: async () => wake() })
  notices.on(eventsTopic, { onMessage: continuous.wake })
  const outgoing = createOutgoing(config)
  const mailer = createMailer(config, log)
  const bounds = { leaseSeconds: config.heartbeatTimeoutSeconds }
  const kept = {
    rejectDays: config.rejects.days,
    transferDays: config.transferDays,
    ledgerDays: config.ledgerDays,
    auditDays: config.auditDays,
  }
  const tasks = [
    keepUp(deps, { claims, wake }, log, signal, retiring),
    untilOutdated(deps, log, signal).then(() => signal.aborted || outdated.abort()),
    new Sender({ database, keyring, outgoing, mailer, bounds }, log).run(retiring),
    keepAlerts({ ...deps, config, mailer, outgoing }, log, retiring),
    keepPurging(database, kept, log, retiring),
    keepPurgingUploads(database, log, retiring),
    keepStreams(database, config.streams, log, retiring),
  ]
  wake()
  const end = async () => {
    stopping.abort()
    const statements = Promise.all([claims.settled(), continuous.ended(), ...tasks])
    await within(finishMs, Promise.all([work.ended(), statements]))
    // Without its connection, a claim could be lost that the database has already confirmed.
    await within(statementsMs, statements)
    await outgoing.close()
    await mailer.close()
    await auditLinker.close()
    await close()
  }
  let ended: Promise<void> | undefined
  const stats = () => ({ ...activity.stats, slots: transfers.atOnce, isOutdated: outdated.signal.aborted })
  return {
    stop: () => {
      ended ??= end()
      return ended
    },
    stats,
    pools: { worker: database.pool },
    problem: async () => {
      if (signal.aborted) return 'The worker is stopping.'
      if (outdated.signal.aborted) return 'A newer version of Penstock works on the database: replace this worker.'
      const seconds = Math.round(stats().heartbeatAgeSeconds)
      if (seconds > config.heartbeatTimeoutSeconds) return `The last heartbeat was ${seconds} seconds ago.`
      return checkDatabase(database)
    },
  }
}

/** Waits for something, but no longer than a time. */
async function within(ms: number, done: Promise<unknown>): Promise<void> {
  const late = new AbortController()
  await Promise.race([done, delay(ms, undefined, { signal: late.signal }).catch(() => {})])
  late.abort()
}

/**
 * Opens the dependencies of the supervision of transfers: separate database connections, the keys, the catalogue and
 * the runners.
 */
async function openSupervisor(
  config: Config,
  { databaseUrl, masterKey, runners, telemetry }: WorkerResources,
  log: Logger,
): Promise<{ deps: SupervisorDeps; notices: Notices; close(): Promise<void> }> {
  const database = openDatabase({
    url: databaseUrl,
    poolerUrl: config.poolerUrl,
    poolSize: config.transfers.atOnce + upkeepConnections,
    idleTransactionMs: idleTransactionMs(config),
    onIdleError: (err) => log.warn({ err }, 'a database connection of the transfers broke'),
  })
  const notices = createNotices(databaseUrl, (err) => log.warn({ err }, 'LISTEN connection lost; reconnecting'))
  const opened = new AsyncDisposableStack()
  opened.defer(database.close)
  opened.defer(notices.close)
  const close = () => opened.disposeAsync()
  try {
    const keyring = await openKeyring(database, masterKey, notices)
    const identityTokens = createIdentityTokens({ database, keyring }, config.publicUrl)
    const secretManagers = createSecretManagers(config)
    opened.defer(secretManagers.close)
    const catalogue = createCatalogue(config.publicUrl)
    const definitions = await watchDefinitions(catalogue, { database, notices, config }, log)
    opened.defer(definitions.close)
    await notices.start()
    const settings = {
      retry: { firstMs: firstRetryMs, mostMs: longestRetryMs, totalMs: config.retrySeconds * 1000 },
      heartbeatTimeoutMs: config.heartbeatTimeoutSeconds * 1000,
      rejectsMax: config.rejects.max,
      limits: { quotas: config.quotas, transfers: config.transfers, rejectBytesMax: config.rejects.bytesMax },
      replaceShareMin: config.replacePercentMin / 100,
      progressMs: config.transfers.progressSeconds * 1000,
      parts: { atOnce: config.transfers.perTransfer, bytesMin: config.transfers.partMb << 20 },
      runTimeMs: config.transfers.hours * 3_600_000,
    }
    const keptBytes = new KeptBytes(database, config.streams)
    const startSpan = telemetry?.startSpan
    const opening = { database, keyring, secretManagers, identityTokens }
    const deps = { ...opening, catalogue, runners, settings, keptBytes, startSpan }
    return { deps, notices, close }
  } catch (error) {
    await close()
    throw error
  }
}
