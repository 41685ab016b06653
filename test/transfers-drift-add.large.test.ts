import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { queuedAgain } from './harness/standings.ts'
import { type Fixture, postgresql, startFixture } from './harness/transfers.ts'
import { until } from './harness/until.ts'

/** An attempt that ends between the table and the mapping, and the attempt that takes the transfer over. */

let fixture: Fixture
let service: pg.Client
before(async () => {
  fixture = await startFixture()
  await fixture.startWorker()
  service = new pg.Client({ connectionString: fixture.service.databaseUrl })
  await service.connect()
})
after(async () => {
  await service.end()
  await fixture.close()
})

test('columns that an attempt added to the table alone are mapped by the next one, and only by it', async () => {
  const { target, caller, accountId } = fixture
  await target.query(`create table people (id int); insert into people values (1); create table copies (id int)`)
  const id = await fixture.connect(postgresql, { table: 'people' }, postgresql, {
    table: 'copies',
    writeMode: 'Insert',
    mapping: '{"id":"id"}',
  })
  await caller.expect(caller.call('setDrift', { accountId, id, body: { drift: 'add' } }))
  await fixture.ended(id, (await fixture.start(id)).id)
  await target.query('alter table people add column age int default 3')

  const reader = await target.connect()
  try {
    await reader.query('begin; select * from copies')
    const transfer = await fixture.start(id)
    await until('the table is about to be altered', async () => {
      const { rows } = await target.query(
        `select from pg_stat_activity where wait_event_type = 'Lock' and query like '%alter table%' and pid <> pg_backend_pid()`,
      )
      return rows.length > 0
    })
    await service.query('begin')
    await service.query('select from connections where id = $1 for no key update', [id])
    await reader.query('commit')
    await until('the mapping is about to change', async () => {
      const { rows } = await target.query(
        `select from pg_stat_activity where wait_event_type = 'Lock' and query like '%with connection as%' and pid <> pg_backend_pid()`,
      )
      return rows.length > 0
    })
    const { rows: columns } = await target.query(
      `select from pg_attribute where attrelid = 'copies'::regclass and attnum > 0`,
    )
    assert.equal(columns.length, 2, 'the table has the column')
    await service.query(queuedAgain(), [transfer.id])
    await service.query('commit')
    const ended = await fixture.ended(id, transfer.id)
    assert.deepEqual([ended.status, ended.attempt], ['succeeded', 2], ended.error?.message)
    const connection = await caller.expect(caller.call('getConnection', { accountId, id }))
    assert.equal(connection.destConnectionConfig.mapping, '{"id":"id","age":"age"}')
    const { rows } = await target.query('select age from copies order by age nulls first')
    assert.deepEqual(rows, [{ age: null }, { age: 3 }])
    const audited = await caller.expect(caller.call('listAudit', { query: { action: 'addColumns' } }))
    assert.equal(audited.length, 1)
  } finally {
    reader.release()
  }
})
