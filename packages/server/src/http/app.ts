import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import cors from '@fastify/cors'
import { type ErrorCode, errors } from '@penstock/wire'
import { type FastifyInstance, fastify, LogController } from 'fastify'
import type { Logger } from '../log.ts'
import { Refusal } from '../refusal.ts'
import { readJsonBodies } from './body.ts'
import { asRefusal, errorEnvelope, replyRefusal } from './replies.ts'
import { securityHeaders } from './security-headers.ts'

const requestTimeoutMs = 60_000
/** Node refuses longer request lines and headers; so no path parameter is longer. */
const maxHeaderBytes = 16_384
/** Requests are told apart, not kept secret: a random beginning for the process, and a count. */
const processId = randomBytes(4).toString('hex')
let requests = 0
const newRequestId = () => processId + (++requests >>> 0).toString(16).padStart(8, '0')

/** The HTTP server without operations: request ids, bodies, errors, the same envelope for whatever goes wrong. */
export async function createApp({
  log,
  publicUrl,
  corsOrigins,
  trustedProxies,
}: {
  log: Logger
  publicUrl: string
  corsOrigins: readonly string[]
  trustedProxies: readonly string[]
}): Promise<FastifyInstance> {
  const everywhere = { 'cache-control': 'no-store', ...securityHeaders(publicUrl) }
  const app = fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    // Our lines name the request themselves; a logger for each would be made in vain.
    childLoggerFactory: (logger) => logger,
    genReqId: newRequestId,
    trustProxy: trustedProxies.length > 0 ? [...trustedProxies] : false,
    requestTimeout: requestTimeoutMs,
    // Requests that arrive on open connections while the service drains are answered like any other.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    routerOptions: { ignoreTrailingSlash: false, maxParamLength: maxHeaderBytes },
    // A fragment is for the client alone (RFC 9110, section 7.1); taken for a part of the query it would come back in links.
    rewriteUrl: ({ url = '' }) => url.split('#', 1)[0] ?? '',
    // We refuse a request without a host ourselves, in the envelope.
    http: { requireHostHeader: false },
    clientErrorHandler: (error, socket) => replyToUnreadable(error, socket, everywhere),
    // No hook has run for these.
    frameworkErrors: (_error, request, reply) => {
      reply.headers({ 'x-request-id': request.id, ...everywhere })
      void replyRefusal(request, reply, new Refusal('not_found', []))
    },
  }) as unknown as FastifyInstance

  app.server.on('request', (request, response) => answering.set(request.socket, response))
  // An expectation that we do not know asks for nothing that we could refuse.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))

  app.addHook('onRequest', (request, reply, done) => {
    reply.headers({ 'x-request-id': request.id, ...everywhere })
    const fault = faultOfHost(request.raw)
    done(fault ? new Refusal('invalid_request', [{ field: 'header.host', message: fault }]) : undefined)
  })
  readJsonBodies(app)
  app.setErrorHandler((error, request, reply) => {
    // Nobody waits for the answer any more.
    if (request.raw.aborted) return replyRefusal(request, reply, new Refusal('request_timeout', []))
    const refusal = asRefusal(error)
    if (refusal && refusal.code !== 'unavailable') return replyRefusal(request, reply, refusal)
    log.error({ requestId: request.id, operation: request.routeOptions.config.operation, err: error }, 'request failed')
    return replyRefusal(request, reply, refusal ?? new Refusal('internal', []))
  })
  app.setNotFoundHandler((request, reply) => replyRefusal(request, reply, new Refusal('not_found', [])))
  if (corsOrigins.length > 0) {
    await app.register(cors, {
      origin: [...corsOrigins],
      methods: ['GET', 'POST', 'PUT', 'DELETE'],
      exposedHeaders: ['etag', 'link', 'x-total-count', 'x-request-id', 'retry-after'],
      maxAge: 600,
    })
  }
  return app
}

/** A request names one host, which nobody on its way can take for another one (RFC 9112, section 3.2). */
function faultOfHost({ headers, rawHeaders, httpVersion }: IncomingMessage): string | undefined {
  if (!headers.host && httpVersion === '1.1') return 'is missing'
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) if (rawHeaders[at]?.toLowerCase() === 'host') hosts++
  return hosts > 1 ? 'is there more than once' : undefined
}

const unreadable: Readonly<Record<string, ErrorCode>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
  HPE_HEADER_OVERFLOW: 'headers_too_large',
}

/** The answer under way on a connection. */
const answering = new WeakMap<Socket, ServerResponse>()

/**
 * What is not HTTP at all never becomes a request; it is answered all the same, in the same envelope, and after the
 * answers to what came before it on the connection.
 */
function replyToUnreadable(
  error: NodeJS.ErrnoException,
  socket: Socket,
  headers: Readonly<Record<string, string>>,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const code = unreadable[error.code ?? ''] ?? 'invalid_request'
  const requestId = newRequestId()
  const body = JSON.stringify(errorEnvelope(code, requestId))
  const lines = Object.entries({ 'x-request-id': requestId, ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  )
  const answer = () =>
    socket.end(
      `HTTP/1.1 ${errors[code].status} ${code}\r\ncontent-type: application/json; charset=utf-8\r\n` +
        `content-length: ${Buffer.byteLength(body)}\r\n${lines.join('')}connection: close\r\n\r\n${body}`,
    )
  const earlier = answering.get(socket)
  if (earlier?.req.complete && !earlier.writableFinished) earlier.once('finish', answer)
  else answer()
}
