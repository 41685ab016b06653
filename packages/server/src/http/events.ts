import type { IncomingHttpHeaders } from 'node:http'
import { errors, identifierPattern } from '@penstock/wire'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { refuse } from '../refusal.ts'
import { clientAddressOf } from './client-address.ts'
import { asRefusal } from './replies.ts'

/**
 * The addresses that receive events. They are not operations: the write key of a stream is the credential, pages of other sites
 * send to them, and the libraries of Segment and RudderStack define the paths and answers (docs/event-streams.md).
 */

/** The result of a request. */
type EventsReceived = {
  readonly accepted: number
  readonly duplicates?: number
  readonly refused: readonly { readonly index: number; readonly reason: string }[]
  /** The body that the sender expects, if it expects one. */
  readonly answer?: object
}

type ReceivedRequest = {
  readonly call: string | undefined
  readonly method: string
  /** The full address, as the sender used it. */
  readonly url: string
  readonly content:
    | { readonly body: Buffer; readonly headers: IncomingHttpHeaders }
    | { readonly query: URLSearchParams; readonly data: string | undefined }
}

type HandshakeAnswer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** A request that was let in before its body was read. */
type Admitted = {
  receive(request: ReceivedRequest): Promise<EventsReceived>
  /** The answer to a handshake of the sender. `undefined` if the request is not a handshake. */
  challenge(request: ReceivedRequest): Promise<HandshakeAnswer | undefined>
  /** Called once, when the request is over, however it ended. */
  release(): void
}

/** Receives events. The module of streams implements it, and refuses. */
export type ReceiveEvents = {
  admit(head: {
    readonly key: string | undefined
    readonly streamId: string | undefined
    readonly origin: string | undefined
    readonly address: string
    readonly bytes: number | undefined
  }): Promise<Admitted>
  /** Whether a write key exists and its stream accepts events. */
  isOpen(key: string): Promise<boolean>
}

const bodyBytesMax = 4 * 1024 ** 2
const wellFormedId = new RegExp(identifierPattern)
const preflightSeconds = 900
const requestedHeadersMax = 500
/** A transparent picture of one pixel. */
const pixel = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')
const config = { operation: 'receiveEvents', ownCors: true } as const

type WithParams = FastifyRequest<{ Params: { id?: string; call?: string; key?: string } }>

const admitted = new WeakMap<FastifyRequest, Admitted>()

/**
 * Serves the addresses that receive events.
 * @param calls the calls of the tracking API, as the last part of their paths
 */
export function serveEvents(
  app: FastifyInstance,
  { receiver, calls, publicUrl }: { receiver: ReceiveEvents; calls: readonly string[]; publicUrl: string },
): void {
  // A separate scope, because no other address accepts every media type or answers pages of every site.
  void app.register(async (own) => {
    own.removeAllContentTypeParsers()
    own.addContentTypeParser(
      '*',
      { parseAs: 'buffer', bodyLimit: bodyBytesMax },
      async (_: FastifyRequest, body: Buffer) => body,
    )
    own.addHook('onRequest', async (request, reply) => allowPages(request, reply))

    const admit = async (request: WithParams, reply: FastifyReply) => {
      const streamId = request.params.id
      if (streamId !== undefined && !wellFormedId.test(streamId)) refuse('not_found')
      const admission = await receiver.admit({
        key: keyOf(request),
        streamId,
        origin: request.headers.origin,
        address: clientAddressOf(request),
        bytes: bytesOf(request),
      })
      admitted.set(request, admission)
      if (reply.raw.closed) admission.release()
      else reply.raw.once('close', admission.release)
      return admission
    }
    // Before the body is read.
    const onRequest = async (request: WithParams, reply: FastifyReply) => void (await admit(request, reply))
    const { origin } = new URL(publicUrl)
    const partsOf = ({ method, url }: WithParams) => ({ method, url: origin + url })
    const requestOf = (request: WithParams, call: string | undefined): ReceivedRequest => {
      const { headers, body } = request
      return { call, ...partsOf(request), content: { body: Buffer.isBuffer(body) ? body : Buffer.alloc(0), headers } }
    }
    const admissionOf = (request: WithParams): Admitted => {
      const admission = admitted.get(request)
      if (!admission) throw new Error('A request with events was not let in')
      return admission
    }
    const receive = (request: WithParams, call: string | undefined): Promise<EventsReceived> =>
      admissionOf(request).receive(requestOf(request, call))
    const answerChallenge = async (request: WithParams, reply: FastifyReply): Promise<boolean> => {
      const answer = await admissionOf(request).challenge(requestOf(request, undefined))
      if (!answer) return false
      reply.code(answer.status).headers(answer.headers).send(answer.body)
      return true
    }
    const json = async (request: WithParams, reply: FastifyReply) => {
      if (await answerChallenge(request, reply)) return reply
      const response = await receive(request, undefined)
      if (response.answer) return reply.send(response.answer)
      return reply.send({ statusCode: 200, statusMessage: 'Events stored', response })
    }
    const tracking = (call: string) => async (request: WithParams) => {
      await receive(request, call)
      return { success: true }
    }

    own.post('/events/:id', { config, onRequest }, json)
    own.get('/events/:id', { config, onRequest }, async (request: WithParams, reply) =>
      (await answerChallenge(request, reply)) ? reply : refuse('not_found'),
    )
    own.post('/v1/webhook', { config, onRequest }, json)
    for (const call of calls) own.post(`/v1/${call}`, { config, onRequest }, tracking(call))
    own.post('/beacon/v1/batch', { config, onRequest }, tracking('batch'))

    const picture = (callOf: (request: WithParams) => string | undefined) => {
      return async (request: WithParams, reply: FastifyReply) => {
        reply.type('image/gif')
        try {
          const { receive } = await admit(request, reply)
          const query = queryOf(request)
          const data = query.get('data') ?? undefined
          query.delete('writeKey')
          await receive({ call: callOf(request), ...partsOf(request), content: { query, data } })
          return reply.send(pixel)
        } catch (error) {
          // A picture is shown even if its status is one of a refusal.
          const refusal = asRefusal(error)
          if (!refusal) throw error
          if (refusal.retryAfterSeconds !== undefined) reply.header('retry-after', refusal.retryAfterSeconds)
          const { status } = errors[refusal.code]
          // Senders that call an address, such as Adjust, repeat only calls that are answered with 5xx.
          return reply.code(status === 429 ? 503 : status).send(pixel)
        }
      }
    }
    const ofPath = ({ params: { call = '' } }: WithParams) => (calls.includes(call) ? call : refuse('not_found'))
    own.get(
      '/events/:id/pixel.gif',
      { config },
      picture(() => undefined),
    )
    own.get('/v1/pixel/:call', { config }, picture(ofPath))
    own.get('/pixel/v1/:call', { config }, picture(ofPath))

    const { host, protocol } = new URL(publicUrl)
    own.get('/v1/projects/:key/settings', { config }, async ({ params: { key = '' } }: WithParams) => {
      if (!(await receiver.isOpen(key))) refuse('not_found')
      return settingsOfSegment(key, host, protocol)
    })
    for (const path of ['/sourceConfig', '/sourceConfig/']) {
      own.get(path, { config }, async (request: WithParams) => {
        const key = keyOf(request) ?? ''
        if (!(await receiver.isOpen(key))) refuse('unauthorized', [{ field: 'key', message: 'is not a write key' }])
        return settingsOfRudderStack
      })
    }
    for (const path of ['/events/*', '/v1/*', '/beacon/*', '/pixel/*', '/sourceConfig', '/sourceConfig/']) {
      own.options(path, { config }, replyPreflight)
    }
  })
}

