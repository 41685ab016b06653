import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { runnersOf } from './harness/children.ts'
import { holdLock } from './harness/database.ts'
import { startHoldingProxy } from './harness/holding-proxy.ts'
import { assertInTable, countFit, createPeopleTable, fitsFile, fitsTable, writePeople } from './harness/people.ts'
import { http, type Program, prepareStage } from './harness/process.ts'
import { startProxy } from './harness/proxy.ts'
import { localFolder, postgresql, postgresqlSecrets } from './harness/transfers.ts'
import { until } from './harness/until.ts'
import { type ProcessFixture, startProcessFixture } from './harness/worker-processes.ts'

/**
 * Processes that stop without ending, in the middle of a transaction: asleep (SIGSTOP), or on a machine that falls silent
 * without closing its connections. Anyone who needs what they hold waits for a bounded time, and they learn that they lost.
 */

const rows = 3_000
/** Far more than the heartbeat timeout of 2 seconds, far less than a claim that never comes. */
const soonMs = 45_000

/** How a worker stops, and wakes up again. */
const freezes = {
  asleep: {
    async prepare(_t: TestContext, fixture: ProcessFixture) {
      const worker = fixture.spawnWorker()
      return {
        worker,
        freeze: async () => worker.signal('SIGSTOP'),
        wake: async () => worker.signal('SIGCONT'),
      }
    },
  },
  silent: {
    async prepare(t: TestContext, fixture: ProcessFixture) {
      const proxy = await startProxy(fixture.service.databaseUrl)
      t.after(proxy.close)
      const worker = fixture.spawnWorker({ DATABASE_URL: proxy.url })
      return { worker, freeze: () => proxy.set('silent'), wake: () => proxy.set('open') }
    },
  },
}

/** A connection that brings people into a table, in which some of them are not taken. */
async function connectPeople(fixture: ProcessFixture, table: string): Promise<string> {
  await writePeople(join(fixture.folder, `${table}.csv`), rows)
  await createPeopleTable(fixture.target, table, true)
  const settings = { table, writeMode: 'Upsert', keyColumns: 'id' }
  return fixture.connect(localFolder, { files: `${table}.csv` }, postgresql, settings)
}

/** Fails unless every person that fits is in the table, once, and the transfer accounts for the others. */
async function assertPeople(fixture: ProcessFixture, table: string, connectionId: string, transferId: string) {
  const transfer = await fixture.ended(connectionId, transferId)
  const fit = countFit(rows, fitsTable)
  const records = { read: rows, sent: countFit(rows, fitsFile), accepted: fit, rejected: rows - fit }
  assert.deepEqual([transfer.status, transfer.error, transfer.records], ['partial', null, records])
  await assertInTable(fixture.target, table, rows)
}

/**
 * Makes a statement of a process wait for a lock that the test holds, stops the process, and releases the lock: the statement
 * ends, and no one sends the next one.
 * @param lock takes the lock
 * @param statement a part of the text of the statement that must wait
 */
async function freezeAt(
  { service }: ProcessFixture,
  { lock, statement, begin }: { lock: string; statement: string; begin: () => Promise<{ freeze(): Promise<void> }> },
): Promise<void> {
  await using _ = await holdLock(service.databaseUrl, lock)
  const { freeze } = await begin()
  await until(`it waits in "${statement}"`, async () => {
    const { rows } = await service.database.pool.query(
      `select from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock' and query like $1`,
      [`%${statement}%`],
    )
    return rows.length > 0
  })
  await freeze()
}

const countStale = async ({ service }: ProcessFixture): Promise<number> => {
  const { rows } = await service.database.pool.query(
    `select from transfer_parts where status = 'running' and heartbeat_time < now() - interval '4 seconds'`,
  )
  return rows.length
}

/** Waits until the process knows that the transfer is no longer its own. */
const learns = (worker: Program) =>
  until('it knows', () => /transfer lost to another worker|could not continue/.test(worker.said.stderr), soonMs)

