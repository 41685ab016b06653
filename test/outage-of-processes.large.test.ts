import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { readConfig } from '../packages/server/src/config.ts'
import { openDatabase } from '../packages/server/src/db/database.ts'
import { createLogger } from '../packages/server/src/log.ts'
import { runnerOptions } from '../packages/server/src/runners/options.ts'
import { createRunnerPool } from '../packages/server/src/runners/runner-pool.ts'
import { generateMasterKey, parseMasterKey } from '../packages/server/src/secrets/seal.ts'
import { startWorker } from '../packages/server/src/worker/worker.ts'
import { createTestDatabase, holdLock } from './harness/database.ts'
import { type HttpCall, http, prepareStage, type Served, tokenOf } from './harness/process.ts'
import { startProxy } from './harness/proxy.ts'
import { bounded, until } from './harness/until.ts'

/** Effects of a database outage on background work, and on the process as a whole. */

const backWithinMs = 60_000
const endWithinMs = 60_000

/** A database that the service under test reaches by a way that can be obstructed, and the test by another. */
async function prepare(t: TestContext) {
  // Whatever fails, what was opened by then is closed, in the reverse order.
  const opened = new AsyncDisposableStack()
  t.after(() => opened.disposeAsync())
  const testDatabase = await createTestDatabase()
  opened.defer(testDatabase.drop)
  const direct = openDatabase({ url: testDatabase.url, poolSize: 3 })
  opened.defer(direct.close)
  const proxy = await startProxy(testDatabase.url)
  opened.defer(proxy.close)
  const { pool } = direct
  /** Adds a key that a purge removes. */
  const addKey = async (name: string) => {
    await pool.query(
      `insert into organizations (id, name, owner_id, owner_email) values ('org', 'Any', 'owner', 'a@b.c')
       on conflict do nothing`,
    )
    await pool.query(
      `insert into idempotency_keys (organization_id, key, request_digest, answer, created_time)
       values ('org', $1, '\\x00', '{}', now() - interval '25 hours')`,
      [name],
    )
  }
  return {
    url: testDatabase.url,
    proxy,
    pool,
    addKey,
    /** Adds such a key, and makes the purge due. */
    addWork: async (name: string) => {
      await addKey(name)
      await pool.query(`update purges set next_time = now()`)
    },
    keys: async () => (await pool.query('select from idempotency_keys')).rows.length,
    /** Purges that are due or active. */
    purges: async () =>
      (await pool.query(`select from purges where to_char(next_time at time zone 'utc', 'HH24:MI:SS') <> '03:15:00'`))
        .rows.length,
  }
}

describe('a worker', { concurrency: 3 }, () => {
  for (const way of ['closed', 'reset', 'silent'] as const) {
    test(`(${way}) continues once the database is back`, async (t) => {
      const { proxy, addWork, keys, purges } = await prepare(t)
      let warnings = 0
      const countWarnings = { write: () => void warnings++ }
      const masterKey = parseMasterKey(generateMasterKey())
      assert(masterKey)
      const config = readConfig({})
      const log = createLogger('warn', countWarnings)
      const runners = createRunnerPool({ ...runnerOptions(config), spare: false }, log)
      t.after(runners.close)
      const worker = await startWorker(config, { databaseUrl: proxy.url, masterKey, runners }, log)
      t.after(() => bounded('the end of the worker', worker.stop(), endWithinMs))
      await addWork('before')
      await until('it is done', async () => (await keys()) + (await purges()) === 0)

      await proxy.set(way)
      await addWork('meanwhile')
      await until('it meets the outage', () => warnings > 0, backWithinMs)
      assert.equal(await keys(), 1)
      await proxy.set('open')
      await until('it is done after all', async () => (await keys()) === 0, backWithinMs)
      await until('that is stored', async () => (await purges()) === 0)
    })
  }
})

