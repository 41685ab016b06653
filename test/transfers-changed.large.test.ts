import assert from 'node:assert/strict'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { seed } from './harness/seed.ts'
import { type Fixture, localFolder, postgresql, startFixture } from './harness/transfers.ts'
import { isActive, startProcessFixture } from './harness/worker-processes.ts'
import { seeded } from './simulation/random.ts'

/** Connections that send only changed rows (docs/decisions/rows-to-send.md). */

const csvOf = (rows: ReadonlyMap<number, string>) =>
  `id,name\n${[...rows].map(([id, name]) => `${id},${name}\n`).join('')}`
const people = (count: number) => new Map(Array.from({ length: count }, (_, i) => [i + 1, `name ${i + 1}`]))
const changed = { sendRows: 'Changed' }

describe('changed rows', () => {
  let fixture: Fixture
  before(async () => {
    fixture = await startFixture()
    await fixture.startWorker()
  })
  after(() => fixture.close())

  const write = (name: string, rows: ReadonlyMap<number, string>) => writeFile(join(fixture.folder, name), csvOf(rows))
  async function move(id: string, body: object = {}) {
    const { status, error, records, skipped } = await fixture.ended(id, (await fixture.start(id, body)).id)
    return { status, code: error?.code, sent: records.sent, accepted: records.accepted, unchanged: skipped.unchanged }
  }
  const of = (id: string) => ({ accountId: fixture.accountId, id })
  const state = (id: string) => fixture.caller.expect(fixture.caller.call('getConnectionState', of(id)))
  const reset = (id: string, body: object) =>
    fixture.caller.expect(fixture.caller.call('resetConnectionState', { ...of(id), body }))
  const preview = (id: string, body: object = {}) =>
    fixture.caller.expect(fixture.caller.call('previewConnection', { ...of(id), body }))
  const codesOf = (findings: readonly { code: string }[]) => findings.map(({ code }) => code)
  const moved = (sent: number, unchanged: number) => ({
    status: 'succeeded',
    code: undefined,
    sent,
    accepted: sent,
    unchanged,
  })

  test('are the only ones that a table gets, until the state is reset or another mapping changes the rows', async () => {
    const rows = people(1_000)
    await write('people.csv', rows)
    await fixture.target.query('create table keyed (id int primary key, name text, other text)')
    const upsert = { table: 'keyed', writeMode: 'Upsert', keyColumns: 'id', ...changed }
    const id = await fixture.connect(localFolder, { files: 'people.csv' }, postgresql, upsert)
    assert.deepEqual(await move(id), moved(1_000, 0))
    for (let i = 1; i <= 100; i++) rows.set(i * 10, `changed ${i}`)
    await write('people.csv', rows)
    assert.deepEqual(await move(id), moved(100, 900))
    assert.deepEqual(await move(id), moved(0, 1_000))
    const kept = await state(id)
    assert.equal(kept.rows, 1_000)
    assert(kept.since !== null)
    const table = await fixture.target.query('select id, name from keyed order by id')
    assert.deepEqual(new Map(table.rows.map((row) => [row.id, row.name])), rows)

    // A test sends its rows again, and the next transfer knows it.
    assert.deepEqual(await move(id, { test: { rows: 5 } }), moved(5, 0))
    assert.deepEqual(await move(id), moved(0, 1_000))
    const mapping = JSON.stringify({ id: 'id', name: 'name', other: 'name' })
    assert.deepEqual(await move(id, { destConnectionConfig: { ...upsert, mapping } }), moved(1_000, 0))

    assert.deepEqual(await reset(id, { rows: true }), {
      connectionId: id,
      cursor: false,
      rows: 0,
      since: null,
      mirrored: false,
      removed: 0,
    })
    assert.deepEqual(await move(id), moved(1_000, 0))
    // After a transfer of all rows, nothing that was kept before it counts.
    assert.deepEqual(await move(id, { destConnectionConfig: { ...upsert, sendRows: 'All' } }), moved(1_000, 0))
    assert.equal((await state(id)).rows, 0)
    const events = await fixture.caller.expect(fixture.caller.call('listConnectionEvents', of(id)))
    assert(events.some(({ kind, to }) => kind === 'state' && to === 'rows'))
  })

  test('include rows that the destination rejected before', async () => {
    await writeFile(join(fixture.folder, 'ages.csv'), 'id,age\n1,30\n2,old\n3,50\n')
    await fixture.target.query('create table ages (id int primary key, age int)')
    const upsert = { table: 'ages', writeMode: 'Upsert', keyColumns: 'id', ...changed }
    const id = await fixture.connect(localFolder, { files: 'ages.csv' }, postgresql, upsert)
    assert.deepEqual({ ...(await move(id)), status: '' }, { ...moved(3, 0), accepted: 2, status: '' })
    assert.deepEqual({ ...(await move(id)), status: '' }, { ...moved(1, 2), accepted: 0, status: '' })
    await writeFile(join(fixture.folder, 'ages.csv'), 'id,age\n1,30\n2,40\n3,50\n')
    assert.deepEqual(await move(id), moved(1, 2))
  })

  test('go to a file of their own, by all columns or by a key that is named', async () => {
    const rows = people(50)
    await write('some.csv', rows)
    const to = { subfolder: 'out', ...changed, rowKey: 'id' }
    const id = await fixture.connect(localFolder, { files: 'some.csv' }, localFolder, to)
    assert.deepEqual(await move(id), moved(50, 0))
    const before = await readdir(join(fixture.folder, 'out'))
    rows.set(7, 'seven')
    await write('some.csv', rows)
    assert.deepEqual(await move(id), moved(1, 49))
    const [added = ''] = (await readdir(join(fixture.folder, 'out'))).filter((name) => !before.includes(name))
    assert.match(await readFile(join(fixture.folder, 'out', added), 'utf8'), /^id,name\r?\n7,seven\r?\n$/)
    const unnamed = await fixture.connect(localFolder, { files: 'some.csv' }, localFolder, { ...to, rowKey: '' })
    const { findings } = await preview(unnamed)
    assert.deepEqual(codesOf(findings), ['invalid_setting'])
    assert.equal((await move(unnamed)).code, 'invalid_setting')
  })

  test('are what a preview recommends if rows would be inserted a second time', async () => {
    await write('twice.csv', people(3))
    await fixture.target.query('create table twice (id int, name text)')
    const id = await fixture.connect(localFolder, { files: 'twice.csv' }, postgresql, {
      table: 'twice',
      writeMode: 'Insert',
    })
    assert.deepEqual(codesOf((await preview(id)).findings), [])
    await move(id)
    assert.deepEqual(codesOf((await preview(id)).findings), ['rows_inserted_again'])
    const body = { destConnectionConfig: { table: 'twice', writeMode: 'Insert', sendRows: 'Changed', rowKey: '*' } }
    assert.deepEqual(codesOf((await preview(id, body)).findings), [])
  })
})

