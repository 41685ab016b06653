import { randomUUID } from 'node:crypto'
import type { Agent as HttpAgent } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { type Context, ROOT_CONTEXT, SpanKind, SpanStatusCode, TraceFlags, trace } from '@opentelemetry/api'
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-proto'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from '@opentelemetry/resources'
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { copyLines, type Logger } from '../log.ts'
import type { TelemetrySettings } from '../otel-settings.ts'
import { programVersion } from '../version.ts'
import { recordOf } from './log-records.ts'
import { createMetricProducer } from './registered-metrics.ts'
import { createSampler, whole } from './sampler.ts'
import type { RegisteredMetric, SpanStart, Telemetry, TraceSpan } from './telemetry.ts'

/** How long the end of a process waits for its collector. */
const closeMs = 3_000
const metricIntervalMsDefault = 60_000

const version = programVersion()
const kinds = { server: SpanKind.SERVER, consumer: SpanKind.CONSUMER, internal: SpanKind.INTERNAL } as const

/**
 * Exports by OTLP over HTTP, in the background and in batches. The queue is bounded, and data beyond the bound is
 * dropped, so a slow or unavailable collector delays nothing.
 */
export function createTelemetry(settings: TelemetrySettings, log: Logger): Telemetry {
  const resource = createResource()
  const { env } = process
  const ending = new AbortController()
  const abandon = ending.signal
  const httpAgentOptions = createAgents(abandon)
  const tracers = settings.traces
    ? new TracerProvider({
        resource,
        sampler: createSampler(env),
        spanProcessors: [
          new BatchSpanProcessor({
            exporter: reporting(new OTLPTraceExporter({ httpAgentOptions }), {
              signal: 'traces',
              log,
              abandon,
            }),
            ...readBatching(env, 'BSP'),
          }),
        ],
      })
    : undefined
  const tracer = tracers?.getTracer('penstock', version)
  let readMetrics: () => Promise<readonly RegisteredMetric[]> = async () => []
  let meters: MeterProvider | undefined
  if (settings.metrics) {
    const { interval = metricIntervalMsDefault } = whole(env, 'OTEL_METRIC_EXPORT_INTERVAL', 'interval')
    const { timeout = Math.min(30_000, interval) } = whole(env, 'OTEL_METRIC_EXPORT_TIMEOUT', 'timeout')
    const reader = new PeriodicExportingMetricReader({
      exporter: reporting(new OTLPMetricExporter({ httpAgentOptions }), {
        signal: 'metrics',
        log,
        abandon,
      }),
      exportIntervalMillis: interval,
      exportTimeoutMillis: Math.min(timeout, interval),
      metricProducers: [createMetricProducer(resource, () => readMetrics())],
    })
    meters = new MeterProvider({ resource, readers: [reader] })
  }
  let lines: LoggerProvider | undefined
  if (settings.logs) {
    const exporter = reporting(new OTLPLogExporter({ httpAgentOptions }), { signal: 'logs', log, abandon })
    lines = new LoggerProvider({
      resource,
      processors: [new BatchLogRecordProcessor({ exporter, ...readBatching(env, 'BLRP') })],
    })
    const records = lines.getLogger('penstock', version)
    copyLines(log, (line) => records.emit(recordOf(line)))
  }
  return {
    startSpan: tracer && ((name, start = {}) => spanOf(tracer, name, start)),
    exportMetrics: (read) => {
      readMetrics = read
    },
    close: async () => {
      const closed = Promise.allSettled([tracers?.shutdown(), meters?.shutdown(), lines?.shutdown()])
      const late = new AbortController()
      const waited = delay(closeMs, undefined, { signal: late.signal }).then(
        () => ending.abort(),
        () => {},
      )
      // The exporters wait for answers, which may never come.
      await Promise.race([closed, waited])
      late.abort()
    },
  }
}

/** The OpenTelemetry resource: the settings, and this process. */
function createResource(): Resource {
  const own = { 'service.name': 'penstock', 'service.version': version, 'service.instance.id': randomUUID() }
  return defaultResource()
    .merge(resourceFromAttributes(own))
    .merge(detectResources({ detectors: [envDetector] }))
}

