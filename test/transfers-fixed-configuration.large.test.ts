import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, beforeEach, describe, test } from 'node:test'
import { ConnectorError } from '@penstock/connector'
import pg from 'pg'
import { assertAccounted } from './harness/accounting.ts'
import { runnersOf } from './harness/children.ts'
import { createTestDatabase } from './harness/database.ts'
import { type Engine, numbersIn, people, startEngine, taken } from './harness/engine.ts'
import { assertInvariants } from './harness/invariants.ts'
import { queuedAgain } from './harness/standings.ts'
import { impatient } from './harness/supervision.ts'
import { type Fixture, localFolder, postgresql, postgresqlSecrets, startFixture } from './harness/transfers.ts'
import { until } from './harness/until.ts'

/** Connectors that are corrected while a transfer of them waits or retries. */

describe('a connector that is corrected while a transfer retries', () => {
  let engine: Engine
  before(async () => {
    engine = await startEngine({ retry: impatient })
  })
  after(async () => {
    await assertInvariants(engine.service.database.pool)
    await engine.close()
  })
  beforeEach(async () => {
    delete engine.sides.source
    delete engine.sides.destination
    await configure(postgresql.id, postgresqlSecrets(engine.targetUrl))
  })
  const configure = (id: string, secretConfig: Record<string, string | number>) => {
    const { caller, accountId } = engine
    return caller.expect(caller.call('configureConnector', { accountId, id, body: { secretConfig } }))
  }

  test('is used with its new server and its new secret, if nothing was confirmed', async () => {
    const before = postgresqlSecrets(engine.targetUrl)
    const opened: unknown[] = []
    const got: number[] = []
    engine.sides.source = people(25)
    engine.sides.destination = {
      open: ({ secrets: { host, password } }) => {
        opened.push([host, password])
        return {
          deliver: async (batch) => {
            if (host === 'correct.example') {
              got.push(...numbersIn(batch))
              return taken(batch)
            }
            await configure(postgresql.id, { ...before, host: 'correct.example', password: 'correct' })
            throw new ConnectorError('unreachable', 'No server answers.')
          },
        }
      },
    }
    const transfer = await engine.move(await engine.connectSides())
    assert.equal(transfer.status, 'succeeded', transfer.error?.message)
    assert.deepEqual(opened, [
      [before.host, before.password],
      ['correct.example', 'correct'],
    ])
    assert.deepEqual(
      got,
      Array.from({ length: 25 }, (_, i) => i + 1),
    )
    await assertAccounted(engine, transfer)
  })

  test('is used as it is when a waiting transfer begins', async () => {
    const connectionId = await engine.connectSides()
    const { id } = await engine.start(connectionId)
    await configure(postgresql.id, { ...postgresqlSecrets(engine.targetUrl), database: 'correct' })
    const databases: unknown[] = []
    engine.sides.destination = {
      open: ({ secrets }) => {
        databases.push(secrets.database)
        return { deliver: async (batch) => taken(batch) }
      },
    }
    await engine.work()
    assert.deepEqual([(await engine.get(connectionId, id)).status, databases], ['succeeded', ['correct']])
  })

  test('is not used once a batch was confirmed, and the error of the transfer says so', async () => {
    const users: unknown[] = []
    engine.sides.destination = {
      open: ({ secrets: { user } }) => {
        users.push(user)
        return {
          deliver: async (batch) => {
            if (numbersIn(batch).includes(1)) return taken(batch)
            await configure(postgresql.id, { ...postgresqlSecrets(engine.targetUrl), user: 'another' })
            throw new ConnectorError('rate_limited', 'Too many requests.')
          },
        }
      },
    }
    const transfer = await engine.move(await engine.connectSides())
    assert.deepEqual([transfer.status, transfer.error?.code, transfer.records.accepted], ['failed', 'rate_limited', 10])
    assert.match(
      transfer.error?.message ?? '',
      /was changed after this transfer had begun with it: start a new transfer/,
    )
    assert.deepEqual(new Set(users), new Set([postgresqlSecrets(engine.targetUrl).user]))
    await assertAccounted(engine, transfer)
  })

  test('is used as a source before a batch was announced', async () => {
    const { folder } = engine
    const folders: unknown[] = []
    engine.sides.source = async function* (context, after) {
      if (folders.push(context.secrets.folder) === 1) {
        await configure(localFolder.id, { folder: join(folder, 'correct') })
        throw new ConnectorError('unreachable', 'No server answers.')
      }
      yield* people(5)(context, after)
    }
    try {
      assert.equal((await engine.move(await engine.connectSides())).status, 'succeeded')
      assert.deepEqual(folders, [folder, join(folder, 'correct')])
    } finally {
      await configure(localFolder.id, { folder })
    }
  })

  test('is not used as a source once a batch was announced, which may have arrived', async () => {
    const { folder } = engine
    const folders: unknown[] = []
    const keys: string[] = []
    const connectionId = await engine.connectSides()
    engine.sides.source = async function* (context, after) {
      folders.push(context.secrets.folder)
      yield* people(5)(context, after)
    }
    engine.sides.destination = {
      open: () => ({
        deliver: async (batch) => {
          if (keys.push(batch.key) === 1) {
            await configure(localFolder.id, { folder: join(folder, 'another') })
            // As if this worker had slept: another one continues, and sends the same batch.
            await engine.sql(queuedAgain('connection_id = $1'), connectionId)
            await engine.work()
          }
          return taken(batch)
        },
      }),
    }
    try {
      const transfer = await engine.move(connectionId)
      assert.deepEqual([transfer.status, transfer.attempt], ['succeeded', 2])
      assert.deepEqual(folders, [folder, folder])
      assert.deepEqual([keys.length, new Set(keys).size], [2, 1])
    } finally {
      await configure(localFolder.id, { folder })
    }
  })

  test('gets a batch that may have arrived under the same key, with its new server', async () => {
    const hosts: unknown[] = []
    const keys: string[] = []
    const connectionId = await engine.connectSides()
    engine.sides.source = people(5)
    engine.sides.destination = {
      open: ({ secrets: { host } }) => ({
        deliver: async (batch) => {
          hosts.push(host)
          if (keys.push(batch.key) === 1) {
            await configure(postgresql.id, { ...postgresqlSecrets(engine.targetUrl), host: 'same.example' })
            await engine.sql(queuedAgain('connection_id = $1'), connectionId)
            await engine.work()
          }
          return taken(batch)
        },
      }),
    }
    const transfer = await engine.move(connectionId)
    assert.deepEqual([transfer.status, transfer.attempt], ['succeeded', 2])
    assert.deepEqual(hosts, [postgresqlSecrets(engine.targetUrl).host, 'same.example'])
    assert.deepEqual([keys.length, new Set(keys).size], [2, 1])
    await assertAccounted(engine, transfer)
  })
})

