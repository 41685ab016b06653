import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Histogram, Registry } from 'prom-client'
import { createDurations } from './durations.ts'

test('durations are written as the histogram of the library writes them', async () => {
  const [ours, theirs] = [new Registry(), new Registry()]
  const observe = createDurations(ours, 'https')
  const histogram = new Histogram({
    name: 'http_server_request_duration_seconds',
    help: 'Time from the first byte of a request to the last of its answer',
    labelNames: [
      'http_request_method',
      'http_route',
      'http_response_status_code',
      'error_type',
      'operation',
      'url_scheme',
    ],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10],
    registers: [theirs],
  })
  assert.equal(await ours.metrics(), await theirs.metrics())
  const get = { method: 'GET', labels: { http_request_method: 'GET' } }
  const connectors = { operation: 'listConnectors', route: '/es/v2/connectors' }
  for (const { method, labels, operation, route, status } of [
    { ...get, ...connectors, status: 200 },
    { ...get, ...connectors, status: 404 },
    { ...get, ...connectors, status: 503 },
    { method: 'HEAD', labels: { http_request_method: 'HEAD' }, ...connectors, status: 200 },
    { method: 'PROPFIND', labels: { http_request_method: '_OTHER' }, operation: 'none', route: undefined, status: 404 },
  ]) {
    for (const seconds of [0, 0.0004, 0.001, 0.0011, 0.3, 10, 10.5, 77]) {
      observe({ operation, method, route, status }, seconds)
      histogram.observe(
        {
          ...labels,
          ...(route ? { http_route: route } : {}),
          http_response_status_code: status,
          ...(status === 503 ? { error_type: '503' } : {}),
          operation,
          url_scheme: 'https',
        },
        seconds,
      )
    }
  }
  const lines = (text: string) => text.replaceAll(/\{(.*)\}/g, (_, labels: string) => labels.split(',').sort().join())
  assert.equal(lines(await ours.metrics()), lines(await theirs.metrics()))
})

test('methods of which no route knows share one series', async () => {
  const registry = new Registry()
  const observe = createDurations(registry, 'http')
  for (const method of ['PROPFIND', 'MKCOL', 'LOCK']) {
    observe({ operation: 'none', method, route: undefined, status: 404 }, 1)
  }
  const counts = (await registry.metrics()).split('\n').filter((line) => /_count\{.*\} /.test(line))
  assert.deepEqual(counts, [
    'http_server_request_duration_seconds_count{http_request_method="_OTHER",http_response_status_code="404",operation="none",url_scheme="http"} 3',
  ])
})
