import type { Config } from '../config.ts'
import { describeEgress } from '../egress-settings.ts'
import type { Logger } from '../log.ts'
import { compileForRunners } from '../runners/compiled.ts'
import { runnerOptions } from '../runners/options.ts'
import { createRunnerPool } from '../runners/runner-pool.ts'
import { findRunnerUser } from '../runners/runner-user.ts'
import { createService, type Service } from '../service.ts'
import { openTelemetry } from '../telemetry/open-telemetry.ts'
import { describePause } from '../transfers/restored.ts'
import { startWorker } from '../worker/worker.ts'
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

/** `penstock worker`: background jobs alone, until a signal stops it. */
export const work = (config: Config, log: Logger): Promise<void> => untilStopped(runWorker, config, log)

/** A signal that comes while a start waits ends it, and is no failure. */
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
  // Closed last: what ends before it ends spans.
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
  if (config.worker) opened.defer((await onceFree(() => startWorker(config, given, log))).stop)
  const service = await onceFree(() => createService(config, { ...given, log }))
  opened.defer(service.close)
  const greeting = await onceFree(() => welcome(config, runtime.database, first, process.stdout.isTTY === true))
  await listen(service, config)
  logEgress(config, log)
  logFolders(config, log)
  log.info({ address: config.publicUrl, environment: config.environment.name }, 'serving')
  process.stdout.write(greeting)
  releaseStartMemorySoon()
  await stopSignal
  log.info('stopping: answering what is in flight')
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
  opened.defer((await onceFree(() => startWorker(config, { ...runtime, runners, telemetry }, log))).stop)
  logEgress(config, log)
  log.info('working')
  releaseStartMemorySoon()
  await stopSignal
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

/** Signals within this time count as one: Ctrl-C reaches every process of a terminal, and npm forwards it as well. */
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
