import { setTimeout as delay } from 'node:timers/promises'
import type { Config } from '../config.ts'
import type { Database } from '../db/database.ts'
import { describeEgress } from '../egress-settings.ts'
import type { Logger } from '../log.ts'
import { asTyped } from '../own-command.ts'
import { compileForRunners } from '../runners/compiled.ts'
import { runnerOptions } from '../runners/options.ts'
import { createRunnerPool, type Runners } from '../runners/runner-pool.ts'
import { findRunnerUser } from '../runners/runner-user.ts'
import { createService, type Service } from '../service.ts'
import { openTelemetry } from '../telemetry/open-telemetry.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import { describePause } from '../transfers/restored.ts'
import type { Monitor } from '../worker/monitor.ts'
import { startWorker, type Worker } from '../worker/worker.ts'
import { hideEnvironment } from './environment.ts'
import { StoppedWaiting, whileFull } from './full-database.ts'
import { releaseStartMemorySoon } from './memory.ts'
import { explainListenFailure } from './port.ts'
import { applyMigrations, type CommandRuntime, makeOwnFolder, openRuntime } from './runtime.ts'
import { logWarnings } from './warnings.ts'
import { prepareFirstOrganization, welcome } from './welcome.ts'

/**
 * `penstock serve`: the whole service, until a signal stops it. Resources are closed in the reverse order of opening.
 */
export const serve = (config: Config, log: Logger): Promise<void> => untilStopped(runService, config, log)

/** `penstock worker`: runs only background jobs, until a signal stops it. */
export const work = (config: Config, log: Logger): Promise<void> => untilStopped(runWorker, config, log)

/** A signal that arrives while a start waits ends it, and is not a failure. */
async function untilStopped(
  run: (config: Config, log: Logger, stopSignal: Promise<void>) => Promise<void>,
  config: Config,
  log: Logger,
): Promise<void> {
  const stopSignal = untilStopSignal()
  hideSecrets(log)
  try {
    await run(config, log, stopSignal)
  } catch (error) {
    if (!(error instanceof StoppedWaiting)) throw error
  }
}

async function runService(config: Config, log: Logger, stopSignal: Promise<void>): Promise<void> {
  const onceFree = <T>(step: () => Promise<T>) => whileFull(log, stopSignal, step)
  await using opened = new AsyncDisposableStack()
  await makeOwnFolder(config)
  await logWarnings(process.env, config, log)
  // Closed last, because closing the others ends spans.
  const telemetry = await openTelemetry(config.telemetry, log)
  if (telemetry) opened.defer(telemetry.close)
  const runtime = await onceFree(() => openRuntime(config, log, { database: true, masterKey: true }))
  opened.defer(runtime.close)
  log.info({ database: runtime.databaseName }, 'database')
  await onceFree(() => applyMigrations(runtime))
  await onceFree(() => logPause(runtime, log))
  const first = await onceFree(() => prepareFirstOrganization(config, runtime.database))
  compileForRunners(findRunnerUser(config).user)
  const runners = createRunnerPool(runnerOptions(config), log)
  opened.defer(runners.close)
  const given = { ...runtime, runners, telemetry }
  const worker = config.worker ? await onceFree(() => startWorker(config, given, log)) : undefined
  if (worker) opened.defer(worker.stop)
  const service = await onceFree(() => createService(config, { ...given, worker, log }))
  opened.defer(service.close)
  const greeting = await onceFree(() => welcome(config, runtime.database, first, process.stdout.isTTY === true))
  await listen(service, config)
  logEgress(config, log)
  logFolders(config, log)
  log.info({ address: config.publicUrl, environment: config.environment.name }, 'serving')
  process.stdout.write(asTyped(greeting))
  releaseStartMemorySoon()
  await stopSignal
  await drain(service, config, log)
  log.info('stopping: answering the requests in flight')
}

/** Serves on for a while, so that proxies notice that the process stops before it closes its port. */
async function drain(service: Service, { drainSeconds }: Config, log: Logger): Promise<void> {
  service.drain()
  if (drainSeconds === 0) return
  log.info(`draining: requests are served for ${drainSeconds} more seconds (PENSTOCK_DRAIN_SECONDS)`)
  await delay(drainSeconds * 1000)
}