/** How spans (BSP) and log records (BLRP) are collected, as far as the settings say. */
const readBatching = (env: NodeJS.ProcessEnv, what: 'BSP' | 'BLRP') => ({
  ...whole(env, `OTEL_${what}_SCHEDULE_DELAY`, 'scheduledDelayMillis'),
  ...whole(env, `OTEL_${what}_EXPORT_TIMEOUT`, 'exportTimeoutMillis'),
  ...whole(env, `OTEL_${what}_MAX_QUEUE_SIZE`, 'maxQueueSize'),
  ...whole(env, `OTEL_${what}_MAX_EXPORT_BATCH_SIZE`, 'maxExportBatchSize'),
})

type Tracer = ReturnType<TracerProvider['getTracer']>

function spanOf(
  tracer: Tracer,
  name: string,
  { parent, kind = 'internal', attributes, startTime }: SpanStart,
): TraceSpan {
  const options = { kind: kinds[kind], ...(attributes ? { attributes } : {}), ...(startTime ? { startTime } : {}) }
  const span = tracer.startSpan(name, options, contextOf(parent))
  const { traceId, spanId, traceFlags } = span.spanContext()
  return {
    traceId,
    spanId,
    traceparent: `00-${traceId}-${spanId}-${(traceFlags & TraceFlags.SAMPLED).toString(16).padStart(2, '0')}`,
    set: (more) => void span.setAttributes(more),
    event: (event, more = {}) => void span.addEvent(event, more),
    end: (failure) => {
      if (failure !== undefined) {
        span.setAttribute('error.type', failure)
        span.setStatus({ code: SpanStatusCode.ERROR })
      }
      span.end()
    },
  }
}

const traceparentPattern = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/

/** The parent context of a traceparent (W3C Trace Context, section 3.2). No parent if it is not valid. */
function contextOf(traceparent: string | null | undefined): Context {
  const [, traceId = '', spanId = '', flags = ''] = traceparentPattern.exec(traceparent ?? '') ?? []
  if (!/[^0]/.test(traceId) || !/[^0]/.test(spanId)) return ROOT_CONTEXT
  const traceFlags = Number.parseInt(flags, 16) & TraceFlags.SAMPLED
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true })
}

/** As OpenTelemetry numbers them. */
const ExportResultCode = { SUCCESS: 0, FAILED: 1 } as const
type Exported = { readonly code: number; readonly error?: Error }

/**
 * Wraps an exporter so that it logs when its collector begins to fail, and when it works again.
 * @param abandon aborts exports in progress, which are then treated as failed
 */
function reporting<Data, E extends { export(data: Data, done: (result: Exported) => void): void }>(
  exporter: E,
  { signal, log, abandon }: { signal: string; log: Logger; abandon: AbortSignal },
): E {
  let failing = false
  const send = exporter.export.bind(exporter)
  exporter.export = (data, done) => {
    let isDone = false
    const end = (result: Exported) => {
      if (isDone) return
      isDone = true
      abandon.removeEventListener('abort', giveUp)
      const failed = result.code !== ExportResultCode.SUCCESS
      if (failed && !failing) log.warn({ signal, err: result.error }, 'OpenTelemetry export failed; retrying')
      if (!failed && failing) log.info({ signal }, 'OpenTelemetry export works again')
      failing = failed
      done(result)
    }
    const giveUp = () => end({ code: ExportResultCode.FAILED, error: new Error('The process ends') })
    abandon.addEventListener('abort', giveUp, { once: true })
    if (abandon.aborted) return giveUp()
    send(data, end)
  }
  return exporter
}

/** Connections that do not keep the process from ending. At its end there are no further ones, so that no export is tried again. */
const createAgents =
  (abandon: AbortSignal) =>
  async (protocol: string): Promise<HttpAgent> => {
    const { Agent } = protocol === 'https:' ? await import('node:https') : await import('node:http')
    const agent: HttpAgent = new Agent()
    const connect = agent.createConnection.bind(agent)
    agent.createConnection = (options, callback) => {
      if (abandon.aborted && callback) {
        process.nextTick(callback, new Error('The process ends'))
        return undefined
      }
      const socket = connect(options, callback)
      if (socket && 'unref' in socket && typeof socket.unref === 'function') socket.unref()
      return socket
    }
    return agent
  }
