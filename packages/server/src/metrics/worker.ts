import { Counter, Gauge, type Registry } from 'prom-client'

/** The activity of one worker since its start. */
export type WorkerStats = {
  /** Transfers and parts that it claimed. */
  readonly claims: number
  /** Transfers and parts that it runs, and how many it can run. */
  readonly running: number
  readonly slots: number
  /** Records of the batches that destinations confirmed to it, by class. */
  readonly records: Readonly<Record<'read' | 'sent' | 'accepted' | 'rejected', number>>
  /** Time since the database last accepted a heartbeat. */
  readonly heartbeatAgeSeconds: number
  /** A newer version works on the database: this worker claims nothing more. */
  readonly isOutdated: boolean
}

/** Measures the worker of this process. */
export function observeWorker(registry: Registry, stats: () => WorkerStats): void {
  const registers = [registry]
  const gauge = (name: string, help: string, read: (stats: WorkerStats) => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read(stats()))
      },
    })
  new Counter({
    name: 'penstock_worker_claims_total',
    help: 'Transfers and parts of transfers that this worker claimed',
    registers,
    collect() {
      this.reset()
      this.inc(stats().claims)
    },
  })
  new Counter({
    name: 'penstock_worker_records_total',
    help: 'Records that destinations confirmed to this worker, by class: read, sent, accepted, rejected',
    labelNames: ['class'],
    registers,
    collect() {
      this.reset()
      for (const [name, count] of Object.entries(stats().records)) this.inc({ class: name }, count)
    },
  })
  gauge('penstock_worker_running', 'Transfers and parts that this worker runs', ({ running }) => running)
  gauge('penstock_worker_slots', 'Transfers and parts that this worker can run concurrently', ({ slots }) => slots)
  gauge(
    'penstock_worker_heartbeat_age_seconds',
    'Time since the database last accepted a heartbeat of this worker',
    ({ heartbeatAgeSeconds }) => heartbeatAgeSeconds,
  )
  gauge(
    'penstock_worker_outdated',
    '1 if a newer version works on the database, so that this worker claims nothing more',
    ({ isOutdated }) => Number(isOutdated),
  )
}
