import { Counter, Gauge, type Registry } from 'prom-client'

/** Figures of the database, over all processes, read at each scrape. A figure must never read all transfers or connections. */
export type DatabaseFigures = {
  /** How many background jobs wait. */
  readonly transfers: () => Promise<{
    readonly queued: number
    readonly running: number
    readonly oldestWaitSeconds: number
    readonly records: Readonly<Record<string, number>>
    readonly ended: readonly { readonly status: string; readonly code: string; readonly transfers: number }[]
  }>
  /** How many connections there are of each status. */
  readonly connections: () => Promise<Readonly<Record<string, number>> | undefined>
  readonly webhooks: () => Promise<{
    readonly waiting: number
    readonly oldestSeconds: number
    readonly outcomes: Readonly<Record<string, number>>
  }>
  readonly alerts: () => Promise<{
    /** Incidents that are open. */
    readonly open: number
    readonly deliveries: readonly { readonly channel: string; readonly outcome: string; readonly deliveries: number }[]
  }>
  /** Logs of the servers of sources. */
  readonly changeLogs: () => Promise<{
    readonly largest: readonly {
      readonly connectionId: string
      readonly slot: string
      readonly keptBytes: number | null
    }[]
    readonly latest: readonly {
      readonly connectionId: string
      readonly slot: string
      readonly behindSeconds: number | null
    }[]
    readonly warnings: number
  }>
  /** Connections that are behind their event streams. */
  readonly streams: () => Promise<
    readonly { readonly connectionId: string; readonly behindEvents: number; readonly behindSeconds: number }[]
  >
  /** Work that waits for a process that does it. */
  readonly overdue: () => Promise<{
    readonly workersOverdueSeconds: number
    readonly auditEvents: number
    readonly auditSeconds: number
  }>
}

export const absent = 'absent while the database is away'
const total = 'over all workers, since the database was created, purged ones included'

/** Connectors and the service define the error codes. Anything else must not become a label. */
const codePattern = /^(?:[a-z][a-z0-9_]{0,59})?$/

/** Measures what the database holds. Counters are read from it, so that every process reports the same. */
export function observeDatabase(registry: Registry, figures: DatabaseFigures): void {
  const registers = [registry]
  const transfers = sharedAnswer(figures.transfers)

  new Gauge({
    name: 'penstock_transfers',
    help: `Transfers that wait and that run, over all workers; ${absent}`,
    labelNames: ['status'],
    registers,
    async collect() {
      const found = await transfers()
      this.reset()
      if (!found) return
      this.set({ status: 'queued' }, found.queued)
      this.set({ status: 'running' }, found.running)
    },
  })
  new Gauge({
    name: 'penstock_transfers_oldest_wait_seconds',
    help: `How long the transfer has waited that has waited longest; ${absent}`,
    registers,
    async collect() {
      const found = await transfers()
      if (found) this.set(found.oldestWaitSeconds)
      else this.remove()
    },
  })
  new Counter({
    name: 'penstock_transfers_ended_total',
    help: `Transfers that have ended, by status and by the code of their error (empty: none), ${total}; ${absent}`,
    labelNames: ['status', 'error'],
    registers,
    async collect() {
      const found = await transfers()
      this.reset()
      for (const { status, code, transfers: count } of found?.ended ?? []) {
        this.inc({ status, error: codePattern.test(code) ? code : 'other' }, count)
      }
    },
  })
  new Counter({
    name: 'penstock_records_total',
    help: `Records of transfers, running ones included, by class: read, sent, accepted, rejected; ${total}; ${absent}`,
    labelNames: ['class'],
    registers,
    async collect() {
      const found = await transfers()
      this.reset()
      for (const [name, count] of Object.entries(found?.records ?? {})) this.inc({ class: name }, count)
    },
  })
  const webhooks = sharedAnswer(figures.webhooks)
  new Counter({
    name: 'penstock_webhook_deliveries_total',
    help: `Attempts to deliver events to webhooks, by outcome: delivered, retried, failed; ${total}; ${absent}`,
    labelNames: ['outcome'],
    registers,
    async collect() {
      const found = await webhooks()
      this.reset()
      for (const [outcome, count] of Object.entries(found?.outcomes ?? {})) this.inc({ outcome }, count)
    },
  })
  new Gauge({
    name: 'penstock_webhook_deliveries_waiting',
    help: `Deliveries to webhooks that wait, are tried again, or are being sent; ${absent}`,
    registers,
    async collect() {
      const found = await webhooks()
      if (found) this.set(found.waiting)
      else this.remove()
    },
  })
  new Gauge({
    name: 'penstock_webhook_deliveries_oldest_seconds',
    help: `How long ago the event happened that has waited longest; ${absent}`,
    registers,
    async collect() {
      const found = await webhooks()
      if (found) this.set(found.oldestSeconds)
      else this.remove()
    },
  })
  new Gauge({
    name: 'penstock_connections',
    help: `Connections by status, over all organizations; deleted ones until they are purged; ${absent}`,
    labelNames: ['status'],
    registers,
    async collect() {
      const found = await figures.connections().catch(() => undefined)
      this.reset()
      for (const [status, count] of Object.entries(found ?? {})) this.set({ status }, count)
    },
  })
  observeAlerts(registers, figures.alerts)
  observeOverdue(registers, figures.overdue)
}