describe('a worker that stops', { concurrency: 2 }, () => {
  for (const [how, { prepare }] of Object.entries(freezes)) {
    test(`(${how}) in a claim keeps no other worker from claiming`, async (t) => {
      const fixture = await startProcessFixture(t)
      const first = await connectPeople(fixture, 'first')
      const second = await connectPeople(fixture, 'second')
      const { id: firstId } = await fixture.start(first)
      let wake = async () => {}
      await freezeAt(fixture, {
        lock: `select from transfers where id = '${firstId}' for update`,
        // The server shows 1,024 bytes of a statement.
        statement: 'from active_transfers where running and not divided',
        begin: async () => {
          const frozen = await prepare(t, fixture)
          wake = frozen.wake
          return frozen
        },
      })
      fixture.spawnWorker()
      const { id: secondId } = await fixture.start(second)
      const claimed = async (id: string) => (await fixture.standing(id)).attempt > 0
      await until('another transfer is claimed', () => claimed(secondId), soonMs)
      await assertPeople(fixture, 'second', second, secondId)
      await assertPeople(fixture, 'first', first, firstId)
      assert((await fixture.standing(firstId)).attempt <= 2)
      await wake()
      assert.equal((await fixture.standing(secondId)).attempt, 1)
    })

    test(`(${how}) while it stores rejected records holds up no other transfer, and no change of the connection`, async (t) => {
      const fixture = await startProcessFixture(t)
      const first = await connectPeople(fixture, 'first')
      const second = await connectPeople(fixture, 'second')
      let frozen: Awaited<ReturnType<typeof prepare>> | undefined
      const { id: firstId } = await fixture.start(first)
      await freezeAt(fixture, {
        lock: `select from accounts where id = '${fixture.accountId}' for update`,
        statement: 'with account as',
        begin: async () => {
          frozen = await prepare(t, fixture)
          return frozen
        },
      })
      fixture.spawnWorker()
      const body = { cron: '0 6 1 1 *' }
      const { accountId, caller } = fixture
      const { status } = await caller.call('setSchedule', { accountId, id: first, body })
      assert.equal(status, 200)
      const { id: secondId } = await fixture.start(second)
      await assertPeople(fixture, 'second', second, secondId)
      assert.equal((await fixture.standing(secondId)).attempt, 1)
      await assertPeople(fixture, 'first', first, firstId)
      assert.equal((await fixture.standing(firstId)).attempt, 2)
      await frozen?.wake()
      if (frozen) await learns(frozen.worker)
      await assertPeople(fixture, 'first', first, firstId)
    })
  }

  // The first statement needs the key of the connection, and the second one all of its row.
  const atItsConnection = {
    'stores what the state of a connection describes': { lock: 'update', statement: 'connection_states' },
    'writes down how a transfer ended': { lock: 'no key update', statement: 'connections' },
  }
  for (const [work, { lock, statement }] of Object.entries(atItsConnection)) {
    test(`while it ${work} leaves that to another`, async (t) => {
      const fixture = await startProcessFixture(t)
      const settings = { table: 'nowhere.at_all', writeMode: 'Insert' }
      await writeFile(join(fixture.folder, 'one.csv'), 'id\n1\n')
      const connectionId = await fixture.connect(localFolder, { files: 'one.csv' }, postgresql, settings)
      const { id } = await fixture.start(connectionId)
      let sleeper: Program | undefined
      await freezeAt(fixture, {
        lock: `select from connections where id = '${connectionId}' for ${lock}`,
        statement,
        begin: async () => {
          const worker = fixture.spawnWorker()
          sleeper = worker
          return { freeze: async () => worker.signal('SIGSTOP') }
        },
      })
      const { accountId, caller } = fixture
      const renamed = await caller.call('updateConnection', { accountId, id: connectionId, body: { name: 'Renamed' } })
      assert.equal(renamed.status, 200)
      fixture.spawnWorker()
      const { status } = await fixture.ended(connectionId, id)
      assert.deepEqual([status, (await fixture.standing(id)).attempt], ['failed', 2])
      sleeper?.signal('SIGCONT')
      if (sleeper) await learns(sleeper)
      assert.equal((await fixture.standing(id)).attempt, 2)
    })
  }

  test('while it starts what is due leaves that to another', async (t) => {
    const fixture = await startProcessFixture(t)
    const connectionId = await connectPeople(fixture, 'first')
    const { accountId, caller, service } = fixture
    const body = { cron: '0 6 1 1 *' }
    await caller.expect(caller.call('setSchedule', { accountId, id: connectionId, body }))
    await service.database.pool.query(`update schedules set next_time = now()`)
    let sleeper: Program | undefined
    await freezeAt(fixture, {
      lock: 'lock table transfers in share mode',
      statement: 'insert into transfers',
      begin: async () => {
        const worker = fixture.spawnWorker()
        sleeper = worker
        return { freeze: async () => worker.signal('SIGSTOP') }
      },
    })
    fixture.spawnWorker()
    const { id } = await until('it is started', async () => {
      const { rows } = await service.database.pool.query<{ id: string }>('select id from transfers')
      return rows[0]
    })
    await assertPeople(fixture, 'first', connectionId, id)
    sleeper?.signal('SIGCONT')
    await until('it knows', () => sleeper?.said.stderr.includes('starting due schedules failed'), soonMs)
    const { rows: started } = await service.database.pool.query('select attempt from transfers')
    assert.deepEqual(started, [{ attempt: 1 }])
  })

  test('for a short time while it starts what is due starts it once', async (t) => {
    const fixture = await startProcessFixture(t, { PENSTOCK_HEARTBEAT_TIMEOUT_SECONDS: '8' })
    const connectionId = await connectPeople(fixture, 'first')
    const { accountId, caller, service } = fixture
    const body = { cron: '0 6 1 1 *' }
    await caller.expect(caller.call('setSchedule', { accountId, id: connectionId, body }))
    await service.database.pool.query(`update schedules set next_time = now()`)
    let sleeper: Program | undefined
    await freezeAt(fixture, {
      lock: 'lock table transfers in share mode',
      statement: 'insert into transfers',
      begin: async () => {
        const worker = fixture.spawnWorker()
        sleeper = worker
        return { freeze: async () => worker.signal('SIGSTOP') }
      },
    })
    sleeper?.signal('SIGCONT')
    const started = async () => (await service.database.pool.query('select id, attempt from transfers')).rows
    const [first] = await until('it is started', async () => ((await started()).length > 0 ? started() : undefined))
    await assertPeople(fixture, 'first', connectionId, first.id)
    assert.deepEqual(await started(), [{ id: first.id, attempt: 1 }])
  })
})

