import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createTestDatabase } from './harness/database.ts'
import { type Program, prepareStage } from './harness/process.ts'
import { withSession } from './harness/session.ts'
import { bounded, until } from './harness/until.ts'

/** `penstock worker` as a process, and how a signal ends the long-running commands. */

const endMs = 20_000

async function prepare(t: TestContext) {
  const stage = await prepareStage(t)
  const database = await createTestDatabase()
  t.after(database.drop)
  const env = { DATABASE_URL: database.url, PENSTOCK_MASTER_KEY: randomBytes(32).toString('base64') }
  const sql = (text: string, values: unknown[] = []) =>
    withSession(database.url, async (session) => (await session.query(text, values)).rows)
  return { stage, env, sql, startWorker: () => stage.start('penstock', ['worker'], { env }) }
}

const isWorking = (program: Program) =>
  until('it works', () => {
    if (program.hasEnded) assert.fail(`it ended: ${program.said.stderr}`)
    return program.said.stderr.includes('"working"')
  })

/** What the log lines say was removed. */
const purged = ({ said }: Program) =>
  [...said.stderr.matchAll(/"purged":(\{[^}]*\})/g)].map(([, counts = '']) => JSON.parse(counts))

const removable = `
  with o as (insert into organizations (id, name, owner_id, owner_email) values ('o', 'O', 'p', 'o@example.com') returning id),
  c as (insert into clients (id, organization_id, secret_digest) select 'c', id, '' from o returning id)
  insert into tokens (digest, client_id, expires_time)
  select sha256(n::text::bytea), id, now() + n * interval '1 hour' from c, generate_series(-2, 2) n where n <> 0`

describe('a worker', { concurrency: 2 }, () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    test(`stopped by ${signal} and its echoes, finishes the job of the queue, says so in its log alone, and ends well`, async (t) => {
      const { env, sql, startWorker } = await prepare(t)
      await sql(removable)
      const worker = startWorker()
      await isWorking(worker)
      await withSession(env.DATABASE_URL, async (session) => {
        await session.query('begin')
        await session.query('select from tokens for update')
        await sql(`select graphile_worker.add_job('purge')`)
        await until('the job is at work', async () => {
          const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
          return (await sql(waiting)).length === 1
        })
        // A process that forwards a signal makes an echo of it; these are far enough apart to arrive one by one.
        for (let echoes = 0; echoes < 3; echoes++) {
          assert.equal(worker.hasEnded, false)
          worker.signal(signal)
          await delay(3)
        }
        await session.query('rollback')
      })
      const { code, stdout } = await bounded('the end', worker.ended, endMs)
      assert.deepEqual([code, stdout], [0, ''])
      const [{ tokens, ...others } = {}, ...more] = purged(worker) as Record<string, number>[]
      assert.deepEqual([tokens, new Set(Object.values(others)), more], [2, new Set([0]), []])
      const [left] = await sql('select count(*)::int from tokens')
      assert.equal(left?.count, 2)
      assert.deepEqual(await sql('select locked_by, last_error from graphile_worker.jobs'), [], 'it is off the queue')
    })
  }

  test('makes up at its start for a day that was missed, and for no day before it', async (t) => {
    const { sql, startWorker } = await prepare(t)
    const first = startWorker()
    await isWorking(first)
    const known = () => sql('select from graphile_worker._private_known_crontabs')
    await until('the schedule is known', async () => (await known()).length === 1)
    first.signal('SIGTERM')
    assert.equal((await bounded('the end', first.ended, endMs)).code, 0)
    assert.deepEqual(purged(first), [], 'nothing was missed before')

    await sql(`update graphile_worker._private_known_crontabs
      set known_since = now() - interval '9 days', last_execution = now() - interval '7 days'`)
    const second = startWorker()
    await until('it is made up for', () => purged(second).length === 1)
    await until('the queue is empty', async () => (await sql('select from graphile_worker.jobs')).length === 0)
    second.signal('SIGTERM')
    assert.equal((await bounded('the end', second.ended, endMs)).code, 0)
    assert.equal(purged(second).length, 1)
  })

  test('of two on one database, one does a job; the other continues after the first was killed', async (t) => {
    const { sql, startWorker } = await prepare(t)
    await sql(removable)
    const workers = [startWorker(), startWorker()] as const
    await Promise.all(workers.map(isWorking))
    await sql(`select graphile_worker.add_job('purge')`)
    await until('the job is done', () => workers.some((worker) => purged(worker).length > 0))
    await until('the queue is empty', async () => (await sql('select from graphile_worker.jobs')).length === 0)
    assert.equal(workers.flatMap(purged).length, 1)
    const [killed, other] = workers
    killed.signal('SIGKILL')
    await killed.ended
    const before = purged(other).length
    await sql(`select graphile_worker.add_job('purge')`)
    await until('the other does it', () => purged(other).length > before)
    other.signal('SIGTERM')
    assert.equal((await bounded('the end', other.ended, endMs)).code, 0)
  })
})

test('Ctrl-C in the terminal of npm start, which npm hands on once more, ends the service and its PostgreSQL well', async (t) => {
  const stage = await prepareStage(t)
  const env = { PENSTOCK_PORT: '0', npm_config_update_notifier: 'false' }
  const program = stage.start('npm', ['start'], { terminal: true, env })
  await until('it serves', () => {
    if (program.hasEnded) assert.fail(`it ended: ${program.said.stderr}`)
    return program.said.stdout.includes('Try it')
  })
  assert(await stage.postmaster())
  program.signal('SIGINT')
  const { code, stderr } = await bounded('the end', program.ended, endMs)
  assert.equal(code, 0, stderr)
  assert.equal(await stage.postmaster(), undefined)
})
