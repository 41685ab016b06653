import type { FastifyInstance } from 'fastify'
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import type { Database } from '../db/database.ts'
import { createRequestLog, type Logger } from '../log.ts'
import type { RegisteredMetric, Telemetry } from '../telemetry/telemetry.ts'
import { type DatabaseFigures, observeDatabase } from './database-metrics.ts'
import { createDurations } from './durations.ts'
import type { ConnectionListener } from './listener.ts'
import { traceRequests } from './trace-requests.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The name of the operation that a route serves; metrics and log lines are by it. */
    operation?: string
  }
}

/** A line and a measurement for every request, and `/metrics` for Prometheus. */
export function observe(
  app: FastifyInstance,
  {
    database,
    log,
    connections,
    figures,
    runners,
    telemetry,
    publicUrl,
  }: {
    database: Database
    log: Logger
    connections: ConnectionListener['counts']
    figures: DatabaseFigures
    /** Figures of the runners of this process. */
    runners: () => {
      readonly running: number
      readonly idle: number
      readonly memoryBytes: number
      readonly deaths: Readonly<Record<string, number>>
    }
    /** A collector that gets the same metrics, and traces. */
    telemetry: Telemetry | undefined
    publicUrl: string
  },
): void {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  // Gauges that are named like counters; the sums of others, which stay.
  for (const name of ['handles', 'requests', 'resources']) registry.removeSingleMetric(`nodejs_active_${name}_total`)
  const observeDuration = createDurations(registry, publicUrl.startsWith('https:') ? 'https' : 'http')
  const logRequest = createRequestLog(log)
  new Gauge({
    name: 'penstock_http_connections',
    help: 'Open connections of clients',
    registers: [registry],
    collect() {
      this.set(connections.open)
    },
  })
  new Counter({
    name: 'penstock_http_connections_refused_total',
    help: 'Connections that were refused, by the code of the refusal',
    labelNames: ['error'],
    registers: [registry],
    collect() {
      this.reset()
      for (const [error, count] of Object.entries(connections.refused)) this.inc({ error }, count)
    },
  })
  new Gauge({
    name: 'penstock_database_connections',
    help: 'Connections of the pool by state, and requests that wait for one',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      const { totalCount, idleCount, waitingCount } = database.pool
      this.set({ state: 'busy' }, totalCount - idleCount)
      this.set({ state: 'idle' }, idleCount)
      this.set({ state: 'waiting' }, waitingCount)
    },
  })
  observeDatabase(registry, figures)
  new Gauge({
    name: 'penstock_runners',
    help: 'Processes that run the code of connectors for this process, by state',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      const { running, idle } = runners()
      this.set({ state: 'running' }, running)
      this.set({ state: 'idle' }, idle)
    },
  })
  new Gauge({
    name: 'penstock_runners_memory_bytes',
    help: 'Resident memory of these processes together',
    registers: [registry],
    collect() {
      this.set(runners().memoryBytes)
    },
  })
  new Counter({
    name: 'penstock_runner_deaths_total',
    help: 'Runners that died in a job since this process started, by reason',
    labelNames: ['reason'],
    registers: [registry],
    collect() {
      this.reset()
      for (const [reason, count] of Object.entries(runners().deaths)) this.inc({ reason }, count)
    },
  })

  telemetry?.exportMetrics(async () => (await registry.getMetricsAsJSON()) as readonly RegisteredMetric[])
  traceRequests(app, telemetry?.startSpan)
  app.addHook('onResponse', (request, reply, done) => {
    const { config, url: route } = request.routeOptions
    const operation = request.operation ?? config.operation ?? 'none'
    const { statusCode: status, elapsedTime: durationMs } = reply
    observeDuration({ operation, method: request.method, route, status }, durationMs / 1000)
    logRequest({
      requestId: request.id,
      operation,
      method: request.method,
      status,
      durationMs: Math.round(durationMs * 100) / 100,
      clientId: request.actor?.clientId,
      organizationId: request.actor?.organizationId,
      span: request.span,
    })
    done()
  })
  app.get('/metrics', { config: { operation: 'metrics' } }, async (_, reply) =>
    reply.type(registry.contentType).send(await registry.metrics()),
  )
}
