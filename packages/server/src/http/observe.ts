import type { FastifyInstance } from 'fastify'
import { Counter, Gauge, type Registry } from 'prom-client'
import { createRequestLog, type Logger } from '../log.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import { clientAddressOf } from './client-address.ts'
import { createDurations } from './durations.ts'
import type { ConnectionListener } from './listener.ts'
import { traceRequests } from './trace-requests.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The name of the operation that a route serves, for metrics and log lines. */
    operation?: string
    /** Called every few seconds by a program that watches the process. The log shows only calls that fail, unless its level is `debug`. */
    isProbe?: boolean
    /** Whether the route decides itself which pages can read its answers. */
    ownCors?: boolean
  }
}

/** A line and a measurement for every request, and `/metrics` for Prometheus. */
export function observe(
  app: FastifyInstance,
  {
    registry,
    log,
    connections,
    telemetry,
    publicUrl,
  }: {
    /** The metrics of the process. The metrics of requests are added to it. */
    registry: Registry
    log: Logger
    connections: ConnectionListener['counts']
    /** A collector that gets traces. */
    telemetry: Telemetry | undefined
    publicUrl: string
  },
): void {
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
  traceRequests(app, telemetry?.startSpan)
  app.addHook('onResponse', (request, reply, done) => {
    const { config, url: route } = request.routeOptions
    const operation = request.operation ?? config.operation ?? 'none'
    const { statusCode: status, elapsedTime: durationMs } = reply
    observeDuration({ operation, method: request.method, route, status }, durationMs / 1000)
    const level = config.isProbe && status < 400 ? 'debug' : 'info'
    const line = {
      requestId: request.id,
      operation,
      method: request.method,
      status,
      durationMs: Math.round(durationMs * 100) / 100,
      clientAddress: clientAddressOf(request),
      clientId: request.actor?.clientId,
      organizationId: request.actor?.organizationId,
      span: request.span,
    }
    logRequest(line, level)
    done()
  })
  app.get('/metrics', { config: { operation: 'metrics', isProbe: true } }, async (_, reply) =>
    reply.type(registry.contentType).send(await registry.metrics()),
  )
}
