import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import type { Database } from '../db/database.ts'
import type { RunnerStats } from '../runners/runner-pool.ts'
import type { RegisteredMetric, Telemetry } from '../telemetry/telemetry.ts'
import { observeChangeLogs } from './change-logs.ts'
import { type DatabaseFigures, observeDatabase } from './database.ts'
import { type Disks, observeDisks } from './disks.ts'
import { observeStreams } from './streams.ts'
import { observeWorker, type WorkerStats } from './worker.ts'

export type Observed = {
  /** Pools of database connections, by their name. */
  readonly pools: Readonly<Record<string, Database['pool']>>
  readonly figures: DatabaseFigures
  readonly disks: Disks
  readonly runners: () => RunnerStats
  /** Undefined if the process is not a worker. */
  readonly worker: (() => WorkerStats) | undefined
  /** A collector that gets the same metrics. */
  readonly telemetry: Telemetry | undefined
}

let ofProcess: Registry | undefined

/**
 * Metrics of this process, the same ones for each of its services. They cannot be given up: they wake the process a hundred
 * times a second and watch each garbage collection as long as it lives.
 */
function metricsOfProcess(): Registry {
  if (ofProcess) return ofProcess
  ofProcess = new Registry()
  collectDefaultMetrics({ register: ofProcess })
  // Gauges that are named like counters. They are the sums of other gauges, which stay.
  for (const name of ['handles', 'requests', 'resources']) ofProcess.removeSingleMetric(`nodejs_active_${name}_total`)
  return ofProcess
}

/** Creates the metrics that `serve` and `worker` have in common: the process, its database pools, its runners, the database. */
export function createRegistry({ pools, figures, disks, runners, worker, telemetry }: Observed): Registry {
  const registry = Registry.merge([metricsOfProcess()])
  const registers = [registry]
  new Gauge({
    name: 'penstock_database_connections',
    help: 'Connections of a pool by state, and requests that wait for one',
    labelNames: ['pool', 'state'],
    registers,
    collect() {
      for (const [pool, { totalCount, idleCount, waitingCount }] of Object.entries(pools)) {
        this.set({ pool, state: 'busy' }, totalCount - idleCount)
        this.set({ pool, state: 'idle' }, idleCount)
        this.set({ pool, state: 'waiting' }, waitingCount)
      }
    },
  })
  observeDatabase(registry, figures)
  observeChangeLogs(registers, figures.changeLogs)
  observeStreams(registers, figures.streams)
  observeDisks(registry, disks)
  new Gauge({
    name: 'penstock_runners',
    help: 'Processes that run the code of connectors for this process, by state',
    labelNames: ['state'],
    registers,
    collect() {
      const { running, idle } = runners()
      this.set({ state: 'running' }, running)
      this.set({ state: 'idle' }, idle)
    },
  })
  new Gauge({
    name: 'penstock_runners_memory_bytes',
    help: 'Resident memory of these processes together',
    registers,
    collect() {
      this.set(runners().memoryBytes)
    },
  })
  new Counter({
    name: 'penstock_runner_deaths_total',
    help: 'Runners that died in a job since this process started, by reason',
    labelNames: ['reason'],
    registers,
    collect() {
      this.reset()
      for (const [reason, count] of Object.entries(runners().deaths)) this.inc({ reason }, count)
    },
  })
  if (worker) observeWorker(registry, worker)
  telemetry?.exportMetrics(async () => (await registry.getMetricsAsJSON()) as readonly RegisteredMetric[])
  return registry
}