describe('a service whose database goes away', { concurrency: 4 }, () => {
  const serveBehind = async (t: TestContext) => {
    const prepared = await prepare(t)
    const stage = await prepareStage(t)
    const credentials = { clientId: 'given-client', clientSecret: 'given-secret-of-some-length' }
    const env = {
      DATABASE_URL: prepared.proxy.url,
      PENSTOCK_MASTER_KEY: generateMasterKey(),
      PENSTOCK_CLIENT_ID: credentials.clientId,
      PENSTOCK_CLIENT_SECRET: credentials.clientSecret,
    }
    const served = await stage.serve({ env })
    return { ...prepared, served, token: await tokenOf(served, stage.dataDirectory, credentials) }
  }

  /** A task failed, and is tried again. */
  const meetsOutage = (served: Served) =>
    until('it meets the outage', () => /failed; retrying|reconnecting/.test(served.said.stderr), backWithinMs)

  const endsOnRequest = async (served: Served) => {
    served.signal('SIGTERM')
    const { code, stderr } = await bounded('the end', served.ended, endWithinMs)
    assert.equal(code, 0, stderr)
  }

  for (const way of ['closed', 'reset', 'silent'] as const) {
    test(`(${way}) in the middle of a purge does that again, and the next, and ends well`, async (t) => {
      const { url, proxy, pool, served, addKey, addWork, keys, purges } = await serveBehind(t)
      // The purge waits for a lock that the test holds, so it is active when its session breaks.
      {
        await using _ = await holdLock(url, 'lock table idempotency_keys in access exclusive mode')
        await pool.query(`update purges set next_time = now()`)
        const waiting = () =>
          pool.query<{ pid: number }>(
            `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
          )
        await until('it waits for the lock', async () => (await waiting()).rows.length > 0)
        await proxy.set(way)
        await meetsOutage(served)
        // The first attempt, which the server still runs, must not pass for the purge done again.
        for (const { pid } of (await waiting()).rows) await pool.query('select pg_terminate_backend($1)', [pid])
        await until('the first try is over', async () => (await waiting()).rows.length === 0)
      }
      await addKey('cut')
      assert.equal(await purges(), 1)
      await proxy.set('open')
      await until('it is done again', async () => (await keys()) + (await purges()) === 0, backWithinMs)
      await addWork('afterwards')
      await until('the next one is done', async () => (await keys()) + (await purges()) === 0, backWithinMs)
      assert(!served.hasEnded, served.said.stderr)
      await endsOnRequest(served)
    })
  }

  for (const way of ['closed', 'silent'] as const) {
    test(`(${way}) ends at a signal, without waiting for it to come back`, async (t) => {
      const { proxy, served, token } = await serveBehind(t)
      await Promise.all(Array.from({ length: 10 }, () => http(served.url, '/accounts', { token })))
      await proxy.set(way)
      await endsOnRequest(served)
    })
  }

  test('ends at a signal while it tries to connect again', async (t) => {
    const { proxy, served } = await serveBehind(t)
    await proxy.set('closed')
    await meetsOutage(served)
    await endsOnRequest(served)
  })

  test('because PostgreSQL itself crashes, answers requests or says so, and soon all is well', async (t) => {
    const stage = await prepareStage(t)
    const served = await stage.serve()
    const token = await tokenOf(served, stage.dataDirectory)
    const statuses = new Set<number>()
    const ask = async (call: HttpCall = {}) => {
      const { status } = await http(served.url, '/accounts', { token, ...call })
      statuses.add(status)
      return status
    }
    let isOver = false
    const callers = [1, 2, 3, 4].map(async (count) => {
      while (!isOver) await ask(count % 2 === 0 ? {} : { method: 'POST', body: { name: 'New' } })
    })
    try {
      for (const _ of [1, 2]) {
        const { pid } = await until('PostgreSQL runs', () => stage.postmaster())
        statuses.delete(503)
        process.kill(pid, 'SIGKILL')
        await until('requests meet the outage', () => statuses.has(503))
        await until('another one runs', async () => ((await stage.postmaster())?.pid ?? pid) !== pid)
        await until('requests are served', async () => (await ask()) === 200)
      }
    } finally {
      isOver = true
    }
    await Promise.all(callers)
    const errors = served.said.stderr.split('\n').filter((line) => /"(?:level|severity)":(?:50|"error")/.test(line))
    assert.deepEqual([...statuses].sort(), [200, 201, 503], errors.join('\n'))
    await endsOnRequest(served)
  })
})