/** Measures whether the database answers, and what waits though any process would do it. */
function observeOverdue(registers: Registry[], figures: DatabaseFigures['overdue']): void {
  const overdue = sharedAnswer(figures)
  new Gauge({
    name: 'penstock_database_up',
    help: 'Whether the database answers this process: 1, or 0',
    registers,
    async collect() {
      this.set((await overdue()) ? 1 : 0)
    },
  })
  const gauge = (name: string, help: string, read: (found: Awaited<ReturnType<typeof figures>>) => number) =>
    new Gauge({
      name,
      help: `${help}; ${absent}`,
      registers,
      async collect() {
        const found = await overdue()
        if (found) this.set(read(found))
        else this.remove()
      },
    })
  gauge(
    'penstock_workers_overdue_seconds',
    'How long the work is due that a worker begins every minute: it grows if no worker is there',
    ({ workersOverdueSeconds }) => workersOverdueSeconds,
  )
  gauge(
    'penstock_audit_events_waiting',
    'Events of the audit log that wait to be linked, at most 100000',
    ({ auditEvents }) => auditEvents,
  )
  gauge(
    'penstock_audit_events_oldest_seconds',
    'How long the event has waited to be linked that is the first of the queue',
    ({ auditSeconds }) => auditSeconds,
  )
}

/** Measures the alerts. */
function observeAlerts(registers: Registry[], figures: DatabaseFigures['alerts']): void {
  const alerts = sharedAnswer(figures)
  new Gauge({
    name: 'penstock_alert_incidents_open',
    help: `Incidents of alert rules that are open, over all organizations; ${absent}`,
    registers,
    async collect() {
      const found = await alerts()
      if (found) this.set(found.open)
      else this.remove()
    },
  })
  new Counter({
    name: 'penstock_alert_messages_total',
    help: `Messages of alert rules by channel and outcome: delivered, failed; over all workers; ${absent}`,
    labelNames: ['channel', 'outcome'],
    registers,
    async collect() {
      const found = await alerts()
      this.reset()
      for (const { channel, outcome, deliveries } of found?.deliveries ?? []) this.inc({ channel, outcome }, deliveries)
    },
  })
}

/** Callers that ask while an answer is awaited share it, as the metrics of a scrape do. Undefined if it fails. */
export function sharedAnswer<T>(ask: () => Promise<T>): () => Promise<T | undefined> {
  let asked: Promise<T | undefined> | undefined
  return () => {
    asked ??= ask()
      .catch(() => undefined)
      .finally(() => {
        asked = undefined
      })
    return asked
  }
}
