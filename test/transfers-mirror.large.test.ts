import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { seed } from './harness/seed.ts'
import { type Fixture, localFolder, postgresql, startFixture } from './harness/transfers.ts'
import { isActive, startProcessFixture } from './harness/worker-processes.ts'
import { seeded } from './simulation/random.ts'

/** Connections that mirror their source (docs/decisions/rows-to-send.md). */

const csvOf = (rows: ReadonlyMap<number, string>) =>
  `id,name\n${[...rows].map(([id, name]) => `${id},${name}\n`).join('')}`
const people = (count: number) => new Map(Array.from({ length: count }, (_, i) => [i + 1, `name ${i + 1}`]))

describe('a mirror', () => {
  let fixture: Fixture
  before(async () => {
    fixture = await startFixture()
    await fixture.startWorker()
  })
  after(() => fixture.close())

  const write = (name: string, rows: ReadonlyMap<number, string>) => writeFile(join(fixture.folder, name), csvOf(rows))
  async function move(id: string, body: object = {}) {
    const { status, error, records, skipped, removed } = await fixture.ended(id, (await fixture.start(id, body)).id)
    return { status, code: error?.code, read: records.read, sent: records.sent, unchanged: skipped.unchanged, removed }
  }
  const of = (id: string) => ({ accountId: fixture.accountId, id })
  const state = (id: string) => fixture.caller.expect(fixture.caller.call('getConnectionState', of(id)))
  const table = async (name: string) =>
    new Map(
      (await fixture.target.query(`select id, name from ${name} order by id`)).rows.map((row) => [row.id, row.name]),
    )
  const mirrorTo = (name: string) => ({ table: name, writeMode: 'Upsert', keyColumns: 'id', sendRows: 'Mirror' })
  const moved = (read: number, sent: number, removed: number) => ({
    status: 'succeeded',
    code: undefined,
    read,
    sent,
    unchanged: read - sent,
    removed,
  })

  test('removes rows that left the source, and keeps the rows that others wrote', async () => {
    const rows = people(200)
    await write('people.csv', rows)
    await fixture.target.query('create table mirrored (id int primary key, name text)')
    await fixture.target.query(`insert into mirrored values (1000, 'of another')`)
    const id = await fixture.connect(localFolder, { files: 'people.csv' }, postgresql, mirrorTo('mirrored'))
    const withOther = () => new Map([...rows, [1000, 'of another']])
    assert.deepEqual(await move(id), moved(200, 200, 0))
    for (let i = 1; i <= 30; i++) rows.delete(i)
    rows.set(100, 'changed')
    rows.set(300, 'new')
    await write('people.csv', rows)
    assert.deepEqual(await move(id), moved(201, 32, 30))
    assert.deepEqual(await table('mirrored'), withOther())
    const kept = await state(id)
    assert.deepEqual([kept.rows, kept.mirrored, kept.removed], [171, true, 30])
    assert.deepEqual(await move(id), moved(171, 0, 0))

    // A row that returns is new.
    rows.set(1, 'name 1')
    await write('people.csv', rows)
    assert.deepEqual(await move(id), moved(172, 1, 0))

    // A full refresh sends everything, and the mirror still removes what left meanwhile.
    rows.delete(150)
    await write('people.csv', rows)
    const reset = await fixture.caller.expect(
      fixture.caller.call('resetConnectionState', { ...of(id), body: { rows: true } }),
    )
    assert.equal(reset.mirrored, true)
    assert.deepEqual(await move(id), moved(172, 172, 1))
    assert.deepEqual(await table('mirrored'), withOther())

    // A row that the filter excludes from now on no longer belongs to the mirror.
    const filter = 'number(row.id) > 50'
    const filtered = await move(id, { destConnectionConfig: { ...mirrorTo('mirrored'), filter } })
    assert.deepEqual([filtered.status, filtered.removed], ['succeeded', 21])
    for (const key of rows.keys()) if (key <= 50) rows.delete(key)
    assert.deepEqual(await table('mirrored'), withOther())
  })

  test('removes rows that left the source although transfers between sent all rows, or into another table', async () => {
    await write('modes.csv', people(10))
    await fixture.target.query('create table modes (id int primary key, name text)')
    await fixture.target.query('create table elsewhere (id int, name text)')
    await fixture.target.query(`insert into modes values (1000, 'of another')`)
    const id = await fixture.connect(localFolder, { files: 'modes.csv' }, postgresql, mirrorTo('modes'))
    await move(id)
    const change = (destConnectionConfig: Record<string, string>) =>
      fixture.caller.expect(fixture.caller.call('updateConnection', { ...of(id), body: { destConnectionConfig } }))
    let rows = people(10)
    const assertRemoved = async (removed: number) => {
      rows = new Map([...rows].slice(removed))
      await write('modes.csv', rows)
      assert.equal((await move(id)).removed, removed)
      assert.deepEqual(await table('modes'), new Map([...rows, [1000, 'of another']]))
    }
    for (const sendRows of ['All', 'Changed']) {
      // A row that is added and removed again is known, although no mirror sent it.
      await write('modes.csv', new Map([[99, 'comes and leaves'], ...rows]))
      const { sent, unchanged } = await move(id, { destConnectionConfig: { ...mirrorTo('modes'), sendRows } })
      assert.deepEqual([sent, unchanged], sendRows === 'All' ? [rows.size + 1, 0] : [1, rows.size])
      rows.set(99, 'comes and leaves')
      rows = new Map([...rows].reverse())
      await assertRemoved(1)
      // The same by the settings of the connection.
      await change({ ...mirrorTo('modes'), sendRows })
      await write('modes.csv', new Map([...rows].slice(1)))
      assert.equal((await move(id)).removed, 0)
      assert.equal((await state(id)).mirrored, false)
      await change(mirrorTo('modes'))
      await assertRemoved(1)
    }
    // Rows of the table may have changed, so everything is sent, and the keys stay.
    const insert = { table: 'elsewhere', writeMode: 'Insert', sendRows: 'All' }
    await move(id, { destConnectionConfig: insert })
    await assertRemoved(1)
    // A full refresh of a connection that is no mirror any more forgets the keys.
    await change({ ...mirrorTo('modes'), sendRows: 'All' })
    await fixture.caller.expect(fixture.caller.call('resetConnectionState', { ...of(id), body: { rows: true } }))
    await change(mirrorTo('modes'))
    await move(id)
    await assertRemoved(1)
  })

  test('stops before it removes too much, and says so', async () => {
    await write('many.csv', people(10))
    await fixture.target.query('create table guarded (id int primary key, name text)')
    const id = await fixture.connect(localFolder, { files: 'many.csv' }, postgresql, mirrorTo('guarded'))
    await move(id)
    await write('many.csv', new Map([[1, 'changed']]))
    const { id: stopped } = await fixture.start(id)
    const { status, error, records, removed } = await fixture.ended(id, stopped)
    assert.deepEqual([status, error?.code, records.accepted, removed], ['failed', 'confirmation_needed', 1, 0])
    assert.match(error?.message ?? '', /^This would remove 9 of the 10 rows .* Nothing was removed/)
    assert.equal((await table('guarded')).size, 10)
    assert.deepEqual(await move(id, { confirm: true }), { ...moved(10, 9, 9), unchanged: 1 })
    assert.deepEqual(await table('guarded'), new Map([[1, 'changed']]))
    // An empty source is one that removes everything.
    await write('many.csv', new Map())
    assert.equal((await move(id)).code, 'confirmation_needed')
    assert.deepEqual(await move(id, { confirm: true }), { ...moved(1, 1, 1), unchanged: 0 })
    assert.equal((await table('guarded')).size, 0)
  })

  test('keeps the row of a record that is rejected, and rows that something else refers to', async () => {
    await write('ages.csv', people(4))
    await fixture.target.query('create table parents (id int primary key, name text check (length(name) < 20))')
    await fixture.target.query('create table children (parent int references parents(id))')
    const id = await fixture.connect(localFolder, { files: 'ages.csv' }, postgresql, mirrorTo('parents'))
    await move(id)
    await fixture.target.query('insert into children values (4)')
    await write('ages.csv', new Map([...people(3), [2, 'a name that is too long for the table']]))
    const { records, removed } = await fixture.ended(id, (await fixture.start(id)).id)
    assert.deepEqual([records.rejected, removed], [2, 0])
    assert.deepEqual(await table('parents'), people(4))
    await fixture.target.query('delete from children')
    assert.equal((await move(id)).removed, 1)
  })

  test('is refused if the destination or the source cannot be mirrored', async () => {
    await write('some.csv', people(3))
    await fixture.target.query('create table refused (id int primary key, name text)')
    await fixture.target.query('create table copied (id int primary key, name text)')
    const insert = { table: 'refused', writeMode: 'Insert', sendRows: 'Mirror' }
    const id = await fixture.connect(localFolder, { files: 'some.csv' }, postgresql, insert)
    assert.equal((await move(id)).code, 'not_supported')
    const { findings } = await fixture.caller.expect(fixture.caller.call('previewConnection', { ...of(id), body: {} }))
    assert.deepEqual(
      findings.map(({ code }) => code),
      ['not_supported'],
    )
    const incremental = { table: 'refused', keyColumns: 'id', syncMode: 'Incremental', markerColumn: 'id' }
    const body = { srcConnectionConfig: incremental, destConnectionConfig: mirrorTo('copied') }
    const fromTable = await fixture.connect(postgresql, incremental, postgresql, mirrorTo('copied'))
    await fixture.target.query(`insert into refused values (1, 'one')`)
    assert.equal((await move(fromTable, body)).code, 'invalid_setting')
  })
})

