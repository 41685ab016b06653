import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import type { ChangeLogMeasure, Json } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import { lastCursor, startChanges } from '../../../test/postgresql-changes.ts'
import { postgresql } from '../postgresql.ts'

const scene = await startChanges()
after(() => scene.close())
const { query, read, secrets } = scene
beforeEach(async () => {
  await scene.clear()
  await query('create table crm.people (id int primary key, name text)')
  await query('create publication penstock for table crm.people')
})

const slot = 'measured'
const settings = { schema: 'crm', table: 'people', syncMode: 'Changes', publication: 'penstock', slot }
const log = postgresql.source?.changeLog
const contextOf = (cursor?: Json, of = slot) => ({ ...testContext({ secrets, settings }), slot: of, cursor })
const measure = async (cursor?: Json, of?: string): Promise<ChangeLogMeasure> => {
  const found = await log?.measure(contextOf(cursor, of))
  assert.ok(found)
  return found
}
const drop = (confirmed?: string) => log?.release?.drop({ ...contextOf(), confirmed })
const slots = async () => (await query<{ name: string }>('select slot_name as name from pg_replication_slots')).length

test('a slot is measured: what the server keeps, and how far the connection is behind', async () => {
  assert.equal(log?.server({ host: ' db ', port: 5432, database: 'crm' }), 'db:5432/crm')
  assert.deepEqual([log?.slot(settings), log?.slot({ ...settings, syncMode: 'Full' })], [slot, undefined])
  assert.deepEqual([(await measure()).status, (await measure()).keptBytes], [null, null])

  await query(`insert into crm.people values (1, 'Ada')`)
  const cursor = lastCursor(await read(undefined, { slot }))
  const first = await measure(cursor)
  assert.deepEqual([first.status, first.limitBytes], ['reserved', null])
  assert(first.behindSeconds !== null && first.confirmed !== null)
  // 4 MiB of another table are kept for the slot as well.
  await query(`create table crm.other as select repeat(md5(i::text), 100) as text from generate_series(1, 1500) i`)
  const second = await measure(cursor)
  const grown = (key: 'keptBytes' | 'behindBytes') => (second[key] ?? 0) - (first[key] ?? 0)
  assert(grown('keptBytes') > 100_000 && grown('keptBytes') === grown('behindBytes'), JSON.stringify([first, second]))

  // Changes that were committed before the time of the cursor are read, also if a transfer does not read all of them.
  const now = async () =>
    (await query<{ ms: number }>(`select extract(epoch from clock_timestamp())::float8 * 1000 as ms`))[0]?.ms ?? 0
  await query(`insert into crm.people select i, 'n' from generate_series(2, 4000) i`)
  const between = await now()
  await query(`insert into crm.people values (9000, 'last')`)
  const part = lastCursor(await read(cursor, { slot, changesMax: 1000 })) as { readMs: number }
  assert(part.readMs <= between && part.readMs > between - 60_000)
  const end = await now()
  const next = lastCursor(await read(part, { slot })) as { readMs: number }
  assert(next.readMs >= Math.floor(end))

  // The slot moves on when the next transfer begins.
  const third = await measure(next)
  assert.notEqual(third.confirmed, first.confirmed)
  assert((third.behindBytes ?? 0) < (second.behindBytes ?? 0))
  await query(`select pg_drop_replication_slot('${slot}')`)
  assert.deepEqual([(await measure(next)).status, (await measure(next)).keptBytes], ['lost', null])
})

test('a slot is dropped if it is ours', async () => {
  const cursor = lastCursor(await read(undefined, { slot }))
  const { confirmed } = await measure(cursor)
  assert.ok(confirmed)
  // Something else reads from it.
  await query(`insert into crm.people values (1, 'Ada')`)
  await query(`select pg_replication_slot_advance('${slot}', pg_current_wal_lsn())`)
  assert.equal(await drop(confirmed), 'in_use')
  assert.equal(await slots(), 1)
  const now = (await measure(cursor)).confirmed ?? undefined
  assert.equal(await drop(now), 'dropped')
  assert.equal(await slots(), 0)
  assert.equal(await drop(now), 'missing')
  // A slot of another plugin, whatever its name.
  await query(`select pg_create_logical_replication_slot('${slot}', 'test_decoding')`)
  assert.equal(await drop(), 'in_use')
  assert.equal(log?.release?.statement(slot), `SELECT pg_drop_replication_slot('${slot}');`)
})
