import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { createTestDatabase } from './harness/database.ts'
import { freePort, prepareStage } from './harness/process.ts'
import { withSession } from './harness/session.ts'
import { localFolder, postgresql, startFixture } from './harness/transfers.ts'
import { until } from './harness/until.ts'

/** `/healthz`, `/readyz` and `/metrics` of `penstock worker`. */

/** The samples of a scrape, by name and labels. */
const read = (text: string): Readonly<Record<string, number>> =>
  Object.fromEntries([...text.matchAll(/^([a-z]\S*) (\S+)$/gm)].map(([, name = '', value]) => [name, Number(value)]))

test('a worker process reports what it claimed, moved and runs, and is not ready once a newer version works', async (t) => {
  const fixture = await startFixture()
  t.after(fixture.close)
  const { folder, service } = fixture
  const stage = await prepareStage(t)
  const port = await freePort()
  const masterKey = service.config.masterKey?.key.export().toString('base64') ?? ''
  const worker = stage.start('penstock', ['worker'], {
    env: {
      DATABASE_URL: service.databaseUrl,
      PENSTOCK_MASTER_KEY: masterKey,
      PENSTOCK_LOCAL_FOLDERS: folder,
      PENSTOCK_EGRESS: 'any',
      PENSTOCK_WORKER_PORT: String(port),
      PENSTOCK_TRANSFERS: '3',
    },
  })
  const ask = (path: string, method = 'GET') => fetch(`http://127.0.0.1:${port}${path}`, { method })
  const metrics = async () => read(await (await ask('/metrics')).text())
  await until('the worker is ready', () =>
    worker.hasEnded
      ? assert.fail(worker.said.stderr)
      : ask('/readyz').then(
          ({ ok }) => ok,
          () => false,
        ),
  )
  const begun = await metrics()
  assert.equal(begun.penstock_worker_claims_total, 0)
  assert.equal(begun.penstock_worker_slots, 3)
  assert.equal(begun.penstock_worker_outdated, 0)
  assert.equal(begun.penstock_database_up, 1)
  assert((begun.penstock_worker_heartbeat_age_seconds ?? Number.NaN) < 20)

  await writeFile(join(folder, 'rows.csv'), 'id,name\n1,a\n2,b\n3,c\n')
  await fixture.target.query('create table rows (id integer, name text)')
  const connection = await fixture.connect(localFolder, { files: 'rows.csv' }, postgresql, { table: 'rows' })
  const { id } = await fixture.start(connection)
  assert.equal((await fixture.ended(connection, id)).status, 'succeeded')
  await until('the worker is idle again', async () => (await metrics()).penstock_worker_running === 0)
  const ended = await metrics()
  assert.equal(ended.penstock_worker_claims_total, 1)
  for (const [name, count] of Object.entries({ read: 3, sent: 3, accepted: 3, rejected: 0 })) {
    assert.equal(ended[`penstock_worker_records_total{class="${name}"}`], count, name)
  }
  for (const name of [
    'penstock_runners_memory_bytes',
    'penstock_runner_deaths_total{reason="out_of_memory"}',
    'penstock_database_connections{pool="worker",state="idle"}',
    'nodejs_eventloop_lag_p99_seconds',
  ]) {
    assert(name in ended, `${name} of ${Object.keys(ended)}`)
  }

  const answers = await Promise.all([
    ask('/healthz'),
    ask('/unknown'),
    ask('/metrics', 'POST'),
    ask('/healthz', 'HEAD'),
  ])
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 404, 405, 200],
  )
  await withSession(service.databaseUrl, (session) =>
    session.query(`insert into penstock_migrations (name, digest) values ('9999_to_come', '')`),
  )
  const problem = await until('the worker is not ready', async () => {
    const answer = await ask('/readyz')
    return answer.status === 503 ? answer.text() : undefined
  })
  assert.match(problem, /newer version/)
  assert.equal((await ask('/healthz')).status, 200)
  assert.equal((await metrics()).penstock_worker_outdated, 1)
  worker.signal('SIGTERM')
  assert.equal((await worker.ended).code, 0)
  assert(!worker.said.stderr.includes(masterKey))
})

test('a port that is in use is named with its setting, and without the setting nothing listens', async (t) => {
  const stage = await prepareStage(t)
  const database = await createTestDatabase()
  t.after(database.drop)
  const used = Number(new URL(database.url).port)
  const env = { DATABASE_URL: database.url, PENSTOCK_MASTER_KEY: Buffer.alloc(32, 7).toString('base64') }
  const refused = await stage.penstock(['worker'], { env: { ...env, PENSTOCK_WORKER_PORT: String(used) } })
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, new RegExp(`Port ${used} on 127\\.0\\.0\\.1 is in use .*PENSTOCK_WORKER_PORT`))
  const silent = stage.start('penstock', ['worker'], { env })
  await until('it works', () => silent.said.stderr.includes('"working"'))
  assert(!silent.said.stderr.includes('health and metrics'))
  silent.signal('SIGTERM')
  await silent.ended
})