test('an API process that stops in a change of a schedule holds its connection only for a while, and then says 503', async (t) => {
  const masterKey = Buffer.alloc(32, 7).toString('base64')
  const fixture = await startProcessFixture(t, { PENSTOCK_MASTER_KEY: masterKey })
  const { accountId, caller, service, token } = fixture
  const id = await connectPeople(fixture, 'first')
  const stage = await prepareStage(t)
  const served = await stage.serve({
    env: {
      DATABASE_URL: service.databaseUrl,
      PENSTOCK_MASTER_KEY: masterKey,
      PENSTOCK_WORKER: '0',
      PENSTOCK_HEARTBEAT_TIMEOUT_SECONDS: '2',
    },
  })
  const put = (cron: string) =>
    http(served.url, `/connections/${id}/schedule?accountId=${accountId}`, { method: 'PUT', token, body: { cron } })
  assert.equal((await put('0 5 * * *')).status, 200)
  let answered: ReturnType<typeof put> | undefined
  await freezeAt(fixture, {
    lock: `select from schedules where connection_id = '${id}' for update`,
    statement: 'schedules',
    begin: async () => {
      answered = put('0 6 * * *')
      answered.catch(() => {})
      return { freeze: async () => served.signal('SIGSTOP') }
    },
  })
  const other = await caller.call('setSchedule', { accountId, id, body: { cron: '0 7 * * *' } })
  assert.equal(other.status, 200)
  served.signal('SIGCONT')
  const answer = await answered
  assert.deepEqual([answer?.status, answer?.error], [503, 'unavailable'])
  const { cron } = await caller.expect(caller.call('getSchedule', { accountId, id }))
  assert.equal(cron, '0 7 * * *')
  assert.equal((await put('0 8 * * *')).status, 200)
})

