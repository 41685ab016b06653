import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import cors, { type FastifyCorsOptions } from '@fastify/cors'
import { compile as compileAddresses } from '@fastify/proxy-addr'
import { type ErrorCode, errors, type FieldError } from '@penstock/wire'
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify, LogController } from 'fastify'
import type { Logger } from '../log.ts'
import { Refusal } from '../refusal.ts'
import { readJsonBodies } from './body.ts'
import {
  type ConnectionBounds,
  type ConnectionListener,
  createListener,
  type Timeouts,
  timeoutsDefault,
} from './listener.ts'
import { asRefusal, errorEnvelope, replyRefusal, retrySeconds } from './replies.ts'
import { securityHeaders } from './security-headers.ts'
import { createUnknownPage } from './unknown-page.ts'

/** Node refuses longer request lines and headers, so this also limits path parameters. */
const maxHeaderBytes = 16_384
/** Request identifiers are unique, not secret: a random beginning for the process, and a count. */
const processId = randomBytes(4).toString('hex')
let requests = 0
const newRequestId = () => processId + (++requests >>> 0).toString(16).padStart(8, '0')

/** The HTTP server without operations: request ids, bodies, errors, the same envelope for whatever goes wrong. */
export async function createApp({
  log,
  publicUrl,
  corsOrigins,
  trustedProxies,
  connections = { total: 0, perAddress: 0 },
  timeouts = {},
}: {
  log: Logger
  publicUrl: string
  corsOrigins: readonly string[]
  trustedProxies: readonly string[]
  connections?: ConnectionBounds
  timeouts?: Partial<Timeouts>
}): Promise<{ app: FastifyInstance; listener: ConnectionListener }> {
  const everywhere = { 'cache-control': 'no-store', ...securityHeaders(publicUrl) }
  const addHeaders = createHeaders(everywhere)
  const replyUnknownPage = createUnknownPage(publicUrl)
  const refuseRequest = (request: FastifyRequest, reply: FastifyReply, refusal: Refusal) =>
    replyUnknownPage(request, reply, refusal) ?? replyRefusal(request, reply, refusal)
  const listener = createListener({
    bounds: connections,
    timeouts: { ...timeoutsDefault, ...timeouts },
    isTrustedProxy: trustsAddress(trustedProxies),
    refusal: (code, fieldErrors) => rawRefusal(code, everywhere, fieldErrors),
  })
  const app = fastify({
    loggerInstance: withoutChildren(log),
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: newRequestId,
    trustProxy: trustedProxies.length > 0 ? [...trustedProxies] : false,
    serverFactory: (handler) => listener.createServer(handler),
    // Requests that arrive on open connections while the service drains are answered like any other.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    routerOptions: { ignoreTrailingSlash: false, maxParamLength: maxHeaderBytes },
    // Clients keep fragments to themselves (RFC 9110, section 7.1). If it were parsed as part of the query, it would be
    // repeated in links.
    rewriteUrl: ({ url = '' }) => (url.includes('#') ? url.slice(0, url.indexOf('#')) : url),
    clientErrorHandler: (error, socket) => replyToUnreadable(listener, error, socket, everywhere),
    // No hook has run for these.
    frameworkErrors: (_error, request, reply) => {
      addHeaders(request, reply)
      void refuseRequest(request, reply, new Refusal('not_found', []))
    },
  }) as unknown as FastifyInstance

  app.addHook('onRequest', (request, reply, done) => {
    addHeaders(request, reply)
    const fieldError = errorOfHost(request.raw)
    done(fieldError ? new Refusal('invalid_request', [{ field: 'header.host', message: fieldError }]) : undefined)
  })
  readJsonBodies(app)
  app.setErrorHandler((error, request, reply) => {
    // The client is gone.
    if (request.raw.aborted) return replyRefusal(request, reply, new Refusal('request_timeout', []))
    const refusal = asRefusal(error)
    if (refusal?.code === 'stored_value_unreadable') {
      log.error({ requestId: request.id, err: error }, 'a sealed value cannot be opened')
    }
    if (refusal && errors[refusal.code].status < 500) return refuseRequest(request, reply, refusal)
    log.error({ requestId: request.id, operation: request.routeOptions.config.operation, err: error }, 'request failed')
    return replyRefusal(request, reply, refusal ?? new Refusal('internal', []))
  })
  app.setNotFoundHandler((request, reply) => refuseRequest(request, reply, new Refusal('not_found', [])))
  if (corsOrigins.length > 0) {
    const options: FastifyCorsOptions = {
      origin: [...corsOrigins],
      methods: ['GET', 'POST', 'PUT', 'DELETE'],
      exposedHeaders: ['etag', 'link', 'x-total-count', 'x-connection-states', 'x-request-id', 'retry-after'],
      maxAge: 600,
    }
    await app.register(cors, {
      delegator: (request, callback) =>
        callback(null, request.routeOptions.config.ownCors ? { origin: false } : options),
    })
  }
  return { app, listener }
}

