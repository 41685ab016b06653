import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { startMariadb } from '../packages/connectors/test/mariadb.ts'
import { connectorBySlug } from './harness/fixtures.ts'
import { skipWithout } from './harness/programs.ts'
import { type Fixture, localFolder, postgresql, startFixture } from './harness/transfers.ts'

/** Tables that a destination creates have the types of the source, or types that fit all first records of a file. */

let fixture: Fixture
const mariadb = await startMariadb()
before(async () => {
  fixture = await startFixture()
  await fixture.startWorker()
})
after(async () => {
  await mariadb?.stop()
  await fixture.close()
})

const typesOf = async (table: string) => {
  const { rows } = await fixture.target.query(
    `select attname as name, format_type(atttypid, atttypmod) as type from pg_attribute
      where attrelid = $1::regclass and attnum > 0 order by attnum`,
    [table],
  )
  return Object.fromEntries(rows.map(({ name, type }) => [name, type]))
}
const move = async (id: string) => fixture.ended(id, (await fixture.start(id)).id)

describe('a table that is created', () => {
  test('has the types of a table of PostgreSQL', async () => {
    const { target } = fixture
    await target.query(`create table typed (id bigint primary key, amount numeric(10, 2), any_amount numeric, born date,
      data jsonb, at timestamptz, local timestamp, share double precision, is_new boolean, code uuid, tags text[], name text)`)
    await target.query(`insert into typed values (1, 1.50, 2.125, '2026-01-31', '{"a": 1}', now(), now(), 0.1, true,
      gen_random_uuid(), '{a}', 'n')`)
    const id = await fixture.connect(postgresql, { table: 'typed' }, postgresql, {
      table: 'typed_copy',
      writeMode: 'Upsert',
      keyColumns: 'id',
      createTable: true,
    })
    const { status, error, records } = await move(id)
    assert.deepEqual([status, records.accepted], ['succeeded', 1], error?.message)
    assert.deepEqual(await typesOf('typed_copy'), await typesOf('typed'))
    const { rows } = await target.query(
      'select (select t from typed t)::text = (select c from typed_copy c)::text as same',
    )
    assert.deepEqual(rows, [{ same: true }])
  })

  test('has the types that all first records of a file have, and those that a person chose', async () => {
    const { caller, accountId } = fixture
    const file = join(fixture.folder, 'orders.csv')
    const header = 'id,zip,total,paid,day,at,note,size'
    await writeFile(
      file,
      `${header}\n1,01234,1.50,true,2026-01-31,2026-01-31T10:00:00Z,x,5\n2,99999,2,false,2026-02-01,2026-02-01T10:00:00+02:00,7,6\n`,
    )
    const id = await fixture.connect(localFolder, { files: 'orders.csv' }, postgresql, {
      table: 'orders_created',
      createTable: true,
      columnTypes: '{"size": "text"}',
    })
    const { createdColumns } = await caller.expect(caller.call('previewConnection', { accountId, id, body: {} }))
    assert.deepEqual(createdColumns?.slice(0, 3), [
      { name: 'id', type: 'bigint' },
      { name: 'zip', type: 'text' },
      { name: 'total', type: 'numeric' },
    ])
    const first = await move(id)
    assert.equal(first.status, 'succeeded', first.error?.message)
    assert.deepEqual(await typesOf('orders_created'), {
      id: 'bigint',
      zip: 'text',
      total: 'numeric',
      paid: 'boolean',
      day: 'date',
      at: 'timestamp with time zone',
      note: 'text',
      size: 'text',
    })
    await writeFile(file, `${header}\nx,1,1,true,31.02.1989,2026-01-31T10:00:00Z,x,5\n`)
    const next = await move(id)
    assert.equal(next.records.rejected, 1)
    const rejects = await caller.expect(caller.call('listRejects', { accountId, id, transferId: next.id }))
    assert.match(rejects[0]?.reason ?? '', /^"(x|31\.02\.1989)" is not /)
  })

  test('is not created with names that the database cannot have, which the preview names', async () => {
    const { target, caller, accountId } = fixture
    const long = 'a'.repeat(70)
    await writeFile(join(fixture.folder, 'names.csv'), `id,ctid,${long}\n1,2,3\n`)
    const id = await fixture.connect(localFolder, { files: 'names.csv' }, postgresql, {
      table: 'names_created',
      createTable: true,
    })
    const { findings } = await caller.expect(caller.call('previewConnection', { accountId, id, body: {} }))
    assert.deepEqual(
      findings.map(({ code, column }) => [code, column]),
      [
        ['columns_do_not_fit', 'ctid'],
        ['columns_do_not_fit', long],
      ],
    )
    const { status, error } = await move(id)
    assert.deepEqual([status, error?.code], ['failed', 'columns_do_not_fit'])
    assert.match(error?.message ?? '', /reserves the column name ctid/)
    const { rows } = await target.query(`select to_regclass('names_created') as found`)
    assert.deepEqual(rows, [{ found: null }])
  })

  test('has the types of PostgreSQL in MariaDB', { skip: mariadb ? false : skipWithout('mariadbd') }, async () => {
    assert.ok(mariadb)
    const mysql = connectorBySlug('mysql')
    const { caller, accountId, target } = fixture
    await caller.addConnectors(accountId, mysql)
    const secretConfig = { ...mariadb.secrets } as Record<string, string | number>
    await caller.expect(caller.call('configureConnector', { accountId, id: mysql.id, body: { secretConfig } }))
    await target.query(`create table passed (id bigint primary key, amount numeric(10, 2), born date, data jsonb, is_new boolean);
      insert into passed values (1, 1.50, '2026-01-31', '{"a": 1}', true)`)
    const id = await fixture.connect(postgresql, { table: 'passed' }, mysql, {
      table: 'passed',
      writeMode: 'Upsert',
      keyColumns: 'id',
      createTable: true,
    })
    const { status, error } = await move(id)
    assert.equal(status, 'succeeded', error?.message)
    const rows = await mariadb.query<Record<string, string>>(
      `select column_name as name, column_type as type from information_schema.columns where table_name = 'passed' order by ordinal_position`,
    )
    assert.deepEqual(
      rows.map(({ name, type }) => `${name} ${type}`),
      ['id bigint(20)', 'amount decimal(10,2)', 'born date', 'data longtext', 'is_new tinyint(1)'],
    )
  })
})
