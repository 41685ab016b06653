import type { Logger } from '../log.ts'
import type { TelemetrySettings } from '../otel-settings.ts'

/** Traces and metrics for a collector. What is here loads nothing: a process that exports nothing pays nothing. */

export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>

/** A part of a trace. It never holds a secret, a value of a row or a parameter of a statement: names, identifiers and counts alone. */
export type TraceSpan = {
  /** What a child of it, here or in another process, names as its parent: W3C traceparent. */
  readonly traceparent: string
  readonly traceId: string
  set(attributes: SpanAttributes): void
  event(name: string, attributes?: SpanAttributes): void
  /** @param failure the code of what went wrong; undefined: nothing did */
  end(failure?: string): void
}

export type SpanStart = {
  /** W3C traceparent; a trace of its own begins where there is none that is valid. */
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
  /** Undefined where no traces are exported. */
  readonly startSpan: ((name: string, start?: SpanStart) => TraceSpan) | undefined
  /** Exports these metrics, which are read at each export, where metrics are exported. */
  exportMetrics(read: () => Promise<readonly RegisteredMetric[]>): void
  /** Sends what is left, for a few seconds at most. */
  close(): Promise<void>
}

/** Opens what the settings ask for; undefined where they ask for nothing. */
export async function openTelemetry(settings: TelemetrySettings, log: Logger): Promise<Telemetry | undefined> {
  if (!settings.traces && !settings.metrics) return undefined
  return (await import('./opentelemetry.ts')).createTelemetry(settings, log)
}
