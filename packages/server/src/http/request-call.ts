import type { FastifyReply, FastifyRequest, RouteGenericInterface } from 'fastify'
import { type ActingAccount, type Actor, type Precondition, quoteEtag } from '../call.ts'
import { csrfTokenOf } from '../csrf.ts'
import type { Database, Transaction } from '../db/database.ts'
import { refuse } from '../refusal.ts'
import { clientAddressOf } from './client-address.ts'
import type { Input } from './validate.ts'

export type OperationRequest = RouteGenericInterface & {
  Params: { id?: string; transferId?: string }
  Querystring: Record<string, unknown>
}

/** The call of a request. Properties that few operations use are computed on access. */
export class RequestCall {
  readonly #request: FastifyRequest<OperationRequest>
  readonly #reply: FastifyReply
  #signal: AbortSignal | undefined
  readonly db: Database | Transaction
  readonly actor: Actor | undefined
  readonly account: ActingAccount | undefined
  readonly id: string
  readonly transferId: string | undefined
  readonly stream: string | undefined
  readonly query: Record<string, unknown>
  readonly body: unknown

  constructor(
    request: FastifyRequest<OperationRequest>,
    reply: FastifyReply,
    db: Database | Transaction,
    account: ActingAccount | undefined,
    id: string,
    stream: string | undefined,
    { query, body }: Input,
  ) {
    this.#request = request
    this.#reply = reply
    this.db = db
    this.actor = request.actor
    this.account = account
    this.id = id
    this.transferId = request.params.transferId
    this.stream = stream
    this.query = query
    this.body = body
  }

  /** By the response, which closes before it is complete where the caller goes: the request itself closes once it was read. */
  get signal(): AbortSignal {
    this.#signal ??= signalOf(this.#reply)
    return this.#signal
  }

  get precondition(): Precondition {
    return readPrecondition(this.#request.headers['if-match'])
  }

  get address(): string {
    return clientAddressOf(this.#request)
  }

  get requestId(): string {
    return this.#request.id
  }

  get traceparent(): string | null {
    return this.#request.span?.traceparent ?? null
  }

  get userAgent(): string | null {
    return this.#request.headers['user-agent'] ?? null
  }

  get csrfToken(): string | null {
    const { sessionToken } = this.#request
    return sessionToken === undefined ? null : csrfTokenOf(sessionToken)
  }
}

function signalOf({ raw }: FastifyReply): AbortSignal {
  if (raw.destroyed && !raw.writableFinished) return AbortSignal.abort()
  const gone = new AbortController()
  raw.once('close', () => {
    if (!raw.writableFinished) gone.abort()
  })
  return gone.signal
}

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
