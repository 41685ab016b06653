import { type ErrorCode, errors, limits, type Scope, scopeNames } from '@penstock/wire'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Refusal, refuse } from '../refusal.ts'
import { clientAddressOf } from './client-address.ts'
import { asRefusal } from './replies.ts'

/**
 * The token endpoint of OAuth 2.0 (RFC 6749, sections 3.2 and 4.4), for libraries and programs that speak no other. It issues the
 * same tokens as the operation `createToken`, by the same rule. Every answer of it, refusals too, is what the RFC prescribes.
 */

/** Issues a token. The module of tokens implements it, and refuses. */
export type IssueToken = (request: {
  readonly clientId: string
  readonly clientSecret: string
  readonly scopes: readonly string[] | null
  readonly address: string
  readonly requestId: string
}) => Promise<{
  readonly accessToken: string
  readonly lifetimeSeconds: number
  readonly scopes: readonly Scope[] | null
}>

type OauthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'unsupported_grant_type'
  | 'invalid_scope'
  // Beyond the RFC, which leaves these answers to HTTP.
  | 'temporarily_unavailable'
  | 'server_error'

type OauthError = { readonly status: number; readonly error: OauthErrorCode; readonly description: string }

/** An error of the request by RFC 6749, section 5.2. */
class OauthRefusal extends Error {
  readonly answer: OauthError

  /** @param description ASCII without quotation marks and backslashes, as the RFC has it */
  constructor(error: OauthErrorCode, description: string, status = 400) {
    super(description)
    this.answer = { status, error, description }
  }
}

const refuseOauth = (error: OauthErrorCode, description: string): never => {
  throw new OauthRefusal(error, description)
}

const formType = 'application/x-www-form-urlencoded'
const formBytesMax = 16_384
const utf8 = new TextDecoder('utf-8', { fatal: true })
const challenge = 'Basic realm="Penstock", charset="UTF-8"'
const url = '/oauth/token'

/**
 * Serves `POST /oauth/token`.
 * @param issue the rule; its refusals are answered as errors of the RFC
 */
export function serveOauthToken(app: FastifyInstance, issue: IssueToken): void {
  // A separate scope, because no other address accepts forms or answers in this format.
  void app.register(async (own) => {
    const config = { operation: 'oauthToken' }
    own.removeAllContentTypeParsers()
    own.addContentTypeParser(
      formType,
      { parseAs: 'buffer', bodyLimit: formBytesMax },
      async (request: FastifyRequest, body: Buffer) => {
        if (!/^(identity)?$/i.test(request.headers['content-encoding'] ?? '')) refuse('unsupported_media_type')
        return body
      },
    )
    own.setErrorHandler((error, request, reply) => answerError(error, request, reply))
    own.post(url, { config }, async (request, reply) => {
      const form = readForm(request.body)
      const credentials = readCredentials(request.headers.authorization, form)
      const scopes = readScopes(form.get('scope'))
      const issued = await issue({ ...credentials, scopes, address: clientAddressOf(request), requestId: request.id })
      return reply.headers({ 'cache-control': 'no-store', pragma: 'no-cache' }).send({
        access_token: issued.accessToken,
        token_type: 'Bearer',
        expires_in: issued.lifetimeSeconds,
        scope: (issued.scopes ?? scopeNames).join(' '),
      })
    })
    const refuseMethod = async (_: FastifyRequest, reply: FastifyReply) => {
      reply.header('allow', 'POST')
      refuse('method_not_allowed')
    }
    const method = app.supportedMethods.filter((name) => name !== 'POST')
    own.route({ method, url, config, onRequest: refuseMethod, handler: refuseMethod })
  })
}

/**
 * The parameters of a request for client credentials. Unknown parameters are ignored, empty ones are treated as omitted, and
 * parameters of OAuth 2.0 must not be repeated (RFC 6749, section 3.2).
 */
function readForm(body: unknown): Map<string, string> {
  const pairs = [...new URLSearchParams(body === undefined ? '' : decodeText(body as Buffer))]
  const form = new Map<string, string>()
  for (const name of ['grant_type', 'client_id', 'client_secret', 'scope']) {
    const values = pairs.filter(([key]) => key === name)
    if (values.length > 1) refuseOauth('invalid_request', `The parameter ${name} is there more than once.`)
    const value = values[0]?.[1]
    if (value) form.set(name, value)
  }
  const grantType = form.get('grant_type')
  if (grantType === undefined) {
    refuseOauth('invalid_request', `The parameter grant_type is missing. Send a body with the media type ${formType}.`)
  }
  if (grantType !== 'client_credentials') {
    refuseOauth('unsupported_grant_type', 'Only the grant type client_credentials is supported.')
  }
  return form
}

