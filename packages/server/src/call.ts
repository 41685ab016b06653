import type { Readable } from 'node:stream'
import type {
  BodyOf,
  FieldError,
  HasTransferId,
  IsPaged,
  OperationId,
  Operations,
  QueryOf,
  ReplyOf,
  Scope,
  SignInMethod,
} from '@penstock/wire'
import type { Database, Transaction } from './db/database.ts'

/**
 * A value that is available immediately, or a promise of it. Most reads find a cached value, and a promise would cost each of
 * them.
 */
export type Awaitable<T> = T | Promise<T>

/** Permissions of a credential. */
export type Grants = {
  /** Null: everything, with the scopes of later versions. */
  readonly scopes: readonly Scope[] | null
  /** The sub-accounts that the actor is limited to. Null means all, including later ones. */
  readonly accountIds: readonly string[] | null
}

/** The caller and its permissions. */
export type Actor = Grants & {
  /** Client credentials, a session token that they made, a person, or the page of a connect link. */
  readonly kind: 'client' | 'session' | 'user' | 'link'
  /** Of the client, the session, the person or the link. */
  readonly id: string
  readonly name: string | null
  readonly organizationId: string
  /** The client behind the token. */
  readonly clientId?: string
  /** For the page of a connect link: the connectors that it can configure. */
  readonly link?: {
    readonly connectorIds: readonly string[]
    /** The configuration of each connector, in the same order. Empty means the first configuration of the connector. */
    readonly configurationIds: readonly string[]
  }
  /** For a person: how they signed in, and whether they must register a passkey before they can do anything else. */
  readonly person?: {
    readonly email: string
    readonly sessionId: string
    readonly method: SignInMethod
    readonly mustRegisterPasskey: boolean
  }
}

/**
 * The sub-account that an operation acts in. It exists, belongs to the actor's organization, and the actor has access to it.
 */
export type ActingAccount = { readonly id: string; readonly organizationId: string; readonly env: string }

/** A version as the ETag and If-Match headers have it. */
export const quoteEtag = (etag: string): string => `"${etag}"`

/** Precondition of a write (RFC 9110, If-Match). The rule checks it under its lock. */
export type Precondition = {
  /** Refuses with `precondition_failed` unless this is a version that the caller named. */
  check(etag: string): void
}

type ActsIn<I extends OperationId> = Operations[I]['actsIn']
type Writes<I extends OperationId> =
  ActsIn<I> extends 'public'
    ? false
    : Operations[I] extends { reads: true } | { ownTransaction: true }
      ? false
      : Operations[I]['method'] extends 'GET'
        ? false
        : true

/** A file that was uploaded: its content is stored already, and visible once its operation is done. */
export type ReceivedFile = {
  /** Identifier of the upload. */
  readonly id: string
  readonly sizeBytes: number
  /** SHA-256 of the content, in hexadecimal. */
  readonly digest: string
  /** Pieces in which it is stored. */
  readonly chunks: number
}

/** A file that is being received. */
export type FileInput = {
  readonly stream: AsyncIterable<Uint8Array>
  /** Its size as the request declares it; undefined if it does not. */
  readonly declaredBytes: number | undefined
}

/** Stores the content of files; implemented by the module of uploads. */
export type FileReceiver = {
  /** Bytes that one file can have. */
  readonly bytesMax: number
  /**
   * Stores a file piece by piece, and nothing of it if its stream breaks off. Refuses with `payload_too_large`, `quota_exceeded`,
   * and `invalid_request` if it is empty.
   */
  receive(account: ActingAccount, file: FileInput): Promise<ReceivedFile>
  /** Deletes the content of a file that did not become an upload. */
  discard(file: ReceivedFile): Promise<void>
}

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
  /** The identifier in the path, well-formed. Empty if the path has no identifier. */
  readonly id: string
  /** The identifier of the transfer in the path, well-formed. */
  readonly transferId: HasTransferId<I> extends true ? string : undefined
  /** The media type in which the caller wants the whole list streamed, where the operation can and the caller does. */
  readonly stream: Operations[I] extends { streams: readonly (infer S)[] } ? S | undefined : undefined
  /** Aborted when the caller has gone. */
  readonly signal: AbortSignal
  readonly query: QueryOf<I>
  readonly body: Operations[I] extends { file: true } ? ReceivedFile : BodyOf<I>
  readonly precondition: Precondition
  /** The caller's network address. */
  readonly address: string
  /** The identifier of the request, as its answer and the log name it. */
  readonly requestId: string
  /** The trace of the request as a W3C traceparent. Null if traces are not exported. */
  readonly traceparent: string | null
  /** User agent of the caller's browser. Null if the request has no user agent. */
  readonly userAgent: string | null
  /** The CSRF token of the session that the request belongs to. Null if there is no session. */
  readonly csrfToken: string | null
}

