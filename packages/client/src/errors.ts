import type { ErrorCode, FieldError, Refused, TransferError } from '@penstock/wire'

/** The service refused the request. `code` says why; `docs/errors.md` describes every code. */
export class PenstockError extends Error {
  override name = 'PenstockError'
  /** HTTP status. */
  readonly status: number
  readonly code: ErrorCode
  /** Every field error of the request, each with its field; empty if no field is at error. */
  readonly details: readonly FieldError[]
  /** With `platform_refused`: what went wrong, and at which side of the connection. */
  override readonly cause: TransferError | undefined
  /** Finds this call in the service's log. */
  readonly requestId: string
  /** Seconds to wait before the same call can succeed; undefined where waiting does not help. */
  readonly retryAfterSeconds: number | undefined

  /** @param message one plain sentence, for a person: what happened and what to do */
  constructor(status: number, message: string, refused: Refused, retryAfterSeconds: number | undefined) {
    super(message)
    this.status = status
    this.code = refused.error as ErrorCode
    this.details = refused.details
    this.cause = refused.cause
    this.requestId = refused.requestId
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/**
 * Nothing came back, or something that no Penstock says: a wrong `baseUrl`, a proxy in between, a broken network.
 * Whether a write was done is not known; `cause` holds what went wrong.
 */
export class NoAnswerError extends Error {
  override name = 'NoAnswerError'
  /** HTTP status of whatever answered; undefined if nothing did. */
  readonly status: number | undefined
  /** Seconds to wait as whatever answered has it. */
  readonly retryAfterSeconds: number | undefined

  constructor(message: string, options: { cause?: unknown; status?: number; retryAfterSeconds?: number | undefined }) {
    super(message, 'cause' in options ? { cause: options.cause } : {})
    this.status = options.status
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}
