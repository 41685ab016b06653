import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { ConfigError, readConfig } from '../packages/server/src/config.ts'
import { type CollectedSpan, type Collector, startCollector } from './harness/collector.ts'
import { connectorBySlug } from './harness/fixtures.ts'
import { freePort, http, prepareStage, type Served, type Stage, tokenOf } from './harness/process.ts'
import { until } from './harness/until.ts'

/** Traces and metrics by the standard settings of OpenTelemetry: a real service, and a collector that reads OTLP. */

const canary = 'canary-otel-4711'
/** More than one batch. */
const rows = 250_000

type Running = {
  readonly stage: Stage
  readonly served: Served
  readonly token: string
  readonly folder: string
  call<T>(path: string, body?: unknown, options?: { method?: string; headers?: Record<string, string> }): Promise<T>
}

async function start(t: TestContext, env: Record<string, string>): Promise<Running> {
  const stage = await prepareStage(t)
  const folder = join(stage.base, 'files')
  await mkdir(folder)
  const lines = Array.from({ length: rows }, (_, i) => `${canary}-${i}`)
  await writeFile(join(folder, 'people.csv'), `name\n${lines.join('\n')}\n`)
  const served = await stage.serve({
    env: { PENSTOCK_LOCAL_FOLDERS: folder, OTEL_BSP_SCHEDULE_DELAY: '100', OTEL_METRIC_EXPORT_INTERVAL: '300', ...env },
  })
  const token = await tokenOf(served, stage.dataDirectory)
  return {
    stage,
    served,
    token,
    folder,
    call: async <T>(path: string, body?: unknown, options: object = {}) => {
      const reply = await http(served.url, path, {
        token,
        ...(body === undefined ? {} : { method: 'POST', body }),
        ...options,
      })
      assert(reply.status < 300, reply.text)
      return reply.response as T
    },
  }
}

/** Transfers the file, and returns the final status. */
async function moveFile({ call, folder }: Running, headers: Record<string, string> = {}) {
  const { id: accountId } = await call<{ id: string }>('/accounts', { name: 'Traced' })
  const { id: connector } = connectorBySlug('local-folder')
  const of = `accountId=${accountId}`
  await call(`/connectors?${of}`, { connectorIds: [connector] })
  await call(`/connectors/${connector}/configuration?${of}`, { secretConfig: { folder } }, { method: 'PUT' })
  const { id } = await call<{ id: string }>(`/connections?${of}`, {
    name: 'People',
    srcConnectorId: connector,
    destConnectorId: connector,
    srcConnectionConfig: { files: 'people.csv' },
    destConnectionConfig: { subfolder: 'out' },
  })
  await call(`/connections/${id}/status?${of}`, { action: 'activate' }, { method: 'PUT' })
  const { id: transferId } = await call<{ id: string }>(`/connections/${id}/transfers?${of}`, {}, { headers })
  const transfer = await until('the transfer has ended', async () => {
    const found = await call<{ status: string; finishedTime: number | null; records: { read: number } }>(
      `/connections/${id}/transfers/${transferId}?${of}`,
    )
    return found.finishedTime === null ? undefined : found
  })
  assert.deepEqual([transfer.status, transfer.records.read], ['succeeded', rows])
  return { transferId, connectionId: id }
}

const settingsFor = ({ url }: Collector) => ({ OTEL_EXPORTER_OTLP_ENDPOINT: url })

