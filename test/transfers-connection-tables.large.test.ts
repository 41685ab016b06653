import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Transfer } from '@penstock/wire'
import { callerOf } from './harness/fixtures.ts'
import { type Fixture, postgresql, startFixture } from './harness/transfers.ts'
import { until } from './harness/until.ts'
import { startProcessFixture } from './harness/worker-processes.ts'

/** The tables of a connection: a person lists, pauses, resumes, resets and moves them one by one. */

const many = (tables: string) => ({
  dataSourceType: 'Many Tables',
  tables,
  syncMode: 'Incremental',
  markerColumn: 'changed',
  lagSeconds: 0,
})
const to = (schema: string) => ({
  schema,
  table: '{table}',
  createTable: true,
  writeMode: 'Upsert',
  keyColumns: '{key}',
})
/** Makes tables with three rows each. */
const made = (schema: string, ...tables: string[]) =>
  tables
    .map(
      (name) =>
        `create table ${schema}.${name} (id int primary key, name text, changed timestamptz default now() - interval '1 day');
         insert into ${schema}.${name} select n, 'old' from generate_series(1, 3) n;`,
    )
    .join('\n')

type Used = Pick<Fixture, 'caller' | 'accountId'>
const of = ({ caller, accountId }: Used, id: string) => {
  const here = { accountId, id }
  const list = (query: object = {}) =>
    caller.expect(caller.call('listConnectionTables', { ...here, query: { size: 500, ...query } }))
  return {
    list,
    statuses: async () => Object.fromEntries((await list()).map(({ table, status }) => [table, status])),
    set: (paused: boolean, ...tables: string[]) =>
      caller.expect(caller.call('setConnectionTables', { ...here, body: { tables, paused } })),
    reset: (...tables: string[]) =>
      caller.expect(caller.call('resetConnectionState', { ...here, body: { cursor: true, tables } })),
    parts: async (transferId: string) =>
      Object.fromEntries(
        (await caller.expect(caller.call('listTransferParts', { ...here, transferId, query: { size: 500 } }))).map(
          ({ table, status, records, error }) => [table, `${status} ${error?.code ?? records.read}`],
        ),
      ),
  }
}

