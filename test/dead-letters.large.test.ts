import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { startDueRejects } from '../packages/server/src/transfers/supervisor/due-rejects.ts'
import { runnersOf } from './harness/children.ts'
import { connectorBySlug } from './harness/fixtures.ts'
import { assertInvariants } from './harness/invariants.ts'
import { type Fixture, localFolder, postgresql, startFixture } from './harness/transfers.ts'
import { until } from './harness/until.ts'

/** Rejected records of a connection in a store: each once, through a worker and runners as in production. */

const rejected = connectorBySlug('rejected-records')
let fixture: Fixture
before(async () => {
  fixture = await startFixture({ PENSTOCK_REJECTS: '300' })
  await fixture.caller.addConnectors(fixture.accountId, rejected)
  await fixture.target.query('create table people (number integer primary key, email text not null)')
  await fixture.startWorker()
})
after(async () => {
  await assertInvariants(fixture.service.database.pool)
  await fixture.close()
})

const columns = `rejected_time timestamptz, connection_id text, connection_name text, transfer_id text, number integer,
  source_row bigint, source_file text, source_line bigint, records integer, field text, reason text, record jsonb, whole boolean`

/** Writes a file in which `bad` rows have no number. */
const write = (name: string, good: number, bad: number) => {
  const lines = [...Array(good + bad).keys()].map((i) => `${i < bad ? `none-${i}` : i},person-${i}@example.com`)
  return writeFile(join(fixture.folder, name), `number,email\n${lines.join('\n')}\n`)
}
const feed = (file: string) =>
  fixture.connect(localFolder, { files: file }, postgresql, {
    table: 'people',
    writeMode: 'Upsert',
    keyColumns: 'number',
  })
const keep = async (connection: string, table: string) => {
  await fixture.target.query(`create table ${table} (${columns})`)
  return fixture.connect(rejected, { connection }, postgresql, { table })
}
const move = async (connection: string) => fixture.ended(connection, (await fixture.start(connection)).id)
const due = () =>
  startDueRejects({ database: fixture.service.database, catalogue: fixture.service.service.deps.catalogue })
const transfersOf = (id: string) =>
  fixture.caller.expect(fixture.caller.call('listTransfers', { accountId: fixture.accountId, id }))
/** Waits until nothing is due, and every transfer of the connection has ended. */
const settled = (id: string, count: number) =>
  until('all transfers of rejected records have ended', async () => {
    await due()
    const all = await transfersOf(id)
    return all.length >= count && all.every(({ finishedTime }) => finishedTime !== null) ? all : undefined
  })
const rowsOf = async (table: string) =>
  (await fixture.target.query(`select * from ${table} order by transfer_id, number`)).rows

