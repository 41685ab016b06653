import type { Readable } from 'node:stream'
import type { BodyOf, HasTransferId, IsPaged, OperationId, Operations, QueryOf, ReplyOf, Scope } from '@penstock/wire'
import type { Database, Transaction } from './db/database.ts'

/** A value that is there at once, or a promise of it: most reads find what is cached, and a promise would cost each of them. */
export type Awaitable<T> = T | Promise<T>

/** What a credential grants. */
export type Grants = {
  /** Null: everything, with the scopes of later versions. */
  readonly scopes: readonly Scope[] | null
  /** The sub-accounts that it is limited to; null: all, later ones included. */
  readonly accountIds: readonly string[] | null
}

/** Who asks, and what they may do. */
export type Actor = Grants & {
  /** Client credentials, a session token that they made, or a person. */
  readonly kind: 'client' | 'session' | 'user'
  /** Of the client, the session or the person. */
  readonly id: string
  readonly name: string | null
  readonly organizationId: string
  /** The client behind the token. */
  readonly clientId?: string
}

/** The sub-account that an operation acts in; it exists, belongs to the actor's organization, and the actor may act in it. */
export type ActingAccount = { readonly id: string; readonly organizationId: string; readonly env: string }

/** What a write demands of the resource as it is now (RFC 9110, If-Match); checked by the rule, under its lock. */
export type Precondition = {
  /** Refuses with `precondition_failed` unless this is a version that the caller named. */
  check(etag: string): void
}

type ActsIn<I extends OperationId> = Operations[I]['actsIn']
type Writes<I extends OperationId> =
  ActsIn<I> extends 'public'
    ? false
    : Operations[I] extends { reads: true }
      ? false
      : Operations[I]['method'] extends 'GET'
        ? false
        : true

/** One call of an operation: authenticated, validated, coerced. */
export type Call<I extends OperationId> = {
  /** A write runs in one transaction, committed when its handler resolves; a read runs on the pool. */
  readonly db: Writes<I> extends true ? Transaction : Database
  readonly actor: ActsIn<I> extends 'public' ? undefined : Actor
  readonly account: ActsIn<I> extends 'account'
    ? ActingAccount
    : ActsIn<I> extends 'organization or account'
      ? ActingAccount | undefined
      : undefined
  /** The identifier in the path, well-formed; empty where the path has none. */
  readonly id: string
  /** The identifier of the transfer in the path, well-formed. */
  readonly transferId: HasTransferId<I> extends true ? string : undefined
  /** The media type in which the caller wants the whole list streamed, where the operation can and the caller does. */
  readonly stream: Operations[I] extends { streams: readonly (infer S)[] } ? S | undefined : undefined
  /** Aborted when the caller has gone. */
  readonly signal: AbortSignal
  readonly query: QueryOf<I>
  readonly body: BodyOf<I>
  /** What the caller demands of the resource as it is now. */
  readonly precondition: Precondition
  /** The caller's network address. */
  readonly address: string
}

/** What a handler answers: the payload, and what travels in headers. */
export type Answer<I extends OperationId> = {
  readonly reply: ReplyOf<I>
  /** The version of the resource; becomes the ETag. */
  readonly etag?: string
  /** Nothing new was started: it was active already. */
  readonly already?: boolean
  /** Sent in place of the payload, in the media type that the call named. */
  readonly body?: Readable
} & (IsPaged<I> extends true ? { readonly total: number } : unknown)

/** The rule of an operation: it gets the call and what the service gives its rules, answers or refuses. */
export type Handler<I extends OperationId, Deps> = (call: Call<I>, deps: Deps) => Promise<Answer<I>>

/** A handler for every operation, by its name in the contract. */
export type Handlers<Deps> = { readonly [I in OperationId]: Handler<I, Deps> }