async function listen({ app }: Service, { host, port }: Config): Promise<void> {
  try {
    await app.listen({ host, port })
  } catch (error) {
    throw explainListenFailure(error, host, port)
  }
}

async function runWorker(config: Config, log: Logger, stopSignal: Promise<void>): Promise<void> {
  const onceFree = <T>(step: () => Promise<T>) => whileFull(log, stopSignal, step)
  await using opened = new AsyncDisposableStack()
  await logWarnings(process.env, config, log)
  const telemetry = await openTelemetry(config.telemetry, log)
  if (telemetry) opened.defer(telemetry.close)
  const runtime = await onceFree(() => openRuntime(config, log))
  opened.defer(runtime.close)
  log.info({ database: runtime.databaseName }, 'database')
  await onceFree(() => applyMigrations(runtime))
  await onceFree(() => logPause(runtime, log))
  compileForRunners(findRunnerUser(config).user)
  const runners = createRunnerPool(runnerOptions(config), log)
  opened.defer(runners.close)
  const worker = await onceFree(() => startWorker(config, { ...runtime, runners, telemetry }, log))
  opened.defer(worker.stop)
  const monitor = await watchWorker(config, { database: runtime.database, worker, runners, telemetry }, log)
  if (monitor) opened.defer(monitor.close)
  logEgress(config, log)
  log.info('working')
  releaseStartMemorySoon()
  await stopSignal
}

/** Serves the health and the metrics of a worker, and exports its metrics, if the settings ask for them. */
async function watchWorker(
  config: Config,
  {
    database,
    worker,
    runners,
    telemetry,
  }: { database: Database; worker: Worker; runners: Runners; telemetry: Telemetry | undefined },
  log: Logger,
): Promise<Monitor | undefined> {
  const { monitor } = config
  if (!monitor && !config.telemetry.metrics) return undefined
  const [{ createRegistry }, { disksOf }, { databaseFigures }] = await Promise.all([
    import('../metrics/registry.ts'),
    import('../metrics/disks.ts'),
    import('../worker/figures.ts'),
  ])
  const registry = createRegistry({
    pools: { runtime: database.pool, ...worker.pools },
    figures: databaseFigures(database),
    disks: disksOf(config),
    runners: () => runners.stats(),
    worker: worker.stats,
    telemetry,
  })
  if (!monitor) return undefined
  const { openMonitor } = await import('../worker/monitor.ts')
  const { host, port } = monitor
  const metricsText = async () => ({ type: registry.contentType, text: await registry.metrics() })
  try {
    const open = await openMonitor(monitor, { problem: worker.problem, metrics: metricsText }, log)
    log.info({ host, port }, 'health and metrics of the worker')
    return open
  } catch (error) {
    throw explainListenFailure(error, host, port, { host: 'PENSTOCK_WORKER_HOST', port: 'PENSTOCK_WORKER_PORT' })
  }
}

/** The folders that a refusal of the connector does not name to tenants. */
function logFolders({ localFolders }: Config, log: Logger): void {
  const folders = localFolders.length === 0 ? 'none' : localFolders.join(', ')
  log.info(`Folders that connectors may read and write (PENSTOCK_LOCAL_FOLDERS): ${folders}.`)
}

async function logPause({ database }: CommandRuntime, log: Logger): Promise<void> {
  const pause = await describePause(database)
  if (pause) log.warn(pause)
}

function hideSecrets(log: Logger): void {
  if (hideEnvironment()) return
  log.warn(
    'the environment of this process cannot be overwritten, so that other processes of this user can read it: give secrets as files (PENSTOCK_MASTER_KEY_FILE, DATABASE_URL_FILE)',
  )
}

function logEgress({ egress }: Config, log: Logger): void {
  log.info({ egress: egress.networkPolicy, message: describeEgress(egress) }, 'egress')
}

/** Signals within this time are treated as one: Ctrl-C reaches every process of a terminal, and npm forwards it too. */
const echoMs = 500

/** Resolves at the first signal to stop. One that comes later than its echo does not wait for anything. */
function untilStopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let firstSignalMs: number | undefined
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        if (firstSignalMs !== undefined && performance.now() - firstSignalMs > echoMs) process.exit(1)
        firstSignalMs ??= performance.now()
        resolve()
      })
    }
  })
}