/** Content of the audit event of a change, in addition to its actor. Never a secret. */
export type Audited = {
  /**
   * The resource before the change, in the form of the reply. Only the differences from `after` are stored. If nothing differs,
   * nothing was changed. Null or omitted: the resource did not exist.
   */
  readonly before?: object | null
  /** The resource after the change, used instead of the reply. Null means that it no longer exists. */
  readonly after?: object | null
  /** Further details. With them, there is an event even if `before` and `after` are equal. */
  readonly details?: object
  /** Nothing was changed. */
  readonly unchanged?: boolean
}

/** Result of a handler: the payload, and the values for headers. */
export type Answer<I extends OperationId> = {
  readonly reply: ReplyOf<I>
  /** The version of the resource. It becomes the ETag. */
  readonly etag?: string
  /**
   * Connections whose state belongs to these settings, or, if settings were changed, whose state starts anew: their next transfers read everything.
   * Becomes X-Connection-States.
   */
  readonly states?: number
  /** Nothing new was started: it was active already. */
  readonly already?: boolean
  /** A session of a person that has begun, for the cookie. `ended` removes the cookie. */
  readonly session?: { readonly token: string; readonly maxAgeSeconds: number } | 'ended'
  /** Sent instead of the payload, in the media type that the call requested. */
  readonly body?: Readable
  /** For a write: what the audit log keeps of it, in addition to the reply or instead of it. */
  readonly audited?: Audited
  /** Of a read: it shows values of records, although its operation does not always. */
  readonly showsRecords?: boolean
  /**
   * Of a read that shows values of records: the view that it belongs to, and whose values it shows. The audit log records both
   * together once.
   */
  readonly view?: { readonly id: string; readonly of: unknown }
} & (IsPaged<I> extends true
  ? { readonly total: number /** There are more than `total`. */; readonly isMore?: boolean }
  : unknown)

/** A request, as the audit log has it. */
export type AuditedRequest = {
  readonly operationId: OperationId
  readonly actor: Actor
  /** The sub-account that it acts in. */
  readonly accountId: string | undefined
  /** The identifiers in the path. Empty or undefined if the path has no identifiers. */
  readonly id: string
  readonly transferId: string | undefined
  readonly stream: string | undefined
  readonly address: string
  readonly requestId: string
}

/** Records requests; implemented by the module of the audit log. */
export type RequestAudit = {
  /** Records a change with the transaction that makes it, unless nothing changed. */
  changed(
    tx: Transaction,
    request: AuditedRequest,
    answer: Pick<Answer<OperationId>, 'reply' | 'already'>,
    audited: Audited | undefined,
  ): void
  /** Records that the answer shows records, before it is sent. */
  revealed(request: AuditedRequest, answer: Pick<Answer<OperationId>, 'reply' | 'view'>): Promise<void>
  /** Records that the actor is not allowed to make the request. Never waits. */
  refused(request: AuditedRequest, fieldErrors: readonly FieldError[]): void
}

/**
 * The rule of an operation. It gets the call and the dependencies that the service passes to its rules, and answers or refuses.
 */
export type Handler<I extends OperationId, Deps> = (call: Call<I>, deps: Deps) => Promise<Answer<I>>

/** A handler for every operation, by its name in the contract. */
export type Handlers<Deps> = { readonly [I in OperationId]: Handler<I, Deps> }