describe('rejected records in a store', () => {
  test('come once for each transfer, with their values, without a schedule', async () => {
    await write('a.csv', 20, 3)
    const id = await feed('a.csv')
    const store = await keep(id, 'letters')
    const first = await move(id)
    assert.deepEqual([first.status, first.records.rejected], ['partial', 3])
    const [sent] = await settled(store, 1)
    assert.deepEqual([sent?.status, sent?.trigger, sent?.records.accepted], ['succeeded', 'rejects', 3])
    const rows = await rowsOf('letters')
    assert.deepEqual(
      rows.map(
        ({ transfer_id, connection_name, number, source_row, source_file, source_line, records, record, whole }) => [
          transfer_id,
          connection_name,
          number,
          Number(source_row),
          source_file,
          Number(source_line),
          records,
          record,
          whole,
        ],
      ),
      [0, 1, 2].map((i) => [
        first.id,
        'Orders',
        i + 1,
        i + 1,
        'a.csv',
        i + 2,
        1,
        { number: `none-${i}`, email: `person-${i}@example.com` },
        true,
      ]),
    )
    assert.match(rows[0].reason, /^"none-0" is not a number/)
    await due()
    assert.equal((await transfersOf(store)).length, 1, 'nothing is due any more')
    const { caller, accountId } = fixture
    const stores = await caller.expect(caller.call('listConnectionDetails', { accountId, query: { rejectsOf: id } }))
    assert.deepEqual(
      stores.map((one) => one.id),
      [store],
    )

    const second = await move(id)
    await settled(store, 2)
    const all = await rowsOf('letters')
    assert.deepEqual([all.length, new Set(all.map(({ transfer_id }) => transfer_id)).size], [6, 2])
    assert.equal(all.filter(({ transfer_id }) => transfer_id === second.id).length, 3)
  })

  test('come once although runners are killed in the middle, and say how many are not kept', async () => {
    await write('b.csv', 10, 500)
    const id = await feed('b.csv')
    const store = await keep(id, 'killed_letters')
    const session = await fixture.target.connect()
    await session.query('begin')
    await session.query('lock table killed_letters in access exclusive mode')
    const { id: main } = await move(id)
    await due()
    // The writer waits for the lock: the runner dies with an open transaction.
    await until('the writer waits', async () => {
      const { rows } = await fixture.target.query(
        `select from pg_locks l join pg_class c on c.oid = l.relation where c.relname = 'killed_letters' and not l.granted`,
      )
      return rows.length > 0
    })
    for (const pid of runnersOf(process.pid)) process.kill(pid, 'SIGKILL')
    await session.query('commit')
    session.release()
    const [transfer] = await settled(store, 1)
    assert.deepEqual(
      [transfer?.status, transfer?.records.accepted],
      ['succeeded', 301],
      JSON.stringify(transfer?.error),
    )
    assert(Number(transfer?.attempt) > 1, 'another attempt continued')
    const rows = await rowsOf('killed_letters')
    assert.equal(rows.length, 301)
    assert.deepEqual(
      rows.slice(0, 300).map(({ number }) => number),
      Array.from({ length: 300 }, (_, i) => i + 1),
    )
    const last = rows.at(-1)
    assert.deepEqual([last.transfer_id, last.number, last.records, last.whole], [main, null, 200, false])
    assert.match(last.reason, /200 more records were rejected than are kept/)
  })

  test('never fail the connection that rejected them; a store that cannot be reached gets them later', async () => {
    await write('c.csv', 5, 2)
    const id = await feed('c.csv')
    const store = await keep(id, 'late_letters')
    await fixture.target.query('alter table late_letters rename to elsewhere')
    const main = await move(id)
    assert.equal(main.status, 'partial')
    const [failed] = await settled(store, 1)
    assert.equal(failed?.status, 'failed')
    await due()
    assert.equal((await transfersOf(store)).length, 1, 'the next one waits')
    await fixture.target.query('alter table elsewhere rename to late_letters')
    const activate = { accountId: fixture.accountId, id: store, body: { action: 'activate' } } as const
    await fixture.caller.expect(fixture.caller.call('updateConnectionStatus', activate))
    await move(store)
    assert.equal((await rowsOf('late_letters')).length, 2)
  })

  test('are not read of a connection that reads rejected records itself, or of another sub-account', async () => {
    const { caller, accountId } = fixture
    await write('d.csv', 1, 1)
    const store = await keep(await feed('d.csv'), 'looped')
    for (const connection of [store, '0123456789abcdef']) {
      const body = { srcConnectionConfig: { connection } }
      const preview = await caller.call('previewConnection', { accountId, id: store, body })
      assert.match(preview.text, /no connection with this identifier/)
    }
    // Named by its name. If another connection has the same name, it is no longer clear which one is named.
    const named = { srcConnectionConfig: { connection: 'Orders' } }
    assert.match(
      (await caller.call('previewConnection', { accountId, id: store, body: named })).text,
      /several with this name/,
    )
    const body = { field: 'connection', role: 'Source', q: 'Orders' } as const
    const found = await caller.expect(caller.call('discoverValues', { accountId, id: rejected.id, body }))
    const ids = found.items.map(({ value }) => value)
    assert(ids.length >= 3 && !ids.includes(store), ids.join())
  })
})
