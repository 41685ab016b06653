import { isIP } from 'node:net'
import { createClient, type Fetch } from '@penstock/client'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Actor } from '../call.ts'
import { refuse } from '../refusal.ts'
import { mcpResourceMetadataUrl } from './oauth-metadata.ts'
import { type AccessControl, tokenOf } from './serve.ts'

type Mcp = typeof import('../mcp/streamable-http.ts')

/** Time limit of a tool in milliseconds: a preview calls two platforms. */
const toolTimeoutMs = 150_000

/**
 * Serves `/mcp`: the operations as tools of the Model Context Protocol, by streamable HTTP without sessions, so that any
 * process can answer any request. It accepts the bearer tokens of the API, and no cookie. A tool is an HTTP request that this
 * process sends to itself: it is authenticated, limited, validated and recorded like a request from outside. The implementation
 * of the protocol is loaded at the first request.
 */
export function serveMcp(
  app: FastifyInstance,
  {
    accessControl: { authenticate, limit },
    publicUrl,
    corsOrigins,
    confirmationClock,
  }: {
    accessControl: Pick<AccessControl, 'authenticate' | 'limit'>
    publicUrl: string
    corsOrigins: readonly string[]
    /** The time in Unix seconds, the same in every process. */
    confirmationClock: () => Promise<number>
  },
): void {
  const config = { operation: 'mcp' }
  const refuseOthers = createOriginCheck(publicUrl, corsOrigins)
  const challenge = `Bearer resource_metadata="${mcpResourceMetadataUrl(publicUrl)}"`
  let loading: Promise<Mcp> | undefined
  app.post('/mcp', {
    config,
    onRequest: async (request, reply) => {
      refuseOthers(request)
      const token = tokenOf(request.headers.authorization)
      const actor: Actor | undefined = token === undefined ? undefined : await authenticate(token)
      if (!actor) reply.header('www-authenticate', challenge)
      request.actor = actor ?? refuse('unauthorized')
      limit(request.actor)
    },
    handler: async (request, reply) => {
      const { body, headers, actor, signal } = request
      const token = tokenOf(headers.authorization)
      if (actor === undefined || token === undefined) return refuse('unauthorized')
      // A message that cancels another one of the same batch would leave it without an answer.
      if (Array.isArray(body))
        refuse('invalid_request', [{ field: 'body', message: 'must be one message, not several' }])
      loading ??= import('../mcp/streamable-http.ts')
      const { answerMcp, choiceOf } = await loading
      const choice = choiceOf(request.query as Readonly<Record<string, unknown>>)
      const client = createClient({
        baseUrl: '',
        token,
        fetch: inProcess(app, request),
        timeoutMs: toolTimeoutMs,
        retriesMax: 0,
      })
      const server = {
        client,
        scopes: async () => actor.scopes,
        publicUrl,
        choice,
        confirmationKey: token,
        confirmationClock,
      }
      const answer = await answerMcp(server, { url: `${publicUrl}/mcp`, headers, body, signal })
      reply.code(answer.status)
      if (answer.contentType !== null) reply.type(answer.contentType)
      return reply.send(answer.text)
    },
  })
  // There is no stream of the server's own, and no session to end.
  const refuseMethod = async (_: FastifyRequest, reply: FastifyReply) => {
    reply.header('allow', 'POST')
    refuse('method_not_allowed')
  }
  app.route({
    method: ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE'],
    url: '/mcp',
    config,
    onRequest: refuseMethod,
    handler: refuseMethod,
  })
}

/** Sends requests to this process itself, on behalf of the address that the outer request came from. */
function inProcess(app: FastifyInstance, { ip, headers, span }: FastifyRequest): Fetch {
  return async (address, { method, headers: own, body, signal }) => {
    const reply = await app.inject({
      method: method as 'GET',
      url: address,
      remoteAddress: ip,
      headers: {
        'user-agent': headers['user-agent'] ?? 'mcp',
        ...(own as Record<string, string>),
        ...(span ? { traceparent: span.traceparent } : {}),
      },
      ...(typeof body === 'string' ? { payload: body } : {}),
      ...(signal ? { signal } : {}),
    })
    const replied = new Headers()
    for (const [name, value] of Object.entries(reply.headers)) if (value !== undefined) replied.set(name, String(value))
    return new Response(reply.body, { status: reply.statusCode, headers: replied })
  }
}

/**
 * Refuses pages of other origins, as the protocol requires. With DNS rebinding, a page could otherwise reach a service of this
 * machine or network under the page's own name. If the service is on the loopback address, the host name of the request is
 * checked too.
 */
function createOriginCheck(publicUrl: string, corsOrigins: readonly string[]) {
  const { origin, hostname } = new URL(publicUrl)
  const origins = [origin, ...corsOrigins]
  const isOfThisMachine = isLoopback(hostname)
  return ({ headers: { origin: from, host = '' } }: FastifyRequest): void => {
    if (from !== undefined && !origins.includes(from)) {
      const message = 'is not an origin that may call this service; PENSTOCK_CORS_ORIGINS lists them'
      refuse('forbidden', [{ field: 'header.origin', message }])
    }
    if (isOfThisMachine && !isLoopback(nameOf(host))) {
      refuse('forbidden', [
        { field: 'header.host', message: 'is not a name of this service; PENSTOCK_PUBLIC_URL is its address' },
      ])
    }
  }
}

const nameOf = (host: string): string => host.replace(/:\d+$/, '')

const isLoopback = (name: string): boolean => {
  const plain = name.replace(/^\[|\]$/g, '')
  return plain === 'localhost' || plain === '::1' || (isIP(plain) === 4 && plain.startsWith('127.'))
}
