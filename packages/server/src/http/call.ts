import type { Readable } from 'node:stream'
import type { BodyOf, HasTransferId, IsPaged, OperationId, Operations, QueryOf, ReplyOf } from '@penstock/wire'
import type { Database, Db, Transaction } from '../db/database.ts'
import type { Precondition } from './precondition.ts'

/** Who asks: the client behind the token, and its organization. */
export type Actor = { readonly clientId: string; readonly organizationId: string }

/** The sub-account that an operation acts in; it exists, and belongs to the actor's organization. */
export type ActingAccount = { readonly id: string; readonly organizationId: string; readonly env: string }

type ScopeOf<I extends OperationId> = Operations[I]['scope']
type Writes<I extends OperationId> =
  ScopeOf<I> extends 'public'
    ? false
    : Operations[I] extends { reads: true }
      ? false
      : Operations[I]['method'] extends 'GET'
        ? false
        : true

/** One call of an operation: authenticated, validated, coerced; what a room's `routes.ts` hands to its rule. */
export type Call<I extends OperationId> = {
  /** A write runs in one transaction, committed when its handler resolves; a read runs on the pool. */
  readonly db: Writes<I> extends true ? Transaction : Database
  readonly actor: ScopeOf<I> extends 'public' ? undefined : Actor
  readonly account: ScopeOf<I> extends 'account'
    ? ActingAccount
    : ScopeOf<I> extends 'organization or account'
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
  /** Tells one version of the resource from another; becomes the ETag. */
  readonly etag?: string
  /** Nothing new was begun: it was under way already. */
  readonly already?: boolean
  /** Sent in place of the payload, in the media type that the call named. */
  readonly body?: Readable
} & (IsPaged<I> extends true ? { readonly total: number } : unknown)

export type Handler<I extends OperationId> = (call: Call<I>) => Promise<Answer<I>>

/** The handlers of some operations, by their names in the contract. */
export type Handlers<I extends OperationId = OperationId> = { readonly [O in I]: Handler<O> }

/** How the HTTP layer finds out who asks and where; the rooms provide it. */
export type Gate = {
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