describe('OpenTelemetry', { concurrency: 2 }, () => {
  test('one trace leads from the request that starts a transfer to each of its batches', async (t) => {
    const collector = await startCollector()
    t.after(collector.close)
    const running = await start(t, {
      ...settingsFor(collector),
      OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=abc',
      OTEL_SERVICE_NAME: 'penstock-test',
    })
    const [traceId, callerSpan] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331']
    const { transferId, connectionId } = await moveFile(running, { traceparent: `00-${traceId}-${callerSpan}-01` })
    const spans = await until('the trace is complete', () => {
      const found = collector.spans.filter((span) => span.traceId === traceId)
      return found.some(({ name }) => name === 'transfer attempt') ? found : undefined
    })
    const named = (name: string) => spans.filter((span) => span.name === name)
    const one = (name: string): CollectedSpan => {
      const [span, ...more] = named(name)
      assert(span && more.length === 0, `${name}: ${spans.map((each) => each.name)}`)
      return span
    }
    const request = one('POST /es/v2/connections/:id/transfers')
    assert.deepEqual([request.parentSpanId, request.kind, request.service], [callerSpan, 2, 'penstock-test'])
    assert.deepEqual(
      [request.attributes['penstock.operation'], request.attributes['http.response.status_code']],
      ['startTransfer', 202],
    )
    const attempt = one('transfer attempt')
    assert.deepEqual([attempt.parentSpanId, one('transfer queued').parentSpanId], [request.spanId, request.spanId])
    assert.deepEqual(
      ['id', 'records.read', 'source'].map(
        (key) => attempt.attributes[`penstock.${key === 'id' ? 'transfer.id' : key}`],
      ),
      [transferId, rows, 'local-folder'],
    )
    assert.equal(attempt.attributes['penstock.connection.id'], connectionId)
    const runner = one('transfer runner')
    assert.equal(runner.parentSpanId, attempt.spanId)
    const batches = named('transfer batch')
    assert(batches.length > 1, `${batches.length} batches`)
    for (const batch of batches) {
      assert.equal(batch.parentSpanId, runner.spanId)
      assert(batch.startNs >= runner.startNs && batch.endNs <= runner.endNs && batch.endNs > batch.startNs)
    }
    const read = batches.reduce((sum, { attributes }) => sum + Number(attributes['penstock.records.read'] ?? 0), 0)
    assert.equal(read, rows)
    assert.equal(batches.at(-1)?.attributes['penstock.confirmed'], true)
    assert.equal(spans.filter(({ failed }) => failed).length, 0)

    for (const said of ['"operation":"startTransfer"', 'transfer claimed', 'transfer ended']) {
      await until(`the log has ${said} in the trace`, () => {
        const lines = running.served.said.stderr.split('\n')
        return lines.some((line) => line.includes(said) && line.includes(`"trace_id":"${traceId}"`))
      })
    }
    assert(collector.headers.every((headers) => headers['x-collector-key'] === 'abc'))

    // Metrics are collected at any time, also between the last batch and the end.
    await until('the metrics of the transfer have come', () => {
      const has = (name: string, labels: Record<string, unknown>, expected: number) =>
        collector.metrics
          .get(name)
          ?.points.some(
            ({ attributes, value }) =>
              value === expected && Object.entries(labels).every(([label, of]) => attributes[label] === of),
          )
      return (
        has('penstock_records_total', { class: 'read' }, rows) &&
        has('penstock_transfers_ended_total', { status: 'succeeded' }, 1)
      )
    })
    const durations = collector.metrics.get('http.server.request.duration')?.points
    assert(durations?.some(({ attributes, value }) => attributes.operation === 'startTransfer' && value === 1))

    // Requests without a trace begin one, and an invalid traceparent is ignored.
    const sent = collector.spans.length
    await running.call('/accounts', undefined, { headers: { traceparent: `00-${'0'.repeat(32)}-${callerSpan}-01` } })
    running.served.signal('SIGTERM')
    assert.equal((await running.served.ended).code, 0)
    const last = collector.spans.slice(sent).find(({ name }) => name === 'GET /es/v2/accounts')
    assert(last && last.parentSpanId === '' && /[^0]/.test(last.traceId), 'what is left is sent at the end')

    // The lines of the log are sent too, each in the span that it belongs to.
    const records = (body: string, span: CollectedSpan) =>
      collector.records.filter((record) => record.body === body && record.spanId === span.spanId)
    assert.deepEqual(
      records('request', request).map(({ traceId, severity, attributes }) => [traceId, severity, attributes.operation]),
      [[traceId, 'info', 'startTransfer']],
    )
    for (const body of ['transfer claimed', 'transfer ended']) {
      assert.deepEqual(
        records(body, attempt).map(({ attributes }) => attributes.transferId),
        [transferId],
      )
    }

    for (const { path, body } of collector.received) {
      const text = body.toString('latin1')
      // A warning of the start names the folder, which is a setting of the operator.
      for (const secret of [canary, running.token, 'select ', ...(path === '/v1/logs' ? [] : [running.folder])]) {
        assert(!text.includes(secret), `${path} has ${secret}`)
      }
    }
  })

  for (const [what, answer] of [
    ['is away', undefined],
    ['takes and never answers', () => {}],
  ] as const) {
    test(`a collector that ${what} delays neither a request, a transfer nor the end`, async (t) => {
      const collector = answer ? await startCollector(answer) : undefined
      if (collector) t.after(collector.close)
      const url = collector?.url ?? `http://127.0.0.1:${await freePort()}`
      const running = await start(t, { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_EXPORTER_OTLP_TIMEOUT: '60000' })
      await moveFile(running)
      for (let i = 0; i < 50; i++) await running.call('/accounts')
      const begun = performance.now()
      running.served.signal('SIGTERM')
      assert.equal((await running.served.ended).code, 0)
      const tookMs = performance.now() - begun
      assert(tookMs < 20_000, `the end took ${tookMs} ms`)
    })
  }
})

test('nothing is exported, and nothing loaded, unless the settings ask for it', () => {
  const off = { traces: false, metrics: false, logs: false }
  for (const [env, expected] of [
    [{}, off],
    [{ OTEL_SERVICE_NAME: 'x' }, off],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318' }, { traces: true, metrics: true, logs: true }],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318', OTEL_SDK_DISABLED: 'true' }, off],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318', OTEL_METRICS_EXPORTER: 'none' },
      { traces: true, metrics: false, logs: true },
    ],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://c:4318/v1/traces' }, { ...off, traces: true }],
    [{ OTEL_TRACES_EXPORTER: 'otlp' }, { ...off, traces: true }],
    [{ OTEL_LOGS_EXPORTER: 'otlp' }, { ...off, logs: true }],
  ] as const) {
    assert.deepEqual(readConfig(env).telemetry, expected, JSON.stringify(env))
  }
  for (const env of [
    { OTEL_TRACES_EXPORTER: 'zipkin' },
    { OTEL_TRACES_EXPORTER: 'otlp', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
  ]) {
    assert.throws(() => readConfig(env), ConfigError)
  }
})
