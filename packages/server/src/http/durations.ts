import type { Metric, Registry } from 'prom-client'

const name = 'penstock_http_request_duration_seconds'
const bucketsSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const

/** Measured durations of one operation and status. A duration is counted in the first bucket that it fits. */
type Durations = { readonly buckets: number[]; count: number; sumSeconds: number }

/**
 * Registers the histogram of the duration of requests, and returns what adds to it. The histogram of the library checks and
 * joins its labels at every measurement, which takes as long as the log line.
 */
export function createDurations(registry: Registry): (operation: string, status: number, seconds: number) => void {
  const byOperation = new Map<string, Map<number, Durations>>()
  const add = (operation: string, status: number): Durations => {
    const byStatus = byOperation.get(operation) ?? new Map<number, Durations>()
    const durations = { buckets: bucketsSeconds.map(() => 0), count: 0, sumSeconds: 0 }
    byOperation.set(operation, byStatus.set(status, durations))
    return durations
  }
  const metric = {
    name,
    get: async () => ({
      name,
      type: 'histogram',
      aggregator: 'sum',
      help: 'Time from the first byte of a request to the last of its answer',
      values: [...byOperation].flatMap(([operation, byStatus]) =>
        [...byStatus].flatMap(([status, durations]) => samplesOf({ operation, status }, durations)),
      ),
    }),
  }
  // Of a metric, a registry needs no more than this to write it.
  registry.registerMetric(metric as unknown as Metric)
  return (operation, status, seconds) => {
    const durations = byOperation.get(operation)?.get(status) ?? add(operation, status)
    const { buckets } = durations
    durations.count++
    durations.sumSeconds += seconds
    for (let i = 0; i < bucketsSeconds.length; i++) {
      if (seconds > (bucketsSeconds[i] ?? 0)) continue
      buckets[i] = (buckets[i] ?? 0) + 1
      return
    }
  }
}

/** As Prometheus has it: each bucket counts all that is not longer. */
function samplesOf(labels: { operation: string; status: number }, { buckets, count, sumSeconds }: Durations) {
  let below = 0
  const samples = bucketsSeconds.map((le, i) => {
    below += buckets[i] ?? 0
    return { labels: { le, ...labels }, value: below, metricName: `${name}_bucket` }
  })
  return [
    ...samples,
    { labels: { le: '+Inf', ...labels }, value: count, metricName: `${name}_bucket` },
    { labels, value: sumSeconds, metricName: `${name}_sum` },
    { labels, value: count, metricName: `${name}_count` },
  ]
}
