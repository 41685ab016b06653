import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { seed } from './harness/seed.ts'
import { type Fixture, localFolder, postgresql, startFixture } from './harness/transfers.ts'
import { isActive, startProcessFixture } from './harness/worker-processes.ts'
import { seeded } from './simulation/random.ts'

/** Duplicates within a transfer (docs/decisions/rows-to-send.md), and rows that are inserted twice. */

describe('duplicates', () => {
  let fixture: Fixture
  before(async () => {
    fixture = await startFixture()
    await fixture.startWorker()
  })
  after(() => fixture.close())

  const of = (id: string) => ({ accountId: fixture.accountId, id })
  async function move(id: string, body: object = {}) {
    const { id: transferId } = await fixture.start(id, body)
    const { status, error, records, skipped } = await fixture.ended(id, transferId)
    const log = await fixture.caller.expect(fixture.caller.call('listTransferLog', { ...of(id), transferId }))
    return {
      moved: [status, error?.code, records.read, records.accepted, records.rejected, skipped.duplicates],
      lines: log.map(({ text }) => text).join('\n'),
    }
  }
  const preview = (id: string, body: object = {}) =>
    fixture.caller.expect(fixture.caller.call('previewConnection', { ...of(id), body }))
  const tableOf = async (name: string) =>
    (await fixture.target.query(`select * from ${name} order by 1, 2`)).rows.map((row) => Object.values(row))

  test('are left out of an insertion: the record that wins is sent, after the filter, and rejected ones do not win', async () => {
    const rows = ['1,a,10', '2,b,5', '1,c,9', '1,d,', '3,e,7', '2,f,5', '2,left out,99', '3,g,8']
    await writeFile(join(fixture.folder, 'visits.csv'), `id,name,score\n${rows.join('\n')}\n`)
    const all = async (settings: object) => {
      await fixture.target.query('drop table if exists visits; create table visits (id int, name text)')
      const mapping = JSON.stringify({ id: 'id', name: { expression: 'upper(name)' } })
      const filter = 'name != "left out"'
      const id = await fixture.connect(localFolder, { files: 'visits.csv' }, postgresql, {
        table: 'visits',
        writeMode: 'Insert',
        mapping,
        filter,
        duplicateKey: 'id',
        ...settings,
      })
      const { rows: shown, duplicates, filtered, findings } = await preview(id)
      assert.deepEqual([shown.length, duplicates, filtered, findings], [3, 4, 1, []])
      const { moved, lines } = await move(id)
      assert.deepEqual(moved, ['succeeded', undefined, 8, 3, 0, 4])
      assert.match(lines, /4 duplicates/)
      return { table: (await tableOf('visits')).map(([key, name]) => `${key}${name}`).join(' '), lines }
    }
    assert.equal((await all({ duplicates: 'First' })).table, '1A 2B 3E')
    const last = await all({ duplicates: 'Last' })
    assert.equal(last.table, '1D 2F 3G')
    assert.match(last.lines, /read in advance to find duplicates: it has 3 different keys/)
    assert.equal((await all({ duplicates: 'Greatest', duplicateColumn: 'score' })).table, '1A 2B 3G')
    assert.equal((await all({ duplicates: 'Least', duplicateColumn: 'score' })).table, '1C 2B 3E')
  })

  test('need columns that exist, which a preview says as well', async () => {
    await writeFile(join(fixture.folder, 'some.csv'), 'id\n1\n')
    for (const [settings, message] of [
      [{ duplicates: 'First' }, /Key of duplicates/],
      [{ duplicates: 'Least', duplicateKey: '*' }, /Deciding column/],
      [{ duplicates: 'First', duplicateKey: 'other' }, /names the column other/],
      [{ duplicates: 'Greatest', duplicateKey: '*', duplicateColumn: 'other' }, /is not in the source/],
    ] as const) {
      const id = await fixture.connect(localFolder, { files: 'some.csv' }, localFolder, {
        subfolder: 'out',
        ...settings,
      })
      const [finding] = (await preview(id)).findings
      assert.equal(finding?.code, 'invalid_setting')
      assert.match(finding.message, message)
      assert.equal((await move(id)).moved[1], 'invalid_setting')
    }
  })

  test('are left out of a test, and before only changed rows are sent', async () => {
    const rows = Array.from({ length: 100 }, (_, i) => `${i % 10},${i}\n`)
    await writeFile(join(fixture.folder, 'many.csv'), `id,at\n${rows.join('')}`)
    const to = { subfolder: 'out', duplicates: 'Greatest', duplicateKey: 'id', duplicateColumn: 'at' }
    const changed = await fixture.connect(localFolder, { files: 'many.csv' }, localFolder, {
      ...to,
      sendRows: 'Changed',
      rowKey: 'id',
    })
    assert.deepEqual((await move(changed, { test: { rows: 15 } })).moved, ['succeeded', undefined, 15, 10, 0, 5])
    assert.deepEqual((await move(changed)).moved, ['succeeded', undefined, 100, 10, 0, 90])
    assert.deepEqual((await move(changed)).moved, ['succeeded', undefined, 100, 0, 0, 90])
  })

  test('of an incremental source are decided in each transfer, and its cursor moves on', async () => {
    const { target } = fixture
    await target.query(`create table recorded (n int primary key, id int, name text);
      insert into recorded select n, n % 7, 'a' || n from generate_series(1, 9000) n;
      create table latest (id int primary key, n int, name text)`)
    const id = await fixture.connect(
      postgresql,
      { table: 'recorded', syncMode: 'Incremental', markerColumn: 'n', keyColumns: 'n' },
      postgresql,
      { table: 'latest', writeMode: 'Upsert', keyColumns: 'id', duplicates: 'Last' },
    )
    assert.deepEqual((await move(id)).moved, ['succeeded', undefined, 9_000, 7, 0, 8_993])
    assert.deepEqual((await move(id)).moved, ['succeeded', undefined, 0, 0, 0, 0])
    await target.query(`insert into recorded values (9001, 0, 'b'), (9002, 0, 'c')`)
    assert.deepEqual((await move(id)).moved, ['succeeded', undefined, 2, 1, 0, 1])
    const { rows } = await target.query('select max(n) as n from recorded group by id order by 1')
    assert.deepEqual((await target.query('select n from latest order by 1')).rows, rows)
  })

  test('of rows that are inserted twice are said in the log, with the settings to change', async () => {
    await writeFile(join(fixture.folder, 'twice.csv'), 'id\n1\n')
    await fixture.target.query('create table twice (id int)')
    const settings = { table: 'twice', writeMode: 'Insert' }
    const id = await fixture.connect(localFolder, { files: 'twice.csv' }, postgresql, settings)
    const again =
      /inserted again.*set "How rows are written" to .*Update by key.*, or set "Rows to send" to New and changed rows/
    assert.doesNotMatch((await move(id)).lines, again)
    assert.match((await move(id)).lines, again)
    assert.match((await preview(id)).findings[0]?.message ?? '', again)
    const body = { destConnectionConfig: { ...settings, sendRows: 'Changed', rowKey: '*' } }
    assert.doesNotMatch((await move(id, body)).lines, again)
  })
})