test(`after kills of workers, a mirror is equal to its source (PENSTOCK_TEST_SEED=${seed})`, async (t) => {
  const fixture = await startProcessFixture(t)
  const random = seeded(seed)
  const rows = people(20_000)
  await fixture.target.query('create table mirrored (id int primary key, name text)')
  const to = { table: 'mirrored', writeMode: 'Upsert', keyColumns: 'id', sendRows: 'Mirror' }
  const connectionId = await fixture.connect(localFolder, { files: 'people.csv' }, postgresql, to)
  let worker = fixture.spawnWorker()
  for (let round = 0; round < 3; round++) {
    for (let i = 0; round > 0 && i < 5_000; i++) {
      const id = 1 + random.int(20_000)
      if (random.int(2) === 0) rows.delete(id)
      else rows.set(id, `round ${round} ${i}`)
    }
    await writeFile(join(fixture.folder, 'people.csv'), csvOf(rows))
    const { id: transferId } = await fixture.start(connectionId)
    for (let kill = 0; kill < 2; kill++) {
      const standing = await fixture.standing(transferId)
      if (!isActive(standing)) break
      await fixture.claimed(transferId, standing.attempt)
      await delay(random.int(400))
      worker.signal('SIGKILL')
      await worker.ended
      worker = fixture.spawnWorker()
    }
    const { status, records, removed } = await fixture.ended(connectionId, transferId)
    assert.equal(status, 'succeeded')
    t.diagnostic(`${records.sent} sent, ${removed} of them removals`)
    const table = await fixture.target.query('select id, name from mirrored')
    const found = [...new Map(table.rows.map((row) => [row.id, row.name] as const))]
    assert.deepEqual(
      found.sort(([a], [b]) => a - b),
      [...rows].sort(([a], [b]) => a - b),
    )
  }
})
