import { actionOf, type ConnectorErrorCode, type ErrorAction, type Role } from '@penstock/wire/rules'

export type { ConnectorErrorCode, ErrorAction } from '@penstock/wire/rules'

export type ConnectorErrorOptions = ErrorOptions & {
  /** How long the platform asks to wait before another try, in milliseconds. */
  readonly afterMs?: number | undefined
  /** The side of the connection at which it happened. The engine sets it, not the connector. */
  readonly side?: Role | null
  /** A value with which the error would not have happened, for a person to confirm. */
  readonly suggestion?: Suggestion | undefined
}

/** A value for a field of the configuration, such as the fingerprint of the key that a server showed. Never a secret. */
export type Suggestion = { readonly field: string; readonly value: string }

/**
 * The only error that a connector throws. Any other error is treated as a defect: it is retried a few times, and then fails the
 * transfer. The code comes from the table in `@penstock/wire`, and determines the next action of the engine.
 */
export class ConnectorError extends Error {
  override readonly name = 'ConnectorError'
  readonly code: ConnectorErrorCode
  /** How long the platform asks to wait before another try, in milliseconds. */
  readonly afterMs: number | undefined
  /** The side of the connection that the error belongs to; `null` if it belongs to neither side, or the side is not known yet. */
  readonly side: Role | null
  readonly suggestion: Suggestion | undefined

  /**
   * @param message what happened and what to do next; never contains a secret, a whole answer of a platform, or a value of a row
   */
  constructor(
    code: ConnectorErrorCode,
    message: string,
    { afterMs, side = null, suggestion, ...cause }: ConnectorErrorOptions = {},
  ) {
    super(message, cause)
    this.code = code
    this.afterMs = afterMs
    this.side = side
    this.suggestion = suggestion
  }

  get action(): ErrorAction {
    return actionOf(this.code)
  }

  /** The same error with another message or side. */
  with({ message = this.message, side = this.side }: { message?: string; side?: Role | null }): ConnectorError {
    const cause = this.cause === undefined ? {} : { cause: this.cause }
    return new ConnectorError(this.code, message, {
      ...cause,
      afterMs: this.afterMs,
      side,
      suggestion: this.suggestion,
    })
  }

  /** Whether the same call can succeed later. */
  get isTransient(): boolean {
    return this.action === 'retry' || this.action === 'reconnect'
  }
}

/** The rejection of a connector's promise, as a connector error; `undefined` for a defect. */
export const asConnectorError = (error: unknown): ConnectorError | undefined =>
  error instanceof ConnectorError ? error : undefined