test(`after kills of workers, no change is lost and hardly a row is sent twice (PENSTOCK_TEST_SEED=${seed})`, async (t) => {
  const fixture = await startProcessFixture(t)
  const random = seeded(seed)
  const rows = people(40_000)
  const file = join(fixture.folder, 'people.csv')
  await fixture.target.query('create table keyed (id int primary key, name text)')
  const upsert = { table: 'keyed', writeMode: 'Upsert', keyColumns: 'id', ...changed }
  const connectionId = await fixture.connect(localFolder, { files: 'people.csv' }, postgresql, upsert)
  let worker = fixture.spawnWorker()
  for (let round = 0; round < 3; round++) {
    for (let i = 0; round > 0 && i < 20_000; i++) rows.set(1 + random.int(40_000), `round ${round} ${i}`)
    await writeFile(file, csvOf(rows))
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
    const { status, records, skipped } = await fixture.ended(connectionId, transferId)
    assert.equal(status, 'succeeded')
    t.diagnostic(`${records.sent} sent, ${skipped.unchanged} unchanged`)
    const table = await fixture.target.query('select id, name from keyed')
    assert.deepEqual(new Map(table.rows.map((row) => [row.id, row.name] as const).sort(([a], [b]) => a - b)), rows)
  }
  const { id: last } = await fixture.start(connectionId)
  const { records } = await fixture.ended(connectionId, last)
  assert.equal(records.sent, 0)
})