function decodeText(body: Buffer): string {
  try {
    return utf8.decode(body)
  } catch {
    return refuseOauth('invalid_request', 'The body is not UTF-8.')
  }
}

function readScopes(text: string | undefined): string[] | null {
  if (text === undefined) return null
  const scopes = text.split(' ').filter(Boolean)
  if (scopes.length === 0) refuseOauth('invalid_scope', 'The parameter scope names no scope.')
  return scopes
}

type GivenCredentials = { readonly clientId: string; readonly clientSecret: string }

/** The credentials in the header or in the body, not in both (RFC 6749, section 2.3). */
function readCredentials(authorization: string | undefined, form: ReadonlyMap<string, string>): GivenCredentials {
  const [id, secret] = [form.get('client_id'), form.get('client_secret')]
  if (authorization === undefined) {
    if (id !== undefined && secret !== undefined) return storable({ clientId: id, clientSecret: secret })
    return refuseOauth('invalid_client', 'Send client_id and client_secret, by HTTP Basic or in the body.')
  }
  if (secret !== undefined) {
    refuseOauth('invalid_request', 'The client authenticates twice. Send the secret in the header or in the body.')
  }
  const given = storable(readBasic(authorization))
  if (id !== undefined && id !== given.clientId) {
    refuseOauth('invalid_request', 'The client_id in the body is not the one in the header.')
  }
  return given
}

/** Identifier and secret, each encoded as in a form, with a colon between them, in base64 (RFC 6749, section 2.3.1). */
function readBasic(authorization: string): GivenCredentials {
  const encoded = /^basic +([\w+/-]+={0,2}) *$/i.exec(authorization)?.[1] ?? ''
  const text = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  try {
    const [clientId, clientSecret] = [text.slice(0, Math.max(0, colon)), text.slice(colon + 1)].map((part) =>
      decodeURIComponent(part.replaceAll('+', ' ')),
    )
    if (clientId && clientSecret) return { clientId, clientSecret }
  } catch {
    // Refused below.
  }
  return refuseOauth('invalid_client', 'The header Authorization has no valid credentials for HTTP Basic.')
}

/** Refuses credentials that no client can have: they are not looked up. */
function storable(given: GivenCredentials): GivenCredentials {
  const isText = (text: string) =>
    text.length <= limits.credentialLengthMax && text.isWellFormed() && !text.includes('\0')
  if (isText(given.clientId) && isText(given.clientSecret)) return given
  return refuseOauth('invalid_client', invalidClient)
}

const invalidClient = 'Unknown client, wrong secret or revoked credentials.'

/** The RFC's errors for refusals of the service. Any other refusal is an invalid request. */
const answers: Partial<Record<ErrorCode, Omit<OauthError, 'status'> & { readonly status?: number }>> = {
  invalid_client: { error: 'invalid_client', description: invalidClient },
  forbidden: { status: 400, error: 'invalid_scope', description: 'The client does not have each of these scopes.' },
  rate_limited: {
    error: 'temporarily_unavailable',
    description: 'Too many requests. Retry after the seconds in Retry-After.',
  },
  method_not_allowed: { error: 'invalid_request', description: 'Send the request with the method POST.' },
  unsupported_media_type: {
    status: 400,
    error: 'invalid_request',
    description: `Send an uncompressed body with the media type ${formType}.`,
  },
  payload_too_large: {
    status: 400,
    error: 'invalid_request',
    description: `The body has more than ${formBytesMax} bytes.`,
  },
}

function answerOf(refusal: Refusal | undefined): OauthError {
  if (!refusal) return { status: 500, error: 'server_error', description: 'Internal error. Nothing was changed.' }
  const { status } = errors[refusal.code]
  const known = answers[refusal.code]
  if (known) return { status, ...known }
  if (status < 500) return { status: 400, error: 'invalid_request', description: 'The request cannot be read.' }
  return { status, error: 'temporarily_unavailable', description: 'The service is not available. Retry later.' }
}

function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  // If the client is gone, whatever was thrown is no defect.
  const refusal = request.raw.aborted ? new Refusal('request_timeout', []) : asRefusal(error)
  const given = error instanceof OauthRefusal ? error.answer : answerOf(refusal)
  const status = given.error === 'invalid_client' ? 401 : given.status
  if (status >= 500) request.log.error({ requestId: request.id, operation: 'oauthToken', err: error }, 'request failed')
  if (status === 401) reply.header('www-authenticate', challenge)
  if (refusal?.retryAfterSeconds !== undefined) reply.header('retry-after', String(refusal.retryAfterSeconds))
  return reply
    .code(status)
    .headers({ 'cache-control': 'no-store', pragma: 'no-cache' })
    .send({ error: given.error, error_description: given.description })
}
