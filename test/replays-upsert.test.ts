import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type Fixture, localFolder, postgresql, startFixture } from './harness/transfers.ts'

/** Replays into a table of PostgreSQL that has newer rows. */

let fixture: Fixture
before(async () => {
  fixture = await startFixture()
  await fixture.startWorker()
})
after(() => fixture.close())

test('a replay replaces no newer row of a table, and sends no line with too few or too many values', async () => {
  await fixture.target.query(
    'create table cities (id text primary key, city text, constraint short check (length(city) < 9))',
  )
  const write = (...lines: string[]) =>
    writeFile(join(fixture.folder, 'cities.csv'), ['id,city', ...lines, ''].join('\n'))
  await write('1,a city that is too long', '2,another that is too long', '3', '4,Rome,lost,too')
  const upsert = { table: 'cities', writeMode: 'Upsert', keyColumns: 'id' }
  const id = await fixture.connect(localFolder, { files: 'cities.csv' }, postgresql, upsert)
  const first = await fixture.ended(id, (await fixture.start(id)).id)
  assert.equal(first.records.rejected, 4)
  await write('1,new')
  await fixture.ended(id, (await fixture.start(id)).id)
  await fixture.target.query('alter table cities drop constraint short')
  const { caller, accountId } = fixture
  const of = (transferId: string) => ({ accountId, id, transferId })
  const { id: replayId } = await caller.expect(caller.call('replayTransfer', of(first.id)))
  const { records } = await fixture.ended(id, replayId)
  assert.deepEqual(records, { read: 4, sent: 1, accepted: 1, rejected: 3 })
  const rejects = await caller.expect(caller.call('listRejects', of(replayId)))
  assert.deepEqual(
    rejects.map(({ row, structural, superseded }) => [row, structural, superseded]),
    [
      [1, false, true],
      [3, true, false],
      [4, true, false],
    ],
  )
  const { rows } = await fixture.target.query('select id, city from cities order by id')
  assert.deepEqual(rows, [
    { id: '1', city: 'new' },
    { id: '2', city: 'another that is too long' },
  ])
})
