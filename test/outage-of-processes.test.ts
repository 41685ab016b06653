import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { openDatabase } from '../packages/server/src/db/database.ts'
import { createLogger } from '../packages/server/src/log.ts'
import { generateMasterKey } from '../packages/server/src/secrets/seal.ts'
import { startWorker } from '../packages/server/src/worker/worker.ts'
import { createTestDatabase } from './harness/database.ts'
import { http, prepareStage, tokenOf } from './harness/process.ts'
import { startProxy } from './harness/proxy.ts'
import { bounded, until } from './harness/until.ts'

/** What an outage of the database does to background jobs, and to the process as a whole. */

const backWithinMs = 120_000

/** A database that the service under test reaches by a way that can be obstructed, and the test by another. */
async function prepare(t: TestContext) {
  const testDatabase = await createTestDatabase()
  const proxy = await startProxy(testDatabase.url)
  const direct = openDatabase({ url: testDatabase.url, poolSize: 3 })
  t.after(async () => {
    await proxy.close()
    await direct.close()
    await testDatabase.drop()
  })
  const { pool } = direct
  return {
    proxy,
    pool,
    /** Adds a key that a purge removes, and a job that purges. */
    addWork: async (name: string) => {
      await pool.query(
        `insert into organizations (id, name, owner_id, owner_email) values ('org', 'Any', 'owner', 'a@b.c')
         on conflict do nothing`,
      )
      await pool.query(
        `insert into idempotency_keys (organization_id, key, request_digest, answer, created_time)
         values ('org', $1, '\\x00', '{}', now() - interval '25 hours')`,
        [name],
      )
      await pool.query(`select graphile_worker.add_job('purge')`)
    },
    keys: async () => (await pool.query('select from idempotency_keys')).rows.length,
    jobs: async () => (await pool.query('select from graphile_worker.jobs')).rows.length,
  }
}

describe('the job queue', { concurrency: 3 }, () => {
  for (const way of ['closed', 'reset'] as const) {
    test(`(${way}) goes on by itself once the database is back`, async (t) => {
      const { proxy, addWork, keys, jobs } = await prepare(t)
      let warnings = 0
      const countWarnings = { write: () => void warnings++ }
      const worker = await startWorker(proxy.url, createLogger('warn', countWarnings))
      t.after(() => bounded('the end of the worker', worker.stop(), 60_000))
      await addWork('before')
      await until('the job is done', async () => (await keys()) + (await jobs()) === 0)

      await proxy.set(way)
      await addWork('meanwhile')
      await until('the queue meets the outage', () => warnings > 0, backWithinMs)
      assert.equal(await keys(), 1)
      await proxy.set('open')
      await until('the job is done after all', async () => (await keys()) === 0, backWithinMs)
      await until('the queue knows', async () => (await jobs()) === 0)
    })
  }
})

describe('a service whose database goes away', { concurrency: 3 }, () => {
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

  for (const way of ['reset'] as const) {
    test(`(${way}) in the middle of a job lives on, serves again, and does the next job`, async (t) => {
      const { proxy, pool, served, token, addWork, keys } = await serveBehind(t)
      // The job waits for a lock of the test's, and so it is under way as its session breaks.
      const holder = await pool.connect()
      await holder.query('begin; lock table idempotency_keys in access exclusive mode')
      await pool.query(`select graphile_worker.add_job('purge')`)
      await until('the job is under way', async () => {
        const waiting = await pool.query(
          `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        )
        return waiting.rows.length > 0
      })
      await proxy.set(way)
      await until(
        'the service meets the outage',
        async () => {
          assert(!served.hasEnded, served.said.stderr)
          return (await fetch(`${served.url}/readyz`)).status === 503
        },
        60_000,
      )
      await holder.query('rollback')
      holder.release()
      await proxy.set('open')
      await until(
        'it serves again',
        async () => {
          assert(!served.hasEnded, served.said.stderr)
          return (await http(served.url, '/accounts', { token })).status === 200
        },
        backWithinMs,
      )
      await addWork('afterwards')
      await until(
        'the next job is done',
        async () => {
          assert(!served.hasEnded, served.said.stderr)
          return (await keys()) === 0
        },
        backWithinMs,
      )
    })
  }

  for (const way of ['closed', 'silent'] as const) {
    test(`(${way}) ends when it is told to, without waiting for it to come back`, async (t) => {
      const { proxy, served, token } = await serveBehind(t)
      await Promise.all(Array.from({ length: 10 }, () => http(served.url, '/accounts', { token })))
      await proxy.set(way)
      served.signal('SIGTERM')
      await bounded('the end', served.ended, 30_000)
    })
  }
})

test('when PostgreSQL itself crashes, requests are answered or told so, and soon all is well', async (t) => {
  const stage = await prepareStage(t)
  const served = await stage.serve()
  const token = await tokenOf(served, stage.dataDirectory)
  const statuses = new Set<number>()
  let isOver = false
  const callers = [1, 2, 3, 4].map(async (count) => {
    while (!isOver) {
      const call = count % 2 === 0 ? {} : { method: 'POST', body: { name: 'New' } }
      statuses.add((await http(served.url, '/accounts', { token, ...call })).status)
    }
  })
  for (const _ of [1, 2]) {
    const postmaster = await until('PostgreSQL runs', () => stage.postmaster())
    statuses.clear()
    process.kill(postmaster.pid, 'SIGKILL')
    await until('requests meet the outage', () => statuses.has(503))
    await until('another one runs', async () => ((await stage.postmaster())?.pid ?? postmaster.pid) !== postmaster.pid)
    await until('requests are served', async () => (await http(served.url, '/accounts', { token })).status === 200)
    statuses.delete(503)
    for (const status of statuses) assert([200, 201].includes(status), `${status}`)
  }
  isOver = true
  await Promise.all(callers)
  served.signal('SIGTERM')
  const { code, stderr } = await bounded('the end', served.ended, 30_000)
  assert.equal(code, 0, stderr)
})
