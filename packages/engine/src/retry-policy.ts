/** How long a transient error is retried. */
export type RetryPolicy = {
  /** The wait after the first of several consecutive failures, in milliseconds. Each further failure doubles it. */
  readonly firstMs: number
  readonly mostMs: number
  /** Without a batch confirmed for so long, the error is final. */
  readonly totalMs: number
}
