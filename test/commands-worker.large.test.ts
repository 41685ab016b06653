import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { numbersOf } from '../packages/server/src/transfers/supervisor/versions.ts'
import { createTestDatabase } from './harness/database.ts'
import { type Program, prepareStage } from './harness/process.ts'
import { withSession } from './harness/session.ts'
import { localFolder, postgresql } from './harness/transfers.ts'
import { bounded, until } from './harness/until.ts'
import { startProcessFixture } from './harness/worker-processes.ts'

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

/** Removed rows, from the log lines. */
const purged = ({ said }: Program) =>
  [...said.stderr.matchAll(/"purged":(\{[^}]*\})/g)].map(([, counts = '']) => JSON.parse(counts))

const removable = `
  with o as (insert into organizations (id, name, owner_id, owner_email) values ('o', 'O', 'p', 'o@example.com') returning id),
  c as (insert into clients (id, organization_id, secret_digest) select 'c', id, '' from o returning id)
  insert into tokens (digest, client_id, expires_time)
  select sha256(n::text::bytea), id, now() + n * interval '1 hour' from c, generate_series(-2, 2) n where n <> 0`

/** A role that can use the database and has one connection, which the test occupies. Then no connection is left. */
async function prepareFull(t: TestContext, url: string) {
  const role = `full_${randomBytes(6).toString('hex')}`
  await withSession(url, async (session) => {
    await session.query(`create role ${role} login password 'full' connection limit 1`)
    await session.query(`grant ${new URL(url).username} to ${role}`)
  })
  t.after(() => withSession(new URL('/postgres', url).href, (session) => session.query(`drop role ${role}`)))
  const own = Object.assign(new URL(url), { username: role, password: 'full' }).href
  const taken = Promise.withResolvers<void>()
  const freed = Promise.withResolvers<void>()
  const holding = withSession(own, async () => {
    taken.resolve()
    await freed.promise
  })
  await taken.promise
  return {
    url: own,
    free: async () => {
      await withSession(url, (session) => session.query(`alter role ${role} connection limit 50`))
      freed.resolve()
      await holding
    },
  }
}

describe('where the database has no connection left', { concurrency: 2 }, () => {
  test('a worker says so, waits, and begins once there is one', async (t) => {
    const { stage, env } = await prepare(t)
    const full = await prepareFull(t, env.DATABASE_URL)
    const worker = stage.start('penstock', ['worker'], { env: { ...env, DATABASE_URL: full.url } })
    await until('it says so', () => worker.hasEnded || worker.said.stderr.includes('has no connection left'))
    assert.equal(worker.hasEnded, false, worker.said.stderr)
    await full.free()
    await isWorking(worker)
    worker.signal('SIGTERM')
    assert.equal((await bounded('the end', worker.ended, endMs)).code, 0, worker.said.stderr)
  })

  for (const command of ['worker', 'serve']) {
    test(`${command} ends at a signal while it waits`, async (t) => {
      const { stage, env } = await prepare(t)
      const full = await prepareFull(t, env.DATABASE_URL)
      const program = stage.start('penstock', [command], {
        env: { ...env, DATABASE_URL: full.url, PENSTOCK_PORT: '0' },
      })
      await until('it says so', () => program.hasEnded || program.said.stderr.includes('has no connection left'))
      program.signal('SIGTERM')
      const { code, stderr } = await bounded('the end', program.ended, endMs)
      assert.equal(code, 0, stderr)
      await full.free()
    })
  }
})

const newer: Readonly<Record<string, readonly [statement: string, says: RegExp]>> = {
  'has worked on': [
    `insert into worker_versions (version, number) values ('99.1.0', '{99,1,0,1}')`,
    /Penstock 99\.1\.0 has worked on this database, and this is \d/,
  ],
  'has migrated': [
    `insert into penstock_migrations (name, digest) values ('9999_newer', '')`,
    /A newer version of Penstock has migrated this database/,
  ],
}

