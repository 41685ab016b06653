import type { ErrorCode, FieldError, Refused, TransferError } from '@penstock/wire'

/** The service refused the request. `code` is the reason; `docs/errors.md` describes every code. */
export class PenstockError extends Error {
  override name = 'PenstockError'
  /** HTTP status. */
  readonly status: number
  readonly code: ErrorCode
  /** Every field error of the request; empty if the fields are valid. */
  readonly details: readonly FieldError[]
  /** With `platform_refused`: the error, and the side of the connection where it happened. */
  override readonly cause: TransferError | undefined
  /** Finds this call in the service's log. */
  readonly requestId: string
  /** Seconds to wait before the same call can succeed; undefined if waiting does not help. */
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
 * No answer arrived, or an answer that did not come from Penstock: the `baseUrl` is wrong, a proxy answered, or the network
 * broke. A write may or may not have been done. `cause` contains the original error.
 */
export class NoAnswerError extends Error {
  override name = 'NoAnswerError'
  /** HTTP status of the answer; undefined if there was no answer. */
  readonly status: number | undefined
  /** Seconds to wait, from the Retry-After of the answer. */
  readonly retryAfterSeconds: number | undefined

  constructor(message: string, options: { cause?: unknown; status?: number; retryAfterSeconds?: number | undefined }) {
    super(message, 'cause' in options ? { cause: options.cause } : {})
    this.status = options.status
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}
