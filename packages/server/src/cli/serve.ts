import { type Config, describeEgress } from '../config.ts'
import type { Logger } from '../log.ts'
import { runnerOptions } from '../runners/options.ts'
import { createRunnerPool } from '../runners/runner-pool.ts'
import { createService, type Service } from '../service.ts'
import { openTelemetry } from '../telemetry/telemetry.ts'
import { describePause } from '../transfers/restored.ts'
import { startWorker } from '../worker/worker.ts'
import { releaseStartMemorySoon } from './memory.ts'
import { explainListenFailure } from './port.ts'
import { applyMigrations, type CommandRuntime, openRuntime } from './runtime.ts'
import { logWarnings } from './warnings.ts'
import { prepareFirstOrganization, welcome } from './welcome.ts'

/** `penstock serve`: the whole service, until a signal stops it. What was opened is closed in the reverse order. */
export async function serve(config: Config, log: Logger): Promise<void> {
  const stopSignal = untilStopSignal()
  await using opened = new AsyncDisposableStack()
  await logWarnings(process.env, config, log)
  // Closed last: what ends before it ends spans.
  const telemetry = await openTelemetry(config.telemetry, log)
  if (telemetry) opened.defer(telemetry.close)
  const runtime = await openRuntime(config, log, { database: true, masterKey: true })
  opened.defer(runtime.close)
  log.info({ database: runtime.databaseName }, 'database')
  await applyMigrations(runtime)
  await logPause(runtime, log)
  const first = await prepareFirstOrganization(config, runtime.database)
  const runners = createRunnerPool(runnerOptions(config), log)
  opened.defer(runners.close)
  if (config.worker) opened.defer((await startWorker(config, { ...runtime, runners, telemetry }, log)).stop)
  const service = await createService(config, { ...runtime, runners, log, telemetry })
  opened.defer(service.close)
  const greeting = await welcome(config, runtime.database, first)
  await listen(service, config)
  logEgress(config, log)
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

/** `penstock worker`: background jobs alone, until a signal stops it. */
export async function work(config: Config, log: Logger): Promise<void> {
  const stopSignal = untilStopSignal()
  await using opened = new AsyncDisposableStack()
  await logWarnings(process.env, config, log)
  const telemetry = await openTelemetry(config.telemetry, log)
  if (telemetry) opened.defer(telemetry.close)
  const runtime = await openRuntime(config, log)
  opened.defer(runtime.close)
  log.info({ database: runtime.databaseName }, 'database')
  await applyMigrations(runtime)
  await logPause(runtime, log)
  const runners = createRunnerPool(runnerOptions(config), log)
  opened.defer(runners.close)
  opened.defer((await startWorker(config, { ...runtime, runners, telemetry }, log)).stop)
  logEgress(config, log)
  log.info('working')
  releaseStartMemorySoon()
  await stopSignal
}

async function logPause({ database }: CommandRuntime, log: Logger): Promise<void> {
  const pause = await describePause(database)
  if (pause) log.warn(pause)
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
