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
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import {
  mayActIn,
  requireOfLink,
  requireOnPage,
  requirePerson,
  requireScope,
  requireSecondFactor,
  requireUnlimited,
} from '../access.ts'
import {
  type ActingAccount,
  type Actor,
  type Answer,
  type AuditedRequest,
  type Awaitable,
  type Call,
  type FileReceiver,
  type Handler,
  type Handlers,
  quoteEtag,
  type ReceivedFile,
  type RequestAudit,
} from '../call.ts'
import type { Database, Db, Transaction } from '../db/database.ts'
import type { Replica } from '../db/replica.ts'
import type { ShareOf } from '../db/shares.ts'
import { Refusal, refuse } from '../refusal.ts'
import { clientAddressOf } from './client-address.ts'
import { once, readIdempotencyKey } from './idempotency.ts'
import { refuseOtherMethods } from './other-methods.ts'
import { pageLinks } from './paging.ts'
import { admitFile, receiveBody } from './receive-file.ts'
import { type OperationRequest, RequestCall } from './request-call.ts'
import { sendLasting, serialiseBySchema } from './serialise.ts'
import { createSessionCookie, type SessionCookie } from './session-cookie.ts'
import { compileValidator, type Input } from './validate.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller. Set after the token or the session was checked. */
    actor: Actor | undefined
    /** The operation that is called. Undefined if the request was refused before it was known. */
    operation: OperationId | undefined
    /** The token of the session, if the request was authenticated by it. */
    sessionToken: string | undefined
  }
}

/** How the HTTP layer authenticates and limits requests. The modules implement it. */
export type AccessControl = {
  /** The actor behind a bearer token. Undefined if the token is not valid. */
  authenticate(token: string): Awaitable<Actor | undefined>
  /** The actor behind the cookie of a person's session. Undefined if the session is not valid. */
  authenticateSession(token: string): Promise<Actor | undefined>
  /**
   * The sub-account. Undefined if the organization has no sub-account with this identifier. In a transaction, it is protected
   * against deletion until the end.
   */
  findAccount(
    db: Db,
    organizationId: string,
    accountId: string,
    forWrite: boolean,
  ): Awaitable<ActingAccount | undefined>
  /** Refuses with `rate_limited` where the client asks too often. */
  limit(actor: Actor): void
}

/** Dependencies for serving every operation. */
type Serving<Deps> = {
  accessControl: AccessControl
  audit: RequestAudit
  files: FileReceiver
  database: Database
  shareOf: ShareOf
  /** For the operations of `replicaReads`. */
  replica: Replica | undefined
  publicUrl: string
  handlers: Handlers<Deps>
  deps: Deps
}

type Served<Deps> = Serving<Deps> & { cookie: SessionCookie }

/** Lists and reports over many sub-accounts or connections, which cost the database most. */
const replicaReads: ReadonlySet<OperationId> = new Set([
  'listAccounts',
  'listAllTransfers',
  'reportAccounts',
  'reportConnections',
  'reportAudiences',
])

const errorEnvelopeSchema = envelope(Refused)
const wellFormedId = new RegExp(identifierPattern)

/**
 * Binds every operation of the contract to its handler. A request runs one way:
 * authenticate → limit → check the scope → read the body → validate → find the account → handle (a write: in one transaction) → envelope.
 */
export function serveOperations<Deps>(app: FastifyInstance, given: Serving<Deps>): void {
  const serving: Served<Deps> = { ...given, cookie: createSessionCookie(given.publicUrl) }
  app.decorateRequest('actor', undefined)
  app.decorateRequest('operation', undefined)
  app.decorateRequest('sessionToken', undefined)
  serialiseBySchema(app)
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
      onRequest: begin(id, operation, serving),
      handler: handle(id, operation, serving),
    })
  }
  refuseOtherMethods(app, methods)
}

/** The schema of an answer. Services of one process share the schema and its compiled form. */
function replySchema(operation: Operation): TSchema {
  const known = replySchemas.get(operation)
  if (known) return known
  const payload = operation.list ? Type.Array(operation.reply) : operation.reply
  const schema = operation.bare ? operation.reply : envelope(payload)
  replySchemas.set(operation, schema)
  return schema
}

const replySchemas = new Map<Operation, TSchema>()

/**
 * Authenticates, applies limits and checks the scope, before the body is read. With a cached token, this needs no promise. A
 * browser adds the cookie to every request, so a request that can change something must come from our own page. A caller adds a
 * token deliberately, so the token has priority.
 */
