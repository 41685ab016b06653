import { actionOf, type ConnectorErrorCode, type ErrorAction, type Role } from '@penstock/wire/rules'

export type { ConnectorErrorCode, ErrorAction } from '@penstock/wire/rules'

export type ConnectorErrorOptions = ErrorOptions & {
  /** How long the platform asks to wait before another try, in milliseconds. */
  readonly afterMs?: number | undefined
  /** The side of the connection that it happened at. The engine sets it, not the connector. */
  readonly side?: Role | null
}

/**
 * What a connector throws, and nothing else; anything else is taken for a defect, tried again a few times and then fails the
 * transfer. Its code is one of the table in `@penstock/wire`, and says what the engine does next.
 */
export class ConnectorError extends Error {
  override readonly name = 'ConnectorError'
  readonly code: ConnectorErrorCode
  /** How long the platform asks to wait before another try, in milliseconds. */
  readonly afterMs: number | undefined
  /** The side of the connection that it happened at; `null` where it is of neither, or not known yet. */
  readonly side: Role | null

  /**
   * @param message says what happened and what to do next; it never holds a secret, a whole answer of a platform,
   *   or a value of a row
   */
  constructor(
    code: ConnectorErrorCode,
    message: string,
    { afterMs, side = null, ...cause }: ConnectorErrorOptions = {},
  ) {
    super(message, cause)
    this.code = code
    this.afterMs = afterMs
    this.side = side
  }

  /** What follows from it. */
  get action(): ErrorAction {
    return actionOf(this.code)
  }

  /** The same error with another message or side. */
  with({ message = this.message, side = this.side }: { message?: string; side?: Role | null }): ConnectorError {
    const cause = this.cause === undefined ? {} : { cause: this.cause }
    return new ConnectorError(this.code, message, { ...cause, afterMs: this.afterMs, side })
  }

  /** Whether the same call can succeed later. */
  get isTransient(): boolean {
    return this.action === 'retry' || this.action === 'reconnect'
  }
}

/** What a promise of a connector was rejected with, as a connector error; `undefined` for a defect. */
export const asConnectorError = (error: unknown): ConnectorError | undefined =>
  error instanceof ConnectorError ? error : undefined
