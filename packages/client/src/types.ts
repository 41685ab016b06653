import type { BodyOf, IsPaged, OperationId, Operations, QueryOf, ReplyOf } from '@penstock/wire'

/** Parameters and results of the client's methods, inferred from the contract. */

/** The names in braces in a path. */
type PathParameter<P> = P extends `${string}{${infer Name}}${infer Rest}` ? Name | PathParameter<Rest> : never

type ActsIn<I extends OperationId> = Operations[I]['actsIn']

type AccountParameter<I extends OperationId> =
  ActsIn<I> extends 'account'
    ? { accountId: string }
    : ActsIn<I> extends 'organization or account'
      ? { accountId?: string | undefined }
      : unknown

/** Every query parameter is optional, except in an operation that requires exactly one of several parameters. */
type Query<I extends OperationId> = Operations[I] extends { exactlyOne: readonly (infer N extends string)[] }
  ? Loose<Omit<QueryOf<I>, N>> & { [One in N]: { [K in One]: string } & { [K in Exclude<N, One>]?: undefined } }[N]
  : Loose<QueryOf<I>>
type Loose<T> = { [K in keyof T]?: T[K] | undefined }

type QueryParameter<I extends OperationId> = Operations[I] extends { query: unknown }
  ? Operations[I] extends { exactlyOne: unknown }
    ? { query: Query<I> }
    : { query?: Query<I> | undefined }
  : unknown

type BodyParameter<I extends OperationId> = Operations[I] extends { body: unknown } | { file: true }
  ? { body: BodyOf<I> }
  : unknown

type IfMatchParameter<I extends OperationId> = Operations[I] extends { concurrency: 'if-match' }
  ? {
      /**
       * The `etag` of an earlier result: the call is refused with `precondition_failed` if the resource changed since.
       */
      ifMatch?: string | undefined
    }
  : unknown

type IdempotencyKeyParameter<I extends OperationId> = Operations[I]['method'] extends 'POST'
  ? Operations[I] extends { actsIn: 'public' } | { reads: true } | { unrepeatable: true }
    ? unknown
    : {
        /** 1 to 255 visible ASCII characters: a call that is repeated under it within 24 hours does its work once. */
        idempotencyKey?: string | undefined
      }
  : unknown

type SignalParameter = {
  /** Aborts the call; it then rejects with the signal's reason. */
  signal?: AbortSignal | undefined
}

type Flat<T> = { [K in keyof T]: T[K] }

/** Parameters of a method: exactly the contract's, and `signal`. */
export type ParametersOf<I extends OperationId> = Flat<
  { [Name in PathParameter<Operations[I]['path']>]: string } & AccountParameter<I> &
    QueryParameter<I> &
    BodyParameter<I> &
    IfMatchParameter<I> &
    IdempotencyKeyParameter<I> &
    SignalParameter
>

/** Addresses of other pages; absent if there are no other pages. */
export type Links = {
  first?: string
  prev?: string
  next?: string
  last?: string
}

type PageResult = {
  /** Number of entries of the whole list. If `links` has no last page, there are more: a search counts at most 10,000. */
  total: number
  links: Links
}

type StatesResult = {
  /**
   * Number of connections whose state belongs to the data that these settings name. After a change: connections whose state was
   * reset.
   */
  states: number
}

type BegunResult = {
  /** Nothing new was started, because the requested work was already active. */
  already: boolean
}

/** Result of a method. */
export type ResultOf<I extends OperationId> = Flat<
  {
    /** The payload, out of its envelope. */
    reply: ReplyOf<I>
    /** The version of the resource, if the operation returns one. Send it as `ifMatch`. */
    etag: string | undefined
    /** Finds this call in the service's log. */
    requestId: string | undefined
  } & (Operations[I] extends { already: string } ? BegunResult : unknown) &
    (Operations[I] extends { states: true } ? StatesResult : unknown) &
    (IsPaged<I> extends true ? PageResult : unknown)
>

/** A method; its parameters are optional if none of them is required. */
export type Method<I extends OperationId> =
  Record<never, never> extends ParametersOf<I>
    ? (parameters?: ParametersOf<I>) => Promise<ResultOf<I>>
    : (parameters: ParametersOf<I>) => Promise<ResultOf<I>>

/** One method for each operation of the contract, under its name there. */
export type Client = { readonly [I in OperationId]: Method<I> }

/** Operations that answer pages. */
export type PagedOperationId = { [I in OperationId]: IsPaged<I> extends true ? I : never }[OperationId]

/** Operations that can stream the whole list. */
export type StreamedOperationId = {
  [I in OperationId]: Operations[I] extends { streams: readonly string[] } ? I : never
}[OperationId]
/** The media types in which an operation can stream it. */
export type StreamTypeOf<I extends StreamedOperationId> = Operations[I] extends {
  streams: readonly (infer T extends string)[]
}
  ? T
  : never

/** An entry of a list. */
export type EntryOf<I extends PagedOperationId> = ReplyOf<I> extends readonly (infer Entry)[] ? Entry : never
