/** Traces, metrics and log lines for a collector, as the modules of the service see them. */

export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>

/**
 * A part of a trace. It contains only names, identifiers and counts, never a secret, a value of a row or a parameter of a
 * statement.
 */
export type TraceSpan = {
  /** Parent of child spans, here or in another process: W3C traceparent. */
  readonly traceparent: string
  /** As 32 and 16 hexadecimal digits. */
  readonly traceId: string
  readonly spanId: string
  set(attributes: SpanAttributes): void
  event(name: string, attributes?: SpanAttributes): void
  /** @param failure the error code; undefined if nothing failed */
  end(failure?: string): void
}

export type SpanStart = {
  /** W3C traceparent. Without a valid one, a new trace begins. */
  readonly parent?: string | null | undefined
  readonly kind?: 'server' | 'consumer' | 'internal'
  readonly attributes?: SpanAttributes
  readonly startTime?: Date
}

/** A metric as the registry of `/metrics` has it. */
export type RegisteredMetric = {
  readonly name: string
  readonly help: string
  readonly type: unknown
  readonly values: readonly {
    readonly value: number
    readonly labels: Readonly<Record<string, string | number | undefined>>
    readonly metricName?: string
  }[]
}

export type Telemetry = {
  /** Undefined if no traces are exported. */
  readonly startSpan: ((name: string, start?: SpanStart) => TraceSpan) | undefined
  /** Exports these metrics, which are read at each export, where metrics are exported. */
  exportMetrics(read: () => Promise<readonly RegisteredMetric[]>): void
  /** Sends the remaining data, which takes a few seconds at most. */
  close(): Promise<void>
}
