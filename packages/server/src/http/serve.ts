import {
  basePath,
  envelope,
  identifierPattern,
  type Operation,
  type OperationId,
  operations,
  Refused,
  type TSchema,
  Type,
  takesIdempotencyKey,
  writes as writesOf,
} from '@penstock/wire'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteGenericInterface } from 'fastify'
import { mayActIn, requireScope } from '../access.ts'
import type { ActingAccount, Actor, Answer, Call, Handler, Handlers, Precondition } from '../call.ts'
import type { Database, Db, Transaction } from '../db/database.ts'
import { refuse } from '../refusal.ts'
import { once, readIdempotencyKey } from './idempotency.ts'
import { METHODS } from './node-http.ts'
import { pageHeaders } from './paging.ts'
import { serialiseBySchema } from './serialise.ts'
import { compileValidator, type Input } from './validate.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks; set once the token was checked. */
    actor: Actor | undefined
  }
}

/** How the HTTP layer authenticates and limits requests; the modules provide it. */
export type AccessControl = {
  /** The actor behind a bearer token; undefined where it is not valid. */
  authenticate(token: string): Promise<Actor | undefined>
  /**
   * The sub-account; undefined where the organization has none under this identifier.
   * In a transaction it is held against deletion until the end.
   */
  findAccount(db: Db, organizationId: string, accountId: string, forWrite: boolean): Promise<ActingAccount | undefined>
  /** Refuses with `rate_limited` where the client asks too often. */
  limit(actor: Actor): Promise<void>
}

/** What every operation is served with. */
type Serving<Deps> = {
  accessControl: AccessControl
  database: Database
  publicUrl: string
  handlers: Handlers<Deps>
  deps: Deps
}

const errorEnvelopeSchema = envelope(Refused)
const wellFormedId = new RegExp(identifierPattern)
/** Every method that Node can read; CONNECT never becomes a request. */
const everyMethod = METHODS.filter((method) => method !== 'CONNECT')

/**
 * Binds every operation of the contract to its handler. A request runs one way:
 * authenticate → limit → check the scope → read the body → validate → find the account → handle (a write: in one transaction) → envelope.
 */
export function serveOperations<Deps>(app: FastifyInstance, serving: Serving<Deps>): void {
  app.decorateRequest('actor', undefined)
  serialiseBySchema(app)
  for (const method of everyMethod) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method)
  const methods = new Map<string, string[]>()
  for (const id of Object.keys(operations) as OperationId[]) {
    const operation: Operation = operations[id]
    const url = basePath + operation.path.replaceAll(/\{(\w+)\}/g, ':$1')
    methods.set(url, [...(methods.get(url) ?? []), operation.method, ...(operation.method === 'GET' ? ['HEAD'] : [])])
    app.route<OperationRequest>({
      method: operation.method,
      url,
      config: { operation: id },
      schema: {
        response: {
          ...(operation.already ? { 200: replySchema(operation) } : {}),
          [operation.success ?? 200]: replySchema(operation),
          '4xx': errorEnvelopeSchema,
          '5xx': errorEnvelopeSchema,
        },
      },
      onRequest: operation.actsIn === 'public' ? [] : [authenticate(serving.accessControl, operation)],
      handler: handle(id, operation, serving),
    })
  }
  for (const [url, allowed] of methods) {
    const allow = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'].filter((method) => allowed.includes(method)).join(', ')
    // Before the body is read: whatever it is, the method is wrong.
    const refuseMethod = async (_: FastifyRequest, reply: FastifyReply) => {
      reply.header('allow', allow)
      refuse('method_not_allowed')
    }
    app.route({
      method: everyMethod.filter((method) => !allowed.includes(method)),
      url,
      onRequest: refuseMethod,
      handler: refuseMethod,
    })
  }
}

type OperationRequest = RouteGenericInterface & {
  Params: { id?: string; transferId?: string }
  Querystring: Record<string, unknown>
}

function replySchema(operation: Operation): TSchema {
  if (operation.bare) return operation.reply
  return envelope(operation.list ? Type.Array(operation.reply) : operation.reply)
}

const authenticate =
  (accessControl: AccessControl, { scope }: Operation) =>
  async (request: FastifyRequest) => {
    const token = /^bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1]
    request.actor = token === undefined ? undefined : await accessControl.authenticate(token)
    if (!request.actor) refuse('unauthorized')
    await accessControl.limit(request.actor)
    // Before anything is looked up, so that the answer says nothing about what there is.
    if (scope) requireScope(request.actor, scope)
  }

