import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Histogram, Registry } from 'prom-client'
import { createDurations } from './durations.ts'

test('durations are written as the histogram of the library writes them', async () => {
  const [ours, theirs] = [new Registry(), new Registry()]
  const observe = createDurations(ours)
  const histogram = new Histogram({
    name: 'penstock_http_request_duration_seconds',
    help: 'Time from the first byte of a request to the last of its answer',
    labelNames: ['operation', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [theirs],
  })
  assert.equal(await ours.metrics(), await theirs.metrics())
  for (const [operation, status] of [
    ['listConnectors', 200],
    ['listConnectors', 404],
    ['none', 404],
  ] as const) {
    for (const seconds of [0, 0.0004, 0.001, 0.0011, 0.3, 10, 10.5, 77]) {
      observe(operation, status, seconds)
      histogram.observe({ operation, status }, seconds)
    }
  }
  const lines = (text: string) => text.replaceAll(/\{(.*)\}/g, (_, labels: string) => labels.split(',').sort().join())
  assert.equal(lines(await ours.metrics()), lines(await theirs.metrics()))
})
