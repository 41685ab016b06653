import type { ErrorCode } from './errors.ts'
import type { Scope } from './scopes.ts'
import type { TSchema } from './type.ts'

/** An operation in the contract. */

/** Path prefix of every operation (specification, section 9). */
export const basePath = '/es/v2'

/** The scope in which an operation works. It decides which credentials and parameters the operation needs. */
export type ActsIn =
  /** No token is required: the token operation itself. */
  | 'public'
  /** A token is required. The organization is the one of the token. */
  | 'organization'
  /** A token and `accountId`, a sub-account of the organization. */
  | 'account'
  /** A token is required. `accountId`, if present, limits the answer to a sub-account. */
  | 'organization or account'

export type Operation = {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  path: string
  tag:
    | 'Token'
    | 'Accounts'
    | 'Connectors'
    | 'Connections'
    | 'Transfers'
    | 'Reports'
    | 'Clients'
    | 'Connect links'
    | 'Users'
    | 'Webhooks'
    | 'Audit'
    | 'Alerts'
    | 'Streams'
    | 'Uploads'
  summary: string
  /** Details for the documentation that the summary omits: one to three sentences. */
  description: string
  actsIn: ActsIn
  /** Required scope. Operations that affect only the caller require no scope. */
  scope?: Scope
  /** Only a person can call it: client credentials and session tokens are refused. */
  person?: true
  /** Only owners can call it, and client credentials that are limited to neither scopes nor sub-accounts. */
  unlimited?: true
  /** The page of a connect link can call it too, for the connectors of the link. */
  onConnectPage?: true
  /** Also for the session of a person who must register a passkey before anything else. */
  beforeSecondFactor?: true
  /** Query parameters other than `accountId`. */
  query?: Record<string, TSchema>
  /** Exactly one of these query parameters is required. */
  exactlyOne?: readonly string[]
  body?: TSchema
  /** The body is a file: its bytes as they are, received before the transaction of the operation begins. */
  file?: true
  /** The payload, or one entry of it if `list` is set. */
  reply: TSchema
  /** The answer is an array of `reply`. Paged lists include X-Total-Count and Link. */
  list?: 'whole' | 'paged'
  /** The payload travels without the envelope. */
  bare?: true
  /** It changes nothing, despite its method: it calls a platform, and needs no transaction. */
  reads?: true
  /** Its handler begins its own transaction, after slow work. */
  ownTransaction?: true
  /** Its response contains a secret, which is not kept for a repetition, so it accepts no `Idempotency-Key`. */
  unrepeatable?: true
  /** 200 by default. */
  success?: 200 | 201 | 202
  /**
   * The response is 200 if nothing new was started because the work is already active. This is then the envelope's
   * `statusMessage`.
   */
  already?: string
  /** Further media types in which the whole list is streamed, selected by `Accept`. */
  streams?: readonly string[]
  /** The envelope's `statusMessage` on success. */
  done: string
  /** The answer includes `X-Connection-States`: the number of connections whose state belongs to these settings, or is reset. */
  states?: true
  /** The answer includes an ETag, or the request can include If-Match. */
  concurrency?: 'etag' | 'if-match'
  /** Refusals in addition to the refusals of every operation with its shape. */
  refusals?: readonly ErrorCode[]
  /**
   * Values of the documentation's example of the payload, or of an entry of it, that differ from the schemas' examples.
   */
  shows?: Readonly<Record<string, unknown>>
}

/** Keeps the literal types of a definition, so that types can be derived from it. `operations.ts` has its method and path. */
export const operation = <const O extends Omit<Operation, 'method' | 'path'>>(definition: O): O => definition
