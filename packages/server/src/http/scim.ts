import { type ErrorCode, errors, limits } from '@penstock/wire'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Actor } from '../call.ts'
import { Refusal, refuse } from '../refusal.ts'
import { asRefusal } from './replies.ts'
import { tokenOf } from './serve.ts'

/**
 * SCIM 2.0 (RFC 7644) below `/scim/v2`, for identity providers that manage the people of an organization. It is not part of the
 * contract: the RFC defines its media type, its errors and its lists. All answers, including refusals, have that form.
 */

/** A request to SCIM, authenticated. */
type Request = {
  readonly method: string
  readonly path: readonly string[]
  readonly query: Readonly<Record<string, unknown>>
  readonly body: unknown
  readonly ifMatch: string | undefined
  readonly actor: Actor
  readonly address: string
  readonly requestId: string
}

/** How SCIM requests are authenticated and answered. The modules implement it, and refuse. */
export type ScimRules = {
  /** The actor of a bearer token that is allowed to use SCIM. Undefined if the token is not valid. */
  authenticate(request: {
    readonly token: string
    readonly address: string
    readonly requestId: string
  }): Promise<Actor | undefined>
  answer(request: Request): Promise<{
    readonly status: number
    readonly body?: object
    readonly location?: string
    readonly etag?: string
  }>
}

const mediaTypes = ['application/scim+json', 'application/json']
const mediaType = 'application/scim+json; charset=utf-8'
const prefix = '/scim/v2'
const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Serves `/scim/v2` and everything below. */
export function serveScim(app: FastifyInstance, { authenticate, answer }: ScimRules): void {
  // A separate scope, because no other address accepts this media type or answers in this format.
  void app.register(async (own) => {
    const parse = own.getDefaultJsonParser('error', 'error')
    own.removeAllContentTypeParsers()
    own.addContentTypeParser(
      mediaTypes,
      { parseAs: 'buffer', bodyLimit: limits.bodyBytesMax },
      (request, body, done) => {
        try {
          if (!/^(identity)?$/i.test(request.headers['content-encoding'] ?? '')) refuse('unsupported_media_type')
          if (body.length === 0) done(null, undefined)
          else void parse(request, decode(body as Buffer), done)
        } catch (error) {
          done(error as Error)
        }
      },
    )
    own.setErrorHandler(answerError)
    const options = {
      method: app.supportedMethods,
      config: { operation: 'scim' },
      onRequest: async (request: FastifyRequest) => {
        const { headers, ip: address, id: requestId } = request
        const token = tokenOf(headers.authorization)
        const actor = token === undefined ? undefined : await authenticate({ token, address, requestId })
        request.actor = actor ?? refuse('unauthorized')
      },
      handler: async (request: FastifyRequest, reply: FastifyReply) => {
        const { method, body, headers, ip: address, id: requestId } = request
        const actor = request.actor ?? refuse('unauthorized')
        const rest = (request.params as Record<string, string>)['*'] ?? ''
        const done = await answer({
          method: method === 'HEAD' ? 'GET' : method,
          path: rest.split('/').filter(Boolean),
          query: request.query as Readonly<Record<string, unknown>>,
          body,
          ifMatch: headers['if-match'],
          actor,
          address,
          requestId,
        })
        if (done.location !== undefined) reply.header('location', done.location)
        if (done.etag !== undefined) reply.header('etag', done.etag)
        reply.code(done.status)
        return done.body ? reply.type(mediaType).send(JSON.stringify(done.body)) : reply.send()
      },
    }
    own.route({ ...options, url: prefix })
    own.route({ ...options, url: `${prefix}/*` })
  })
}

function decode(body: Buffer): string {
  try {
    return utf8.decode(body)
  } catch {
    return refuse('invalid_request', [{ field: 'invalidSyntax', message: 'The body is not UTF-8.' }])
  }
}

const scimTypes = [
  'invalidFilter',
  'invalidPath',
  'invalidSyntax',
  'invalidValue',
  'mutability',
  'noTarget',
  'uniqueness',
]
/** The scimType of refusals that the rules share with the API. */
const scimTypeOf: Partial<Record<ErrorCode, string>> = { user_exists: 'uniqueness', invalid_request: 'invalidSyntax' }

function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  // If the client is gone, whatever was thrown is no defect.
  const refusal = request.raw.aborted ? new Refusal('request_timeout', []) : asRefusal(error)
  const code = refusal?.code ?? 'internal'
  const [first] = refusal?.fieldErrors ?? []
  const scimType = first && scimTypes.includes(first.field) ? first.field : scimTypeOf[code]
  const status = scimType === 'uniqueness' ? 409 : errors[code].status
  if (status >= 500) request.log.error({ requestId: request.id, operation: 'scim', err: error }, 'request failed')
  if (status === 401) reply.header('www-authenticate', 'Bearer')
  if (refusal?.retryAfterSeconds !== undefined) reply.header('retry-after', String(refusal.retryAfterSeconds))
  const body = {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
    status: String(status),
    ...(scimType === undefined ? {} : { scimType }),
    detail: first && code !== 'user_exists' ? first.message : errors[code].message,
  }
  return reply.code(status).type(mediaType).send(JSON.stringify(body))
}
