import type { Metric, Registry } from 'prom-client'

const name = 'http_server_request_duration_seconds'
/** Buckets of the semantic conventions, and two more for answers that take about a millisecond. */
const bucketsSeconds = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
] as const
/** Node accepts more methods. A client must not be able to create a series for each of them. */
const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** The labels of a request. */
export type MeasuredRequest = {
  /** The name of the operation, or of the page, that answered. `none` if no route did. */
  readonly operation: string
  readonly method: string
  /** The path of the route with the names of its parameters. */
  readonly route: string | undefined
  readonly status: number
}

type Labels = Readonly<Record<string, string | number>>

/** Measured durations of requests with the same labels. A duration is counted in the first bucket that it fits. */
type Durations = { readonly labels: Labels; readonly buckets: number[]; count: number; sumSeconds: number }

/**
 * Registers the histogram of request durations. Returns a function that adds a duration, in seconds. Its name and labels come
 * from the semantic conventions of OpenTelemetry (`http.server.request.duration`), with the operation as an additional label.
 * The library's histogram checks and joins its labels at every measurement, which takes as long as the log line.
 * @param scheme scheme of the public address, since a proxy ends TLS
 */
export function createDurations(
  registry: Registry,
  scheme: 'http' | 'https',
): (request: MeasuredRequest, seconds: number) => void {
  const byRequest = new Map<string, Durations>()
  const metric = {
    name,
    get: async () => ({
      name,
      type: 'histogram',
      aggregator: 'sum',
      help: 'Time from the first byte of a request to the last of its answer',
      values: [...byRequest.values()].flatMap(samplesOf),
    }),
  }
  // A registry needs only this part of a metric to write it.
  registry.registerMetric(metric as unknown as Metric)
  return (request, seconds) => {
    const method = knownMethods.has(request.method) ? request.method : '_OTHER'
    const key = `${request.status} ${method} ${request.operation} ${request.route}`
    let durations = byRequest.get(key)
    if (!durations) {
      durations = {
        labels: { ...labelsOf({ ...request, method }), url_scheme: scheme },
        buckets: bucketsSeconds.map(() => 0),
        count: 0,
        sumSeconds: 0,
      }
      byRequest.set(key, durations)
    }
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

/** Labels of the semantic conventions of HTTP. `error.type` is set only for server errors. */
const labelsOf = ({ operation, method, route, status }: MeasuredRequest): Labels => ({
  http_request_method: method,
  ...(route === undefined ? {} : { http_route: route }),
  http_response_status_code: status,
  ...(status >= 500 ? { error_type: String(status) } : {}),
  operation,
})

/** As Prometheus has it: each bucket counts all that is not longer. */
function samplesOf({ labels, buckets, count, sumSeconds }: Durations) {
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