describe('a live worker', () => {
  /** Has a batch of each table wait for the test, so that its transfer runs. */
  async function holdTables({ target }: ProcessFixture, tables: readonly string[]) {
    const holder = await target.connect()
    await holder.query(`begin; lock table ${tables.join(', ')} in access exclusive mode`)
    return async () => {
      await holder.query('rollback')
      holder.release()
    }
  }

  test('that slept alone keeps its transfer', async (t) => {
    const fixture = await startProcessFixture(t)
    const connectionId = await connectPeople(fixture, 'first')
    const { id } = await fixture.start(connectionId)
    const release = await holdTables(fixture, ['first'])
    const worker = fixture.spawnWorker()
    await fixture.claimed(id, 0)
    await until('it works', () => fixture.target.totalCount > 0)
    worker.signal('SIGSTOP')
    await until('its heartbeat is late', async () => (await countStale(fixture)) === 1)
    worker.signal('SIGCONT')
    await until('it sends heartbeats', async () => (await countStale(fixture)) === 0)
    await release()
    await assertPeople(fixture, 'first', connectionId, id)
    assert.equal((await fixture.standing(id)).attempt, 1, worker.said.stderr)
  })

  test('keeps its transfers where all slept, as on a machine that was paused', async (t) => {
    const fixture = await startProcessFixture(t, { PENSTOCK_TRANSFERS: '1' })
    const tables = ['first', 'second']
    const transfers: { table: string; connectionId: string; id: string }[] = []
    for (const table of tables) {
      const connectionId = await connectPeople(fixture, table)
      transfers.push({ table, connectionId, id: (await fixture.start(connectionId)).id })
    }
    const release = await holdTables(fixture, tables)
    const workers = tables.map(() => fixture.spawnWorker())
    for (const { id } of transfers) await fixture.claimed(id, 0)
    for (const worker of workers) worker.signal('SIGSTOP')
    await until('their heartbeats are late', async () => (await countStale(fixture)) === 2)
    for (const worker of workers) worker.signal('SIGCONT')
    await until('they send heartbeats', async () => (await countStale(fixture)) === 0)
    await release()
    const logs = workers.map(({ said }) => said.stderr).join('\n')
    for (const { table, connectionId, id } of transfers) {
      await assertPeople(fixture, table, connectionId, id)
      assert.equal((await fixture.standing(id)).attempt, 1, logs)
    }
  })
})

describe('a runner that stops in the transaction of a destination', { concurrency: 2 }, () => {
  const places = {
    'in COPY': { words: 'copy ', passes: true },
    'between two statements': { words: 'copy ', passes: false },
    'with its rows copied, before its commit': { words: 'set rows = ', passes: false },
  }
  async function prepareHolding(t: TestContext, env: Record<string, string> = {}) {
    const fixture = await startProcessFixture(t, env)
    const { accountId, caller } = fixture
    const proxy = await startHoldingProxy(fixture.targetUrl)
    t.after(async () => proxy.close())
    const secretConfig = postgresqlSecrets(proxy.url)
    await caller.expect(caller.call('configureConnector', { accountId, id: postgresql.id, body: { secretConfig } }))
    return { fixture, proxy, connectionId: await connectPeople(fixture, 'first') }
  }

  for (const [place, { words, passes }] of Object.entries(places)) {
    test(`(${place}) does not block its successor, and its worker learns that it lost`, async (t) => {
      const { fixture, proxy, connectionId } = await prepareHolding(t)
      const held = proxy.hold(words, passes)
      const { id } = await fixture.start(connectionId)
      const worker = fixture.spawnWorker()
      await held
      const asleep = [worker.pid, ...runnersOf(worker.pid)]
      for (const pid of asleep) process.kill(pid, 'SIGSTOP')
      fixture.spawnWorker()
      await until('the successor delivers', async () => (await fixture.standing(id)).read > 0, soonMs)
      await assertPeople(fixture, 'first', connectionId, id)
      assert.equal((await fixture.standing(id)).attempt, 2)
      proxy.release()
      for (const pid of asleep) process.kill(pid, 'SIGCONT')
      await learns(worker)
      await assertPeople(fixture, 'first', connectionId, id)
      assert.equal((await fixture.standing(id)).attempt, 2)
    })
  }

  test('alone for a short time continues, in the same attempt', async (t) => {
    const { fixture, proxy, connectionId } = await prepareHolding(t, { PENSTOCK_HEARTBEAT_TIMEOUT_SECONDS: '8' })
    const held = proxy.hold('set rows = ', false)
    const { id } = await fixture.start(connectionId)
    const worker = fixture.spawnWorker()
    await held
    const asleep = runnersOf(worker.pid)
    for (const pid of asleep) process.kill(pid, 'SIGSTOP')
    proxy.release()
    for (const pid of asleep) process.kill(pid, 'SIGCONT')
    await assertPeople(fixture, 'first', connectionId, id)
    assert.equal((await fixture.standing(id)).attempt, 1, worker.said.stderr)
  })
})