describe('a destination that is corrected while its runner is killed', () => {
  let fixture: Fixture
  let other: { url: string; drop: () => Promise<void> }
  let correct: pg.Pool
  before(async () => {
    fixture = await startFixture()
    other = await createTestDatabase()
    correct = new pg.Pool({ connectionString: other.url, max: 2 })
    await fixture.startWorker()
  })
  after(async () => {
    await assertInvariants(fixture.service.database.pool)
    await correct.end()
    await fixture.close()
    await other.drop()
  })

  for (const [what, rows, confirmed] of [
    ['before anything was confirmed', 400, false],
    ['after a batch was confirmed', 60_000, true],
  ] as const) {
    test(`gets every row once, or the transfer says to start again: ${what}`, async () => {
      const table = confirmed ? 'begun' : 'fresh'
      for (const pool of [fixture.target, correct]) await pool.query(`create table ${table} (number integer)`)
      const lines = Array.from({ length: rows }, (_, i) => i + 1)
      await writeFile(join(fixture.folder, `${table}.csv`), `number\n${lines.join('\n')}\n`)
      const id = await fixture.connect(localFolder, { files: `${table}.csv` }, postgresql, { table })
      const session = await fixture.target.connect()
      // Writers wait at a row, or at their first one.
      if (confirmed) {
        await session.query(`create function wait_late() returns trigger language plpgsql as $$
          begin perform pg_advisory_xact_lock_shared(77); return new; end $$`)
        await session.query(
          `create trigger late before insert on ${table} for each row when (new.number = ${rows}) execute function wait_late()`,
        )
        await session.query('select pg_advisory_lock(77)')
      } else {
        await session.query('begin')
        await session.query(`lock table ${table} in access exclusive mode`)
      }
      const { id: transferId } = await fixture.start(id)
      await until('the writer waits', async () => {
        const { rows: waiting } = await fixture.target.query('select from pg_locks where not granted')
        return waiting.length > 0
      })
      if (confirmed) {
        await until('a batch is confirmed', async () => (await fixture.get(id, transferId)).records.accepted > 0)
      }
      const { caller, accountId } = fixture
      const secretConfig = postgresqlSecrets(other.url)
      await caller.expect(caller.call('configureConnector', { accountId, id: postgresql.id, body: { secretConfig } }))
      for (const pid of runnersOf(process.pid)) process.kill(pid, 'SIGKILL')
      await session.query(confirmed ? 'select pg_advisory_unlock(77)' : 'commit')
      session.release()
      const transfer = await fixture.ended(id, transferId)
      const numbers = async (pool: pg.Pool) => (await pool.query(`select number from ${table} order by number`)).rows
      assert(transfer.attempt > 1)
      if (confirmed) {
        // The database is not where a secret goes, so that the transfer continues with the settings that it began with.
        assert.deepEqual([transfer.status, transfer.records.accepted], ['succeeded', rows], transfer.error?.message)
        assert.deepEqual([(await numbers(fixture.target)).length, (await numbers(correct)).length], [rows, 0])
      } else {
        assert.equal(transfer.status, 'succeeded', transfer.error?.message)
        assert.deepEqual(
          (await numbers(correct)).map(({ number }) => number),
          lines,
        )
        assert.equal((await numbers(fixture.target)).length, 0)
      }
      await caller.expect(
        caller.call('configureConnector', {
          accountId,
          id: postgresql.id,
          body: { secretConfig: postgresqlSecrets(fixture.targetUrl) },
        }),
      )
    })
  }
})