function handle<Deps>(
  id: OperationId,
  operation: Operation,
  { accessControl, database, publicUrl, handlers, deps }: Serving<Deps>,
) {
  const handler = handlers[id] as Handler<OperationId, Deps>
  const validate = compileValidator(operation)
  const writes = writesOf(operation)
  const repeatable = takesIdempotencyKey(operation)

  return async (request: FastifyRequest<OperationRequest>, reply: FastifyReply) => {
    const pathId = request.params.id ?? ''
    for (const id of Object.values(request.params)) if (!wellFormedId.test(id ?? '')) refuse('not_found')
    const stream = streamWanted(operation, request.headers.accept)
    const input: Input = { query: { ...request.query }, body: request.body }
    const accountId = readInput(operation, input, validate)
    const actor = request.actor
    const key = repeatable ? readIdempotencyKey(request.headers['idempotency-key']?.toString()) : undefined
    const run = async (db: Database | Transaction): Promise<Answer<OperationId>> => {
      // Before the key, so that no first answer is repeated for an account that is gone.
      const account = actor && (await actingAccount(accessControl, db, actor, accountId, writes))
      const call = {
        db,
        actor,
        account,
        id: pathId,
        transferId: request.params.transferId,
        stream,
        signal: request.signal,
        query: input.query,
        body: input.body,
        precondition: readPrecondition(request.headers['if-match']),
        address: request.ip,
      }
      const work = () => handler(call as unknown as Call<OperationId>, deps)
      if (key === undefined || !actor) return work()
      return once(db, actor, key, [id, request.params, accountId, input.body], work)
    }
    const answer = writes ? await database.transaction(run) : await run(database)
    if (answer.body) return reply.type(`${stream}; charset=utf-8`).send(answer.body)
    return send(reply, operation, answer, publicUrl, request, input.query)
  }
}

/** The media type that the caller prefers to JSON, where the operation streams it. */
function streamWanted({ streams = [] }: Operation, accept = ''): string | undefined {
  const wanted = accept.split(',').map((type) => type.split(';')[0]?.trim().toLowerCase())
  return streams.find((type) => wanted.includes(type))
}

/** Validates, and finds `accountId`, which every field error of the request is listed beside when it is missing. */
function readInput(
  operation: Operation,
  input: Input,
  validate: (input: Input) => { field: string; message: string }[],
): string | undefined {
  const fieldErrors = validate(input)
  const { accountId } = input.query
  if (operation.actsIn === 'account' && !accountId) {
    refuse('account_required', [
      { field: 'query.accountId', message: 'is missing: name a sub-account' },
      ...fieldErrors,
    ])
  }
  if (fieldErrors.length > 0) refuse('invalid_request', fieldErrors)
  const takesAccount = operation.actsIn === 'account' || operation.actsIn === 'organization or account'
  return takesAccount && accountId ? String(accountId) : undefined
}

async function actingAccount(
  accessControl: AccessControl,
  db: Database | Transaction,
  actor: Actor,
  accountId: string | undefined,
  forWrite: boolean,
): Promise<ActingAccount | undefined> {
  if (accountId === undefined) return undefined
  if (accountId === actor.organizationId) refuse('organization_account_not_allowed')
  const account =
    wellFormedId.test(accountId) && mayActIn(actor, accountId)
      ? await accessControl.findAccount(db, actor.organizationId, accountId, forWrite)
      : undefined
  return account ?? refuse('not_found')
}

function send(
  reply: FastifyReply,
  operation: Operation,
  answer: Answer<OperationId> & { total?: number },
  publicUrl: string,
  request: FastifyRequest<OperationRequest>,
  query: Record<string, unknown>,
): FastifyReply {
  const statusCode = answer.already ? 200 : (operation.success ?? 200)
  reply.code(statusCode)
  if (answer.etag !== undefined) reply.header('etag', quoteEtag(answer.etag))
  if (operation.list === 'paged') {
    const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: 'id') => request.params[name] ?? '')
    const address = `${publicUrl}${basePath}${path}`
    reply.headers(pageHeaders(address, request.query, query as { size: number; offset: number }, answer.total ?? 0))
  }
  const payload = operation.bare
    ? answer.reply
    : { statusCode, statusMessage: (answer.already && operation.already) || operation.done, response: answer.reply }
  return Object.isFrozen(answer.reply) ? sendLasting(reply, answer.reply, payload) : reply.send(payload)
}

/** A frozen reply never changes, so it is serialised once, not for each request. */
const written = new WeakMap<object, Buffer>()

function sendLasting(reply: FastifyReply, key: object, payload: unknown): FastifyReply {
  const bytes = written.get(key) ?? Buffer.from(String(reply.serialize(payload)))
  written.set(key, bytes)
  return reply.type('application/json; charset=utf-8').send(bytes)
}

/** The header form of a version. */
const quoteEtag = (etag: string) => `"${etag}"`

/**
 * Reads an If-Match header. `*` and an absent header demand nothing: a missing resource is refused anyway.
 * Weak tags never match, as the RFC has it.
 */
function readPrecondition(header: string | undefined): Precondition {
  if (header === undefined || header.trim() === '*') return { check: () => {} }
  const named = header.split(',').map((tag) => tag.trim())
  return {
    check: (etag) => {
      if (!named.includes(quoteEtag(etag))) {
        refuse('precondition_failed', [
          { field: 'header.if-match', message: `is not the current ETag, ${quoteEtag(etag)}` },
        ])
      }
    },
  }
}
