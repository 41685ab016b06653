import { basePath } from '@penstock/wire'
import type { FastifyInstance } from 'fastify'
import type { Telemetry, TraceSpan } from '../telemetry/telemetry.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The span of the request, where traces are exported. */
    span: TraceSpan | undefined
  }
}

/** Makes a span of each request of the API and of `/mcp`, in the trace that its `traceparent` names. */
export function traceRequests(app: FastifyInstance, startSpan: Telemetry['startSpan']): void {
  app.decorateRequest('span', undefined)
  if (!startSpan) return
  app.addHook('onRequest', (request, _, done) => {
    const { url: route, config } = request.routeOptions
    if (route?.startsWith(`${basePath}/`) || route === '/mcp') {
      const parent = request.headers.traceparent
      request.span = startSpan(`${request.method} ${route}`, {
        parent: typeof parent === 'string' ? parent : undefined,
        kind: 'server',
        attributes: {
          'http.request.method': request.method,
          'http.route': route,
          'penstock.operation': config.operation,
          'penstock.request.id': request.id,
        },
      })
    }
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    const { span, actor } = request
    if (span) {
      span.set({
        'http.response.status_code': reply.statusCode,
        'penstock.organization.id': actor?.organizationId,
        'penstock.client.id': actor?.clientId,
      })
      span.end(reply.statusCode >= 500 ? String(reply.statusCode) : undefined)
    }
    done()
  })
}
