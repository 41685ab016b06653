import assert from 'node:assert/strict'
import { mkdir, readdir, rename, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { assertInvariants } from './harness/invariants.ts'
import { seed } from './harness/seed.ts'
import { type Fixture, localFolder, postgresql, startFixture } from './harness/transfers.ts'
import { isActive, startProcessFixture } from './harness/worker-processes.ts'
import { seeded } from './simulation/random.ts'

/** Backfills, look-back windows, and files that are read once (docs/decisions/state-and-ranges.md). */

const incremental = { syncMode: 'Incremental', markerColumn: 'changed', lagSeconds: 0 }
const january = { from: '2026-01-10', to: '2026-01-12' }

describe('a range of a table', () => {
  let fixture: Fixture
  before(async () => {
    fixture = await startFixture()
    await fixture.startWorker()
  })
  after(() => fixture.close())

  const of = (id: string) => ({ accountId: fixture.accountId, id })
  const move = async (id: string, body: object = {}) => fixture.ended(id, (await fixture.start(id, body)).id)
  /** A table with a row for each day of January, each twice a day. */
  async function tables(name: string, settings: object = {}) {
    await fixture.target.query(`create table ${name} (id int primary key, changed timestamptz, v int default 0)`)
    await fixture.target.query(
      `insert into ${name} select i, '2026-01-01 00:00Z'::timestamptz + i * interval '12 hours' from generate_series(0, 61) i`,
    )
    await fixture.target.query(`create table ${name}_copy (id int primary key, changed timestamptz, v int)`)
    const to = { table: `${name}_copy`, writeMode: 'Upsert', keyColumns: 'id' }
    return fixture.connect(postgresql, { table: name, ...incremental, ...settings }, postgresql, to)
  }

  test('is read again, and the cursor stays where it was', async () => {
    const id = await tables('days')
    assert.equal((await move(id)).records.accepted, 62)
    await fixture.target.query('update days set v = 1')
    const backfill = await move(id, { backfill: january })
    assert.deepEqual([backfill.status, backfill.records.accepted, backfill.backfill], ['succeeded', 6, january])
    const { rows } = await fixture.target.query('select id from days_copy where v = 1 order by id')
    assert.deepEqual(
      rows.map((row) => row.id),
      [18, 19, 20, 21, 22, 23],
    )
    // Times: the second one is not included.
    const times = { from: '2026-01-20T00:00:00Z', to: '2026-01-20T12:00:00Z' }
    assert.equal((await move(id, { backfill: times })).records.accepted, 1)
    await fixture.target.query(`insert into days values (100, '2026-02-01 12:00Z', 0)`)
    assert.equal((await move(id)).records.accepted, 1)
    const log = await fixture.caller.expect(
      fixture.caller.call('listTransferLog', { ...of(id), transferId: backfill.id }),
    )
    assert(log.some(({ text }) => text.includes('2026-01-10')))
    await assertInvariants(fixture.service.database.pool)
  })

  test('is refused if it is invalid, if the source has none, and while something else is active', async () => {
    const id = await tables('refused')
    const refusal = async (connectionId: string, body: object) => {
      const { status, error, details } = await fixture.caller.call('startTransfer', { ...of(connectionId), body })
      return [status, error, details?.[0]?.field]
    }
    const invalid = (field: string) => [400, 'invalid_request', `body.backfill.${field}`]
    assert.deepEqual(await refusal(id, { backfill: { from: '2026-02-30', to: '2026-03-01' } }), invalid('from'))
    assert.deepEqual(await refusal(id, { backfill: { from: '2026-02-02', to: '2026-02-01' } }), invalid('to'))
    assert.deepEqual(await refusal(id, { backfill: { from: '1900-01-01', to: '2026-02-01' } }), invalid('to'))
    const mixed = { from: '2026-01-01', to: '2026-02-01T00:00:00Z' }
    assert.deepEqual(await refusal(id, { backfill: mixed }), invalid('to'))
    const both = { backfill: january, test: { rows: 1 } }
    assert.deepEqual(await refusal(id, both), [400, 'invalid_request', 'body.test'])
    const cannot = (field: string) => [422, 'backfill_not_supported', field]
    const full = { backfill: january, srcConnectionConfig: { table: 'refused', syncMode: 'Full' } }
    assert.deepEqual(await refusal(id, full), cannot('srcConnectionConfig'))
    const files = await fixture.connect(localFolder, { files: '*.csv' }, localFolder, {})
    assert.deepEqual(await refusal(files, { backfill: january }), cannot('srcConnector'))
    const numbers = { srcConnectionConfig: { table: 'refused', ...incremental, markerColumn: 'id' }, backfill: january }
    assert.equal((await move(id, numbers)).error?.code, 'invalid_setting')
  })

  test('comes again with a look-back window', async () => {
    const id = await tables('late', { lookBackHours: 36 })
    assert.equal((await move(id)).records.accepted, 62)
    // The last cursor is 31 January, 12:00.
    await fixture.target.query(`insert into late values (200, '2026-01-30 00:00Z', 0), (201, '2026-01-29 23:59Z', 0)`)
    const { records } = await move(id)
    assert.equal(records.accepted, 5)
    const { rows } = await fixture.target.query('select id from late_copy where id >= 200')
    assert.deepEqual(rows, [{ id: 200 }])
    await fixture.target.query(`insert into late values (300, '2026-02-02 00:00Z', 0)`)
    await move(id)
    // Rows that are within the window before 2 February: 31 January, 12:00, and the last row.
    assert.equal((await move(id)).records.accepted, 2)
  })
})

test(`after kills of workers, a backfill has all rows of its range (PENSTOCK_TEST_SEED=${seed})`, async (t) => {
  const fixture = await startProcessFixture(t)
  const random = seeded(seed)
  await fixture.target.query('create table happened (id int primary key, changed timestamptz)')
  await fixture.target.query(
    `insert into happened select i, '2026-01-01 00:00Z'::timestamptz + i * interval '10 seconds' from generate_series(0, 200000) i`,
  )
  await fixture.target.query('create table copy (id int primary key, changed timestamptz)')
  const to = { table: 'copy', writeMode: 'Upsert', keyColumns: 'id' }
  const connectionId = await fixture.connect(postgresql, { table: 'happened', ...incremental }, postgresql, to)
  let worker = fixture.spawnWorker()
  const { id: transferId } = await fixture.start(connectionId, { backfill: { from: '2026-01-05', to: '2026-01-14' } })
  for (let kill = 0; kill < 3; kill++) {
    const standing = await fixture.standing(transferId)
    if (!isActive(standing)) break
    await fixture.claimed(transferId, standing.attempt)
    await delay(random.int(300))
    worker.signal('SIGKILL')
    await worker.ended
    worker = fixture.spawnWorker()
  }
  const { status, records, attempt } = await fixture.ended(connectionId, transferId)
  t.diagnostic(`${attempt} attempts`)
  assert.deepEqual([status, records.accepted], ['succeeded', 86_400])
  const { rows } = await fixture.target.query('select count(*)::int as rows, min(changed), max(changed) from copy')
  assert.deepEqual(rows, [
    { rows: 86_400, min: new Date('2026-01-05T00:00:00Z'), max: new Date('2026-01-14T23:59:50Z') },
  ])
  const state = { accountId: fixture.accountId, id: connectionId }
  const { cursor } = await fixture.caller.expect(fixture.caller.call('getConnectionState', state))
  assert.equal(cursor, false)
})

test(`after kills of workers, each row of new files comes once (PENSTOCK_TEST_SEED=${seed})`, async (t) => {
  const fixture = await startProcessFixture(t)
  const random = seeded(seed)
  const folder = join(fixture.folder, 'in')
  await mkdir(folder)
  let next = 0
  /** Writes files of 400 rows each, whose names are in no order. */
  async function write(count: number) {
    for (let file = 0; file < count; file++) {
      const lines = Array.from({ length: 400 }, () => `${next++},x`)
      const name = join(folder, `${random.int(1_000_000)}-${next}.csv`)
      await writeFile(`${name}.part`, `id,v\n${lines.join('\n')}\n`)
      await rename(`${name}.part`, name)
    }
  }
  await fixture.target.query('create table rows (id int, v text)')
  const settings = { files: 'in/*.csv', filesToRead: 'New' }
  const connectionId = await fixture.connect(localFolder, settings, postgresql, { table: 'rows' })
  let worker = fixture.spawnWorker()
  for (let round = 0; round < 2; round++) {
    await write(round === 0 ? 100 : 30)
    const { id: transferId } = await fixture.start(connectionId)
    for (let kill = 0; kill < 2; kill++) {
      const standing = await fixture.standing(transferId)
      if (!isActive(standing)) break
      await fixture.claimed(transferId, standing.attempt)
      await delay(random.int(300))
      worker.signal('SIGKILL')
      await worker.ended
      await write(2)
      worker = fixture.spawnWorker()
    }
    assert.equal((await fixture.ended(connectionId, transferId)).status, 'succeeded')
  }
  await fixture.ended(connectionId, (await fixture.start(connectionId)).id)
  const { rows } = await fixture.target.query('select count(*)::int as rows, count(distinct id)::int as ids from rows')
  assert.deepEqual(rows, [{ rows: next, ids: next }])
  const { records } = await fixture.ended(connectionId, (await fixture.start(connectionId)).id)
  assert.equal(records.read, 0)
  // After a reset, every file that is there is read again.
  const [first = ''] = await readdir(folder)
  await unlink(join(folder, first))
  const state = { accountId: fixture.accountId, id: connectionId }
  await fixture.caller.expect(fixture.caller.call('resetConnectionState', { ...state, body: { cursor: true } }))
  const again = await fixture.ended(connectionId, (await fixture.start(connectionId)).id)
  assert.equal(again.records.read, next - 400)
})