function begin<Deps>(
  id: OperationId,
  { actsIn, beforeSecondFactor, file, method, person, scope, unlimited, onConnectPage }: Operation,
  { accessControl: { authenticate, authenticateSession, limit }, audit, cookie, files }: Served<Deps>,
) {
  return (request: FastifyRequest<OperationRequest>, _: FastifyReply, done: () => void) => {
    request.operation = id
    if (actsIn === 'public') return done()
    const { headers } = request
    const token = tokenOf(headers.authorization)
    const hasToken = token !== undefined || /^bearer\b/i.test(headers.authorization ?? '')
    const sessionToken = hasToken || cookie.isOfAnotherOrigin(headers) ? undefined : cookie.read(headers)
    const admit = (actor: Actor | undefined) => {
      request.actor = actor ?? refuse('unauthorized')
      limit(request.actor)
      if (sessionToken !== undefined) {
        request.sessionToken = sessionToken
        if (method !== 'GET') cookie.requireOwnPage(headers, sessionToken)
      }
      if (!beforeSecondFactor) requireSecondFactor(request.actor)
      try {
        // Before anything is looked up, so that the answer says nothing about what there is.
        if (scope) requireScope(request.actor, scope)
        if (person) requirePerson(request.actor)
        if (unlimited) requireUnlimited(request.actor)
        requireOnPage(request.actor, onConnectPage === true)
      } catch (error) {
        recordRefusal(audit, () => auditedOf(id, request, request.actor as Actor), error)
        throw error
      }
      if (file) admitFile(request, files.bytesMax)
    }
    const found =
      token !== undefined
        ? authenticate(token)
        : sessionToken !== undefined
          ? authenticateSession(sessionToken)
          : undefined
    if (found instanceof Promise) return found.then(admit)
    admit(found)
    done()
  }
}

/** The token of an Authorization header. Undefined if it has no token. */
export function tokenOf(authorization = ''): string | undefined {
  // As nearly every client writes it.
  if (authorization.startsWith('Bearer ') && !authorization.includes(' ', 7)) return authorization.slice(7)
  return /^bearer +(\S+) *$/i.exec(authorization)?.[1]
}

/** A request in the form of the audit log. Its path and its query may not have been validated yet. */
function auditedOf(
  operationId: OperationId,
  request: FastifyRequest<OperationRequest>,
  actor: Actor,
  stream?: string,
): AuditedRequest {
  const wellFormed = (id: unknown) => (typeof id === 'string' && wellFormedId.test(id) ? id : undefined)
  return {
    operationId,
    actor,
    stream,
    address: clientAddressOf(request),
    requestId: request.id,
    accountId: operations[operationId].actsIn.includes('account') ? wellFormed(request.query.accountId) : undefined,
    id: wellFormed(request.params.id) ?? '',
    transferId: wellFormed(request.params.transferId),
  }
}

function recordRefusal(audit: RequestAudit, request: () => AuditedRequest, error: unknown): void {
  if (error instanceof Refusal && error.code === 'forbidden') audit.refused(request(), error.fieldErrors)
}