const isPlaceOfHeaders = ({ description }: symbol) => description === 'fastify.reply.headers'

/**
 * Sets the headers that every answer has, and the identifier of its request, before any other header. Fastify adds headers
 * one by one, which would take a tenth of a short read: it gets them as one object, if it still stores its headers in one.
 */
function createHeaders(
  fixed: Readonly<Record<string, string>>,
): (request: FastifyRequest, reply: FastifyReply) => void {
  let place: symbol | null | undefined
  return (request, reply) => {
    place ??= Object.getOwnPropertySymbols(reply).find(isPlaceOfHeaders) ?? null
    const headers = { 'x-request-id': request.id, ...fixed }
    if (place) (reply as unknown as Record<symbol, typeof headers>)[place] = headers
    else reply.headers(headers)
  }
}

/** Our lines name the request themselves: a logger for each, and the check of each logger, would be made in vain. */
function withoutChildren(log: Logger): Logger {
  const own: Logger = Object.create(log, { child: { value: () => own } })
  return own
}

/** Whether an address is one of the proxies, or in one of the networks, that are trusted. */
function trustsAddress(trustedProxies: readonly string[]): (address: string) => boolean {
  if (trustedProxies.length === 0) return () => false
  const trusts = compileAddresses([...trustedProxies])
  return (address) => address !== '' && trusts(address, 0)
}

/** A request names one host, which no proxy can take for another one (RFC 9112, section 3.2). */
function errorOfHost({ headers, rawHeaders, httpVersion }: IncomingMessage): string | undefined {
  if (!headers.host && httpVersion === '1.1') return 'is missing'
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  return hosts > 1 ? 'is there more than once' : undefined
}

const unreadable: Readonly<Record<string, ErrorCode>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
  HPE_HEADER_OVERFLOW: 'headers_too_large',
}

/**
 * Input that is not HTTP never becomes a request. It is still answered in the same envelope, after the responses to the
 * requests before it on the connection.
 */
function replyToUnreadable(
  listener: ConnectionListener,
  error: NodeJS.ErrnoException,
  socket: Socket,
  headers: Readonly<Record<string, string>>,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const code = unreadable[error.code ?? ''] ?? 'invalid_request'
  const answer = () => listener.end(socket, rawRefusal(code, headers))
  const earlier = listener.answerOn(socket)
  if (earlier?.req.complete && !earlier.writableFinished) earlier.once('finish', answer)
  else answer()
}

/** A refusal as the bytes of HTTP/1.1, for a connection without a request. The connection ends after it. */
function rawRefusal(
  code: ErrorCode,
  everywhere: Readonly<Record<string, string>>,
  fieldErrors: readonly FieldError[] = [],
): string {
  const { status } = errors[code]
  const requestId = newRequestId()
  const body = JSON.stringify(errorEnvelope(code, requestId, fieldErrors))
  const headers = [
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${requestId}`,
    ...Object.entries(everywhere).map(([name, value]) => `${name}: ${value}`),
    ...(status === 429 || status === 503 ? [`retry-after: ${retrySeconds}`] : []),
    'connection: close',
  ]
  return `HTTP/1.1 ${status} ${code}\r\n${headers.join('\r\n')}\r\n\r\n${body}`
}
