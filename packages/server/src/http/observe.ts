import type { FastifyInstance } from 'fastify'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Database } from '../db/database.ts'
import type { Logger } from '../log.ts'
import { type DatabaseFigures, observeDatabase } from './database-metrics.ts'
import type { ConnectionListener } from './listener.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The name of the operation that a route serves; metrics and log lines are by it. */
    operation?: string
  }
}

const durationBucketsSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** A line and a measurement for every request, and `/metrics` for Prometheus. */
export function observe(
  app: FastifyInstance,
  {
    database,
    log,
    connections,
    figures,
    runners,
  }: {
    database: Database
    log: Logger
    connections: ConnectionListener['counts']
    figures: DatabaseFigures
    /** What the runners of this process do. */
    runners: () => {
      readonly running: number
      readonly idle: number
      readonly memoryBytes: number
      readonly deaths: Readonly<Record<string, number>>
    }
  },
): void {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const durations = new Histogram({
    name: 'penstock_http_request_duration_seconds',
    help: 'Time from the first byte of a request to the last of its answer',
    labelNames: ['operation', 'status'],
    buckets: durationBucketsSeconds,
    registers: [registry],
  })
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
  new Gauge({
    name: 'penstock_runner_deaths',
    help: 'Runners that died in a job since this process started, by reason',
    labelNames: ['reason'],
    registers: [registry],
    collect() {
      for (const [reason, count] of Object.entries(runners().deaths)) this.set({ reason }, count)
    },
  })

  app.addHook('onResponse', (request, reply, done) => {
    const operation = request.routeOptions.config.operation ?? 'none'
    const durationMs = reply.elapsedTime
    durations.observe({ operation, status: reply.statusCode }, durationMs / 1000)
    log.info(
      {
        requestId: request.id,
        operation,
        method: request.method,
        status: reply.statusCode,
        durationMs: Math.round(durationMs * 100) / 100,
        clientId: request.actor?.clientId,
        organizationId: request.actor?.organizationId,
      },
      'request',
    )
    done()
  })
  app.get('/metrics', { config: { operation: 'metrics' } }, async (_, reply) =>
    reply.type(registry.contentType).send(await registry.metrics()),
  )
}