/** Settings that the library of Segment for browsers reads before its first event. */
const settingsOfSegment = (key: string, host: string, protocol: string) => ({
  integrations: {
    'Segment.io': { apiKey: key, apiHost: `${host}/v1`, protocol: protocol.slice(0, -1), unbundledIntegrations: [] },
  },
  plan: { track: { __default: { enabled: true, integrations: {} } }, identify: {}, group: {} },
  metrics: { sampleRate: 0 },
  edgeFunction: {},
  enabledMiddleware: {},
  remotePlugins: [],
})

/** The same for the library of RudderStack. */
const settingsOfRudderStack = {
  source: {
    id: 'penstock',
    name: 'Penstock',
    enabled: true,
    config: { statsCollection: { errors: { enabled: false }, metrics: { enabled: false } } },
    connections: [],
    destinations: [],
    workspaceId: 'penstock',
  },
  updatedAt: '2026-01-01T00:00:00.000Z',
}

/** Lets pages of every site read the answer. The origins of the stream are checked with the request itself. */
function allowPages({ headers: { origin } }: FastifyRequest, reply: FastifyReply): void {
  reply.header('cross-origin-resource-policy', 'cross-origin')
  reply.header('vary', 'origin')
  if (origin === undefined) return
  reply.header('access-control-allow-origin', origin)
  reply.header('access-control-allow-credentials', 'true')
  reply.header('access-control-expose-headers', 'retry-after, x-request-id')
}

async function replyPreflight({ headers }: FastifyRequest, reply: FastifyReply) {
  const requested = headers['access-control-request-headers'] ?? ''
  const isUsual = requested !== '' && requested.length <= requestedHeadersMax
  return reply
    .header('access-control-allow-methods', 'GET, POST')
    .header('access-control-allow-headers', isUsual ? requested : 'authorization, content-type, content-encoding')
    .header('access-control-max-age', String(preflightSeconds))
    .code(204)
    .send()
}

const queryOf = ({ url }: FastifyRequest): URLSearchParams => {
  const at = url.indexOf('?')
  return new URLSearchParams(at === -1 ? '' : url.slice(at + 1))
}

/** The write key of a request: in the query, the user of Basic authentication, or a bearer token. */
function keyOf(request: FastifyRequest): string | undefined {
  const inQuery = queryOf(request).get('writeKey')
  // A sender with the key in its address can use the header for its own purposes.
  if (inQuery !== null) return inQuery
  const [scheme = '', value = ''] = (request.headers.authorization ?? '').split(/ +/, 2)
  if (/^basic$/i.test(scheme)) return Buffer.from(value, 'base64').toString('latin1').split(':', 1)[0]
  // Any other token belongs to an OAuth server. Then the key is in the body.
  if (/^bearer$/i.test(scheme) && value.startsWith('pwk_')) return value
  return undefined
}

function bytesOf({ headers }: FastifyRequest): number | undefined {
  const length = headers['content-length']
  if (length !== undefined && /^\d{1,15}$/.test(length)) return Number(length)
  return headers['transfer-encoding'] === undefined ? 0 : undefined
}