test(`after kills of workers, one record of each key is inserted (PENSTOCK_TEST_SEED=${seed})`, async (t) => {
  const fixture = await startProcessFixture(t)
  const random = seeded(seed)
  const count = 20_000
  const rows = Array.from({ length: count }, (_, i) => [random.int(5_000), random.int(1_000), i] as const)
  await writeFile(join(fixture.folder, 'many.csv'), `id,score,at\n${rows.map((row) => `${row.join(',')}\n`).join('')}`)
  let worker = fixture.spawnWorker()
  for (const winner of ['First', 'Greatest'] as const) {
    await fixture.target.query(`create table ${winner} (id int, score int, at int)`)
    const connectionId = await fixture.connect(localFolder, { files: 'many.csv' }, postgresql, {
      table: winner.toLowerCase(),
      writeMode: 'Upsert',
      keyColumns: 'id',
      duplicates: winner,
      duplicateColumn: 'score',
    })
    await fixture.target.query(`alter table ${winner} add primary key (id)`)
    const { id: transferId } = await fixture.start(connectionId)
    for (let kill = 0; kill < 2; kill++) {
      const standing = await fixture.standing(transferId)
      if (!isActive(standing)) break
      await fixture.claimed(transferId, standing.attempt)
      await delay(random.int(600))
      worker.signal('SIGKILL')
      await worker.ended
      worker = fixture.spawnWorker()
    }
    const { status, records, skipped } = await fixture.ended(connectionId, transferId)
    const best = new Map<number, readonly [number, number, number]>()
    for (const row of rows) {
      const before = best.get(row[0])
      if (!before || (winner === 'Greatest' && row[1] > before[1])) best.set(row[0], row)
    }
    assert.deepEqual(
      [status, records.read, records.accepted, skipped.duplicates],
      ['succeeded', count, best.size, count - best.size],
    )
    const table = await fixture.target.query(`select id, score, at from ${winner} order by id`)
    assert.deepEqual(
      table.rows.map(({ id, score, at }) => [id, score, at]),
      [...best.values()].sort(([a], [b]) => a - b),
    )
  }
})