describe('the tables of a connection', () => {
  let fixture: Fixture
  before(async () => {
    fixture = await startFixture({ PENSTOCK_PARTS_PER_TRANSFER: '1' })
    await fixture.startWorker({ PENSTOCK_PARTS_PER_TRANSFER: '1' })
  })
  after(() => fixture?.close())
  const sql = async (text: string) => (await fixture.target.query(text)).rows
  const move = async (id: string, body: object = {}): Promise<Transfer> =>
    fixture.ended(id, (await fixture.start(id, body)).id)

  test('are listed with names, results and what is missing, and nobody else sees them', async () => {
    await sql(`create schema listed; create schema arrived;
      ${made('listed', 'a', 'b', '"Odd, ""x"" /%_\\ ü"')}
      create table arrived.b (id int primary key, name text, changed date)`)
    const id = await fixture.connect(postgresql, many('listed.*'), postgresql, to('arrived'))
    const { list, statuses, set } = of(fixture, id)
    assert.deepEqual(await list(), [], 'no transfer has listed any')
    const first = await move(id)
    const odd = 'listed.Odd, "x" /%_\\ ü'
    const all = await list()
    const byName = Object.fromEntries(all.map((table) => [table.table, table]))
    assert.deepEqual(Object.keys(byName).sort(), [odd, 'listed.a', 'listed.b'])
    const { finishedTime, ...result } = byName[odd]?.lastResult ?? {}
    assert.equal(typeof finishedTime, 'number')
    assert.deepEqual(
      { ...byName[odd], lastResult: result },
      {
        table: odd,
        destination: 'arrived.Odd, "x" /%_\\ ü',
        status: 'active',
        cursor: true,
        resetTime: null,
        lastResult: {
          transferId: first.id,
          status: 'succeeded',
          records: { read: 3, accepted: 3, rejected: 0 },
          error: null,
        },
        changes: [],
      },
    )
    assert.deepEqual(
      (await list({ q: '/%_\\' })).map(({ table }) => table),
      [odd],
    )
    assert.deepEqual(await list({ q: 'nowhere' }), [])

    await sql(`drop table listed.a; ${made('listed', 'c')} alter table arrived.b add constraint "no" check (id < 0) not valid;
      update listed.b set changed = now()`)
    await move(id)
    assert.equal((await statuses())['listed.a'], 'missing')
    assert.equal((await statuses())['listed.c'], undefined, 'it is new, and waits for a decision')
    assert.deepEqual(
      (await list({ status: 'missing' })).map(({ table, lastResult }) => [table, lastResult?.records.read]),
      [['listed.a', 3]],
    )
    await set(true, odd)
    assert.deepEqual(await list({ status: 'paused', q: 'ODD' }), await list({ status: 'paused' }))
    assert.equal((await statuses())[odd], 'paused')

    const { caller, accountId } = fixture
    const body = { tables: [odd], paused: false }
    const other = callerOf(fixture.service, await fixture.service.addOrganization())
    const theirs = (await other.addAccount()).id
    for (const where of [{ accountId }, { accountId: theirs }]) {
      assert.equal((await other.call('listConnectionTables', { ...where, id })).status, 404)
      assert.equal((await other.call('setConnectionTables', { ...where, id, body })).status, 404)
    }
    const here = { accountId, id }
    for (const wrong of [
      { tables: ['listed.c'], paused: true },
      { tables: [odd, 'nothing'], paused: false },
      { tables: [], paused: true },
      { tables: ['\u0000'], paused: true },
      { tables: ['x'.repeat(601)], paused: true },
    ]) {
      assert.equal((await caller.call('setConnectionTables', { ...here, body: wrong })).status, 400)
      assert.equal((await caller.call('startTransfer', { ...here, body: { tables: wrong.tables } })).status, 400)
      const resets = await caller.call('resetConnectionState', {
        ...here,
        body: { cursor: true, tables: wrong.tables },
      })
      assert.equal(resets.status, 400)
    }
    assert.equal((await statuses())[odd], 'paused', 'nothing was changed')
  })

  test('a paused table waits at its cursor, while the others are moved', async () => {
    await sql(`create schema held; create schema holding; ${made('held', 'a', 'b')}`)
    const id = await fixture.connect(postgresql, many('held.*'), postgresql, to('holding'))
    const { set, parts, statuses } = of(fixture, id)
    await move(id)
    assert.deepEqual(
      (await set(true, 'held.b')).tables.map(({ table, status }) => [table, status]),
      [['held.b', 'paused']],
    )
    await sql(`update held.a set name = 'new', changed = now(); update held.b set name = 'new', changed = now()`)
    const second = await move(id)
    assert.equal(second.status, 'succeeded')
    assert.deepEqual(await parts(second.id), { 'held.a': 'succeeded 3', 'held.b': 'skipped table_paused' })
    assert.deepEqual(await sql('select distinct name from holding.b'), [{ name: 'old' }])

    await set(true, 'held.a', 'held.b')
    const none = await move(id)
    assert.deepEqual([none.status, none.error?.code], ['failed', 'table_paused'])
    const { caller, accountId } = fixture
    const { status } = await caller.expect(caller.call('getConnection', { accountId, id }))
    assert.equal(status, 'active')
    const only = { accountId, id, body: { tables: ['held.b'] } }
    assert.equal((await caller.call('startTransfer', only)).status, 400)

    await set(false, 'held.a', 'held.b')
    await set(false, 'held.b')
    const last = await move(id)
    assert.deepEqual(await parts(last.id), { 'held.a': 'succeeded 0', 'held.b': 'succeeded 3' })
    assert.deepEqual(await sql('select distinct name from holding.b'), [{ name: 'new' }])
    assert.deepEqual(await statuses(), { 'held.a': 'active', 'held.b': 'active' })
  })

  test('a table that is paused while it waits for a worker is skipped, and one that is being moved is moved to its end', async () => {
    await sql(`create schema racing; create schema raced; ${made('racing', 'a', 'b', 'c')}`)
    const id = await fixture.connect(postgresql, many('racing.*'), postgresql, to('raced'))
    const { set, parts, reset } = of(fixture, id)
    await move(id)
    await sql(
      `update racing.a set changed = now(); update racing.b set changed = now(); update racing.c set changed = now()`,
    )
    const holder = await fixture.target.connect()
    try {
      await holder.query('begin; lock table raced.a in access exclusive mode')
      const { id: transferId } = await fixture.start(id)
      await until('the first table is being moved', async () =>
        (await parts(transferId))['racing.a']?.startsWith('running') ? true : undefined,
      )
      await set(true, 'racing.a', 'racing.b')
      const { caller, accountId } = fixture
      for (const tables of [['racing.c'], ['racing.b']]) {
        const asked = await caller.call('resetConnectionState', { accountId, id, body: { cursor: true, tables } })
        assert.deepEqual([asked.status, asked.error], [409, 'transfer_active'])
      }
      const other = await caller.call('startTransfer', { accountId, id, body: { tables: ['racing.c'] } })
      assert.deepEqual([other.status, other.error], [409, 'transfer_active'])
      await holder.query('rollback')
      const ended = await fixture.ended(id, transferId)
      assert.equal(ended.status, 'succeeded')
      assert.deepEqual(await parts(transferId), {
        'racing.a': 'succeeded 3',
        'racing.b': 'skipped table_paused',
        'racing.c': 'succeeded 3',
      })
    } finally {
      holder.release()
    }
    await set(false, 'racing.a', 'racing.b')
    await reset('racing.c')
    assert.deepEqual(await parts((await move(id)).id), {
      'racing.a': 'succeeded 0',
      'racing.b': 'succeeded 3',
      'racing.c': 'succeeded 3',
    })
  })

  test('one table is read again after a reset, and a retry does not continue it', async () => {
    const rows = 150_000
    await sql(`create schema again; create schema anew; ${made('again', 'a', 'b')}
      insert into again.b select n, 'old', now() - interval '1 day' from generate_series(4, ${rows}) n;
      create table anew.b (id int primary key, name text, changed timestamptz);
      create function anew.waits() returns trigger language plpgsql as 'begin perform pg_advisory_xact_lock(43); return new; end';
      create trigger waits before insert on anew.b for each row when (new.id > ${rows - 10}) execute function anew.waits()`)
    const holder = await fixture.target.connect()
    await holder.query('select pg_advisory_lock(43)')
    const id = await fixture.connect(postgresql, many('again.*'), postgresql, to('anew'))
    const { reset, list, parts, statuses } = of(fixture, id)
    const { caller, accountId } = fixture
    const here = { accountId, id }
    const { id: transferId } = await fixture.start(id)
    await until('rows of the large table are confirmed', async () =>
      (await fixture.get(id, transferId)).records.read > 3 ? true : undefined,
    )
    await caller.expect(caller.call('cancelTransfer', { ...here, transferId }))
    await holder.query('select pg_advisory_unlock(43)')
    holder.release()
    await fixture.ended(id, transferId)
    assert.match((await parts(transferId))['again.b'] ?? '', /^cancelled/)
    const wrong = { cursor: true, rows: true, tables: ['again.a'] }
    assert.equal((await caller.call('resetConnectionState', { ...here, body: wrong })).status, 400)
    assert.equal((await list())[0]?.resetTime, null)
    await reset('again.a', 'again.b')
    assert.deepEqual(
      (await list()).map(({ cursor, resetTime }) => [cursor, typeof resetTime]),
      [
        [false, 'number'],
        [false, 'number'],
      ],
    )
    const retried = await caller.call('retryTransfer', { ...here, transferId })
    assert.deepEqual([retried.status, retried.error], [409, 'nothing_to_retry'])
    assert.deepEqual(await parts((await move(id)).id), { 'again.a': 'succeeded 3', 'again.b': `succeeded ${rows}` })
    assert.deepEqual(await statuses(), { 'again.a': 'active', 'again.b': 'active' })
  })

  test('a transfer moves only the tables that it names, and the changes of others keep waiting', async () => {
    await sql(`create schema picked; create schema pick; ${made('picked', 'a', 'b', 'c')}`)
    const id = await fixture.connect(postgresql, many('picked.*'), postgresql, to('pick'))
    const { list, parts, statuses } = of(fixture, id)
    const { caller, accountId } = fixture
    await caller.expect(caller.call('setDrift', { accountId, id, body: { drift: 'stop' } }))
    await move(id)
    await sql(
      `alter table picked.b add column extra text; update picked.a set changed = now(); update picked.c set changed = now()`,
    )
    assert.equal((await move(id)).error?.code, 'tables_failed')
    await sql(`${made('picked', 'later')} update picked.a set changed = now()`)
    const only = await move(id, { tables: ['picked.a'] })
    assert.deepEqual([only.status, only.tables, only.records.read], ['succeeded', ['picked.a'], 3])
    assert.deepEqual(await parts(only.id), { 'picked.a': 'succeeded 3' })
    const drift = await caller.expect(caller.call('getDrift', { accountId, id }))
    assert.deepEqual(
      drift.tables?.map(({ table }) => table),
      ['picked.b'],
    )
    const changes = (await list()).map(({ table, changes }) => [table, changes.map(({ column }) => column).join()])
    assert.deepEqual(changes, [
      ['picked.a', ''],
      ['picked.b', 'extra'],
      ['picked.c', ''],
    ])
    await sql(`drop table picked.c, picked.later`)
    const gone = await move(id, { tables: ['picked.c'] })
    assert.deepEqual([gone.status, gone.error?.code], ['failed', 'source_changed'])
    const back = await move(id, { tables: ['picked.a'], backfill: { from: '2020-01-01', to: '2030-01-01' } })
    assert.deepEqual([back.records.read, back.tables], [3, ['picked.a']])
    assert.equal((await statuses())['picked.c'], 'missing')
  })
})