function handle<Deps>(
  id: OperationId,
  operation: Operation,
  { accessControl, audit, cookie, database, shareOf, replica, files, publicUrl, handlers, deps }: Served<Deps>,
) {
  const handler = handlers[id] as Handler<OperationId, Deps>
  const validate = compileValidator(operation)
  const writes = writesOf(operation)
  const repeatable = takesIdempotencyKey(operation)
  const sendAnswer = sender(operation, publicUrl)
  const showsRecords = operation.scope === 'records:read'
  const receive = async (
    actor: Actor,
    accountId: string | undefined,
    request: FastifyRequest<OperationRequest>,
    reply: FastifyReply,
  ): Promise<ReceivedFile> => {
    const account = await actingAccount(accessControl, database, actor, accountId, false)
    return receiveBody(files, account ?? refuse('account_required'), request, reply)
  }
  /** If the database is away, the purge deletes it. */
  const discard = (file: ReceivedFile) => files.discard(file).catch(() => {})

  return async (request: FastifyRequest<OperationRequest>, reply: FastifyReply) => {
    const pathId = request.params.id ?? ''
    for (const name in request.params) if (!wellFormedId.test(request.params[name as 'id'] ?? '')) refuse('not_found')
    if (request.actor) requireOfLink(request.actor, pathId)
    const stream = streamWanted(operation, request.headers.accept)
    const input: Input = { query: { ...request.query }, body: operation.file ? undefined : request.body }
    const accountId = readInput(operation, input, validate)
    const actor = request.actor
    const key = repeatable ? readIdempotencyKey(request.headers['idempotency-key']?.toString()) : undefined
    const file = operation.file && actor ? await receive(actor, accountId, request, reply) : undefined
    if (file) input.body = file
    // The cache of accounts is never filled from a replica.
    const run = (db: Database | Transaction, reads = db): Promise<Answer<OperationId>> => {
      const act = (account: ActingAccount | undefined) => {
        const call = new RequestCall(request, reply, reads, account, pathId, stream, input)
        const handled = () => handler(call as unknown as Call<OperationId>, deps)
        if (!writes || !actor) return handled()
        const work = async () => {
          const { audited, ...answer } = await handled()
          audit.changed(db as Transaction, auditedOf(id, request, actor), answer, audited)
          return answer
        }
        if (key === undefined) return work()
        const sent = file ? { ...input.query, digest: file.digest } : input.body
        return once(db, actor, key, [id, request.params, accountId, sent], work)
      }
      // Before the key, so that no first answer is repeated for an account that is gone.
      const found = actor && actingAccount(accessControl, db, actor, accountId, writes)
      return found instanceof Promise ? found.then(act) : act(found)
    }
    const share = (whole: Database) => (actor ? shareOf(whole, actor.organizationId) : whole)
    const own = share(database)
    const perform = () => {
      if (writes) return own.transaction((tx) => run(tx), actor)
      return replica && replicaReads.has(id) ? replica.read((reads) => run(own, share(reads))) : run(own)
    }
    const answer = await perform().catch(async (error) => {
      if (file) await discard(file)
      if (actor) recordRefusal(audit, () => auditedOf(id, request, actor), error)
      throw error
    })
    // The first answer was given again.
    if (file && (answer.reply as { id?: string }).id !== file.id) await discard(file)
    if ((showsRecords || answer.showsRecords) && actor)
      await audit.revealed(auditedOf(id, request, actor, stream), answer)
    const { session } = answer
    if (session) reply.header('set-cookie', session === 'ended' ? cookie.removed : cookie.set(session))
    if (answer.body) return reply.type(`${stream}; charset=utf-8`).send(answer.body)
    sendAnswer(request, reply, answer, input.query)
    // Fastify would wait for an answer that has already been sent.
    return reply.sent ? undefined : reply
  }
}

/** The media type that the caller prefers to JSON, where the operation streams it. */
function streamWanted({ streams }: Operation, accept = ''): string | undefined {
  if (!streams) return undefined
  const wanted = accept.split(',').map((type) => type.split(';')[0]?.trim().toLowerCase())
  return streams.find((type) => wanted.includes(type))
}

/**
 * Validates the request and finds `accountId`. If `accountId` is missing, its error is listed together with the other field
 * errors.
 */
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

function actingAccount(
  accessControl: AccessControl,
  db: Database | Transaction,
  actor: Actor,
  accountId: string | undefined,
  forWrite: boolean,
): Awaitable<ActingAccount | undefined> {
  if (accountId === undefined) return undefined
  if (accountId === actor.organizationId) refuse('organization_account_not_allowed')
  if (!wellFormedId.test(accountId) || !mayActIn(actor, accountId)) refuse('not_found')
  const found = accessControl.findAccount(db, actor.organizationId, accountId, forWrite)
  const exists = (account: ActingAccount | undefined) => account ?? refuse('not_found')
  return found instanceof Promise ? found.then(exists) : exists(found)
}

/** Sends the answers of one operation: the envelope, and what travels in headers. */
function sender(operation: Operation, publicUrl: string) {
  const address = `${publicUrl}${basePath}${operation.path}`
  const addressOf = address.includes('{')
    ? (params: OperationRequest['Params']) =>
        address.replaceAll(/\{(\w+)\}/g, (_, name: keyof typeof params) => params[name] ?? '')
    : () => address

  return (
    request: FastifyRequest<OperationRequest>,
    reply: FastifyReply,
    answer: Answer<OperationId> & { total?: number; isMore?: boolean },
    query: Record<string, unknown>,
  ): FastifyReply => {
    const statusCode = answer.already ? 200 : (operation.success ?? 200)
    reply.code(statusCode)
    if (answer.etag !== undefined) reply.header('etag', quoteEtag(answer.etag))
    if (answer.states !== undefined) reply.header('x-connection-states', String(answer.states))
    if (operation.list === 'paged') {
      const page = query as { size: number; offset: number }
      const total = answer.total ?? 0
      reply.header('x-total-count', String(total))
      reply.header('link', pageLinks(addressOf(request.params), request.query, page, total, answer.isMore))
    }
    const payload = operation.bare
      ? answer.reply
      : { statusCode, statusMessage: (answer.already && operation.already) || operation.done, response: answer.reply }
    return Object.isFrozen(answer.reply) ? sendLasting(reply, answer.reply, payload) : reply.send(payload)
  }
}