describe('on a database that a newer version', { concurrency: 2 }, () => {
  for (const [what, [statement, says]] of Object.entries(newer)) {
    test(`${what}, a worker does not start, and says why`, async (t) => {
      const { sql, startWorker } = await prepare(t)
      await sql(statement)
      const { code, stderr } = await bounded('the end', startWorker().ended, endMs)
      assert.equal(code, 1, stderr)
      assert.match(stderr, says)
      assert.match(stderr, /restore the backup from before the upgrade/)
    })

    test(`${what} meanwhile, a worker claims nothing more, and says so`, async (t) => {
      const { service, folder, target, spawnWorker, connect, start, ended } = await startProcessFixture(t)
      const sql = async (text: string) => (await service.database.pool.query(text)).rows
      await writeFile(join(folder, 'people.csv'), 'id,name\n1,Ada\n')
      await target.query('create table people (id text, name text)')
      const connect1 = () => connect(localFolder, { files: 'people.csv' }, postgresql, { table: 'people' })
      const [before, after] = [await connect1(), await connect1()]
      const worker = spawnWorker()
      assert.equal((await ended(before, (await start(before)).id)).status, 'succeeded')
      await sql(statement)
      const { id } = await start(after)
      await until('it says so', () => says.test(worker.said.stderr))
      assert.match(worker.said.stderr, /finishes the transfers that it runs, and starts nothing more/)
      assert.deepEqual(await sql(`select status, attempt from transfers where id = '${id}'`), [
        { status: 'queued', attempt: 0 },
      ])
      // One of the newer version, which this one would be.
      await sql(`delete from worker_versions where number > '{98}'`)
      await sql(`delete from penstock_migrations where name = '9999_newer'`)
      spawnWorker()
      assert.equal((await ended(after, id)).status, 'succeeded')
      assert.equal(worker.hasEnded, false, 'it is left for its operator to stop')
      worker.signal('SIGTERM')
      assert.equal((await bounded('the end', worker.ended, endMs)).code, 0)
    })
  }

  test('is one of a greater number', () => {
    const versions = ['0.1.0-alpha.2', '0.1.0-alpha.10', '0.1.0', '0.1.1-rc.1', '0.1.1', '0.2.0', '0.10.0', '1.0.0']
    const weight = (version: string) =>
      numbersOf(version)
        .map((number) => String(number).padStart(3, '0'))
        .join()
    assert.deepEqual(
      versions.toSorted((a, b) => (weight(a) < weight(b) ? -1 : 1)),
      versions,
    )
  })
})

/** Makes the daily purge due. */
const due = `update purges set next_time = now()`

describe('a worker', { concurrency: 2 }, () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    test(`stopped by ${signal} and its echoes, ends the purge with the rows at hand, says so in its log alone, and ends well`, async (t) => {
      const { env, sql, startWorker } = await prepare(t)
      await sql(removable)
      const worker = startWorker()
      await isWorking(worker)
      await withSession(env.DATABASE_URL, async (session) => {
        await session.query('begin')
        await session.query('select from tokens for update')
        await sql(due)
        await until('the purge is at work', async () => {
          const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
          return (await sql(waiting)).length === 1
        })
        // A process that forwards a signal repeats it. These signals are far enough apart to arrive one by one.
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
      assert.deepEqual(
        await sql('select next_time <= now() as due from purges'),
        [{ due: true }],
        'another one continues',
      )
    })
  }

  test('makes up at its start for a day that was missed, and for no day before it', async (t) => {
    const { sql, startWorker } = await prepare(t)
    const first = startWorker()
    await isWorking(first)
    first.signal('SIGTERM')
    assert.equal((await bounded('the end', first.ended, endMs)).code, 0)
    assert.deepEqual(purged(first), [], 'nothing was missed before')

    await sql(`update purges set next_time = now() - interval '7 days'`)
    const second = startWorker()
    await until('it is made up for', () => purged(second).length === 1)
    const [next] = await sql(
      `select to_char(next_time at time zone 'utc', 'HH24:MI') as at from purges where next_time > now()`,
    )
    assert.equal(next?.at, '03:15')
    second.signal('SIGTERM')
    assert.equal((await bounded('the end', second.ended, endMs)).code, 0)
    assert.equal(purged(second).length, 1)
  })

  test('of two on one database, one purges; the other continues after the first was killed', async (t) => {
    const { sql, startWorker } = await prepare(t)
    await sql(removable)
    const workers = [startWorker(), startWorker()] as const
    await Promise.all(workers.map(isWorking))
    await sql(due)
    await until('it is done', () => workers.some((worker) => purged(worker).length > 0))
    await until('it is not due', async () => (await sql('select from purges where next_time > now()')).length === 1)
    assert.equal(workers.flatMap(purged).length, 1)
    const [killed, other] = workers
    killed.signal('SIGKILL')
    await killed.ended
    const before = purged(other).length
    await sql(due)
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
