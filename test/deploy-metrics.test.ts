import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { createLogger } from '../packages/server/src/log.ts'
import { createRegistry } from '../packages/server/src/metrics/registry.ts'
import { databaseFigures } from '../packages/server/src/worker/figures.ts'
import { startWorker } from '../packages/server/src/worker/worker.ts'
import { callerOf } from './harness/fixtures.ts'
import { findProgram, skipWithout } from './harness/programs.ts'
import { startTestService } from './harness/service.ts'

/** The alert rules of Prometheus and the dashboard of Grafana fit the metrics that the service has. */

const run = promisify(execFile)
const folder = join(import.meta.dirname, '../deploy')
const read = (path: string) => readFileSync(join(folder, path), 'utf8')
const promtool = findProgram('promtool') ?? 'promtool'
const skip = skipWithout('promtool')

/** Returns the answer of `/metrics` after a request, with the metrics of a worker. */
async function scrape(): Promise<string> {
  const service = await startTestService()
  const { config, database, databaseUrl, runners } = service
  assert(config.masterKey)
  const log = createLogger('silent')
  const worker = await startWorker(config, { databaseUrl, masterKey: config.masterKey, runners }, log)
  try {
    const registry = createRegistry({
      disks: {},
      pools: worker.pools,
      figures: databaseFigures(database),
      runners: () => runners.stats(),
      worker: worker.stats,
      telemetry: undefined,
    })
    const caller = callerOf(service, await service.addOrganization())
    await caller.expect(caller.call('listAccounts', {}))
    const ofWorker = await Promise.all(
      registry
        .getMetricsAsArray()
        .map(({ name }) => name)
        .filter((name) => name.startsWith('penstock_worker_'))
        .map((name) => registry.getSingleMetricAsString(name)),
    )
    return `${(await service.send({ method: 'GET', path: '/metrics' })).text}${ofWorker.map((text) => `${text}\n`).join('')}`
  } finally {
    await worker.stop()
    await service.close()
  }
}

test('every metric of the rules and of the dashboard is one of /metrics, and they use each that warns', async (t) => {
  const text = await scrape()
  const families = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = '', type = '']) =>
    type === 'histogram' ? ['_bucket', '_sum', '_count'].map((suffix) => `${name}${suffix}`) : [name],
  )
  const known = new Set(families)
  const ours = /\b(?<!-)(?:penstock|http_server|nodejs|process)_[a-z0-9_]+\b/g
  const named = (path: string) => new Set([...read(path).matchAll(ours)].map(([name]) => name))
  const rules = named('prometheus/rules.yml')
  const dashboard = named('grafana/penstock.json')
  assert(rules.size > 12 && dashboard.size > 20, `${rules.size} and ${dashboard.size} metrics`)
  for (const names of [rules, dashboard, named('prometheus/rules.test.yml')]) {
    assert.deepEqual(
      [...names].filter((name) => !known.has(name)),
      [],
    )
  }
  const unused = families.filter(
    (name) => /^(?:penstock|http_server)_/.test(name) && !rules.has(name) && !dashboard.has(name),
  )
  assert.deepEqual(unused, ['http_server_request_duration_seconds_sum'])

  await t.test('promtool accepts the metrics', { skip }, () => {
    const { status, stdout, stderr } = spawnSync(promtool, ['check', 'metrics'], { input: text, encoding: 'utf8' })
    assert.equal(status, 0, `${stdout}${stderr}`)
    assert.equal(`${stdout}${stderr}`, '')
  })
})

test('promtool accepts the rules and the expressions of the dashboard, and the rules pass their tests', {
  skip,
}, async () => {
  await run(promtool, ['check', 'config', join(folder, 'prometheus/prometheus.yml')])
  await run(promtool, ['test', 'rules', join(folder, 'prometheus/rules.test.yml')])
  const { panels } = JSON.parse(read('grafana/penstock.json')) as { panels: { targets?: { expr: string }[] }[] }
  const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
  const rules = expressions.map((expr, i) => ({ record: `penstock:panel${i}`, expr }))
  const directory = await mkdtemp(join(tmpdir(), 'penstock-dashboard-'))
  try {
    const file = join(directory, 'rules.json')
    await writeFile(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }))
    await run(promtool, ['check', 'rules', file])
  } finally {
    await rm(directory, { recursive: true })
  }
})

test('each alert is tested, has a severity, and says what to do', () => {
  const alerts = read('prometheus/rules.yml')
    .split(/^ {6}- alert: /m)
    .slice(1)
  const tested = read('prometheus/rules.test.yml')
  for (const alert of alerts) {
    const name = /^\w+/.exec(alert)?.[0] ?? ''
    assert(tested.includes(`alertname="${name}"`), `${name} is not tested`)
    assert.match(alert, /severity: (?:critical|warning) /, name)
    assert.match(alert, /summary: '[^']{10,}'\n {10}action: '[^']{10,}'/, name)
  }
  assert(alerts.length >= 16)
})
