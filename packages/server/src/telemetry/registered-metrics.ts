import { type Attributes, type HrTime, ValueType } from '@opentelemetry/api'
import type { Resource } from '@opentelemetry/resources'
import { AggregationTemporality, DataPointType, type MetricData, type MetricProducer } from '@opentelemetry/sdk-metrics'
import type { RegisteredMetric } from './telemetry.ts'

type Sample = RegisteredMetric['values'][number]

/**
 * Metrics of the semantic conventions have the conventions' names in OpenTelemetry, and Prometheus names at `/metrics`. All
 * other metrics have the same name in both.
 */
const conventionalNames: Readonly<Record<string, string>> = {
  http_server_request_duration_seconds: 'http.server.request.duration',
}
const conventionalLabels: Readonly<Record<string, string>> = {
  http_request_method: 'http.request.method',
  http_route: 'http.route',
  http_response_status_code: 'http.response.status_code',
  error_type: 'error.type',
  url_scheme: 'url.scheme',
}

const started: HrTime = hrTimeOf(Date.now())

/** Exports the metrics of `/metrics` to OpenTelemetry under their names, so that each metric is defined in one place. */
export function createMetricProducer(
  resource: Resource,
  read: () => Promise<readonly RegisteredMetric[]>,
): MetricProducer {
  return {
    collect: async () => {
      const endTime = hrTimeOf(Date.now())
      const metrics = (await read()).flatMap((metric) => convert(metric, endTime) ?? [])
      return { resourceMetrics: { resource, scopeMetrics: [{ scope: { name: 'penstock' }, metrics }] }, errors: [] }
    },
  }
}

function convert({ name, help, type, values }: RegisteredMetric, endTime: HrTime): MetricData | undefined {
  const base = {
    descriptor: {
      name: conventionalNames[name] ?? name,
      description: help,
      unit: name.includes('_seconds') ? 's' : '',
      valueType: ValueType.DOUBLE,
    },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  }
  const point = <T>(labels: Sample['labels'], value: T) => ({
    startTime: started,
    endTime,
    attributes: attributesOf(labels),
    value,
  })
  const dataPoints = () =>
    values.filter(({ value }) => Number.isFinite(value)).map(({ labels, value }) => point(labels, value))
  switch (type) {
    case 'counter':
      return { ...base, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints: dataPoints() }
    case 'gauge':
      return { ...base, dataPointType: DataPointType.GAUGE, dataPoints: dataPoints() }
    case 'histogram':
      return {
        ...base,
        dataPointType: DataPointType.HISTOGRAM,
        dataPoints: [...bySeries(values).values()].map((series) => point(labelsOf(series), histogramOf(series))),
      }
    default:
      return undefined
  }
}

function bySeries(values: readonly Sample[]): Map<string, Sample[]> {
  return Map.groupBy(values, (sample) => JSON.stringify(Object.entries(labelsOf([sample])).sort()))
}

function labelsOf([sample]: readonly Sample[]): Sample['labels'] {
  const { le: _, ...labels } = sample?.labels ?? {}
  return labels
}

/** A Prometheus bucket counts all values up to its bound. An OpenTelemetry bucket counts only the values inside it. */
function histogramOf(series: readonly Sample[]) {
  const ending = (end: string) => series.filter(({ metricName = '' }) => metricName.endsWith(end))
  const buckets = ending('_bucket').sort((a, b) => boundOf(a) - boundOf(b))
  return {
    buckets: {
      boundaries: buckets.map(boundOf).filter(Number.isFinite),
      counts: buckets.map(({ value }, i) => value - (buckets[i - 1]?.value ?? 0)),
    },
    sum: ending('_sum')[0]?.value ?? 0,
    count: ending('_count')[0]?.value ?? 0,
  }
}

const boundOf = ({ labels: { le } }: Sample): number => (le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le))

const attributesOf = (labels: Sample['labels']): Attributes =>
  Object.fromEntries(
    Object.entries(labels).flatMap(([key, value]) =>
      value === undefined ? [] : [[conventionalLabels[key] ?? key, value]],
    ),
  )

function hrTimeOf(ms: number): HrTime {
  return [Math.floor(ms / 1000), (ms % 1000) * 1_000_000]
}