test('a worker that is killed while a table is paused and another one was reset loses and repeats nothing', async (t) => {
  const fixture = await startProcessFixture(t)
  const { target } = fixture
  const rows = 60_000
  await target.query(`create schema many; create schema arrived;
    ${['a', 'b', 'c'].map((name) => `create table many.${name} (id bigint primary key, changed bigint, text text);`).join('')}
    insert into many.a values (1, 1, 'x'); insert into many.b values (1, 1, 'x'); insert into many.c values (1, 1, 'x')`)
  const id = await fixture.connect(postgresql, many('many.*'), postgresql, {
    ...to('arrived'),
    writeMode: 'Insert',
    keyColumns: '',
  })
  let worker = fixture.spawnWorker()
  await fixture.ended(id, (await fixture.start(id)).id)
  const { set, reset, parts } = of(fixture, id)
  for (const name of ['a', 'b', 'c']) {
    await target.query(`insert into many.${name} select g, g, repeat('x', 100) from generate_series(2, ${rows}) g`)
  }
  await set(true, 'many.b')
  await reset('many.c')
  await target.query('truncate arrived.c')
  const { id: transferId } = await fixture.start(id)
  const readOf = async () => (await fixture.get(id, transferId)).records.read
  for (const share of [0.1, 0.6]) {
    await until('some rows are confirmed', async () => ((await readOf()) > share * 2 * rows ? true : undefined))
    worker.signal('SIGKILL')
    await worker.ended
    worker = fixture.spawnWorker()
  }
  const transfer = await fixture.ended(id, transferId)
  assert.deepEqual([transfer.status, transfer.records.read], ['succeeded', 2 * rows - 1])
  assert.equal((await parts(transferId))['many.b'], 'skipped table_paused')
  await set(false, 'many.b')
  const last = await fixture.ended(id, (await fixture.start(id)).id)
  assert.deepEqual([last.status, last.records.read], ['succeeded', rows - 1])
  for (const name of ['a', 'b', 'c']) {
    const found = await target.query(
      `select count(*)::int as rows, count(distinct id)::int as ids from arrived.${name}`,
    )
    assert.deepEqual(found.rows[0], { rows, ids: rows }, name)
  }
})
