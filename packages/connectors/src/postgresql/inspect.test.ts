import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import type { Row, Values } from '@penstock/connector'
import { startPostgresql } from '../../test/postgresql.ts'
import { batchOf, connectorErrorOf, deliver, inspect } from '../../test/tables.ts'
import { postgresql } from './postgresql.ts'

const server = await startPostgresql()
after(() => server.close())
const { secrets, query } = server

beforeEach(() => query('drop schema crm cascade; create schema crm'))

const columns = ['id', 'name']
const upsert = { writeMode: 'Upsert', keyColumns: 'id' }
const settingsOf = (settings: Values): Values => ({ schema: 'crm', table: 't', writeMode: 'Insert', ...settings })
type Given = { names?: readonly string[]; rows?: readonly Row[]; as?: Values }
/** Each finding as its code and its column. */
const found = async (settings: Values = {}, { names = columns, rows = [[1, 'a']], as = secrets }: Given = {}) => {
  const findings = await inspect(postgresql, { secrets: as, settings: settingsOf(settings), columns: names, rows })
  return findings.map(({ code, column }) => [code, ...(column === undefined ? [] : [column])])
}
const messages = async (settings: Values = {}, { names = columns, rows = [[1, 'a']], as = secrets }: Given = {}) =>
  (await inspect(postgresql, { secrets: as, settings: settingsOf(settings), columns: names, rows })).map(
    ({ message }) => message,
  )

describe(`inspecting PostgreSQL ${server.version}`, () => {
  test('finds a table that is missing, unless it would be created', async () => {
    assert.deepEqual(await found(), [['table_not_found']])
    assert.deepEqual(await found({ createTable: true, ...upsert }), [])
    assert.deepEqual(await found({ createTable: true, writeMode: 'Upsert', keyColumns: 'city' }), [
      ['column_not_found', 'city'],
    ])
    assert.deepEqual(await query(`select * from pg_tables where schemaname = 'crm'`), [], 'nothing was created')
  })

  test('finds all columns that are missing, generated, or needed and not delivered', async () => {
    await query(`create table crm.t (id int generated always as identity, name text generated always as ('x') stored,
                 made timestamptz not null default now(), plan text not null)`)
    assert.deepEqual(await found({}, { names: ['id', 'name', 'city', 'zip'], rows: [] }), [
      ['column_not_found', 'city'],
      ['column_not_found', 'zip'],
      ['columns_do_not_fit', 'name'],
      ['required_column_not_delivered'],
    ])
    const [city] = await messages({}, { names: ['city'], rows: [] })
    assert.equal(city, 'The table t has no column city; add what is missing, or map these columns to others.')
    assert.deepEqual(await found({}, { names: ['id', 'plan'] }), [])
  })

  test('finds what an upsert lacks, by the code with which the transfer would fail', async () => {
    await query('create table crm.t (id int, name text)')
    const attempt = deliver(postgresql, { secrets, settings: settingsOf(upsert) }, batchOf(columns, [[1, 'a']]))
    const [, code] = await connectorErrorOf(attempt)
    assert.deepEqual(await found(upsert), [[code]])
    assert.equal(code, 'key_not_unique')
    await query('alter table crm.t add primary key (id)')
    assert.deepEqual(await found(upsert), [])
  })

  test('tries the values of the records against the types of the columns, and quotes none', async () => {
    await query(`create type crm.plan as enum ('basic', 'large');
                 create table crm.t (id int, code varchar(3), plan crm.plan, tags int[], since date, raw bytea)`)
    const names = ['id', 'code', 'plan', 'tags', 'since', 'raw']
    const good: Row = [1, 'abc', 'basic', '[1, 2]', '2026-01-31', '\\x00']
    assert.deepEqual(await found({}, { names, rows: [good, [null, '', '', null, '', '']] }), [])
    const bad: Row = ['canary', 'canary', 'canary', 'canary', '2026-02-31', 'a\\canary']
    assert.deepEqual(
      (await found({}, { names, rows: [good, bad] })).map(([code, column]) => [code, column]).sort(),
      [...names].sort().map((name) => ['type_mismatch', name]),
    )
    const said = await messages({}, { names, rows: [good, bad] })
    assert.equal(JSON.stringify(said).includes('canary'), false)
    assert.ok(said.some((message) => /is not a number/.test(message)))
    assert.deepEqual(await query('select * from crm.t'), [])
  })

  test('finds each permission that is missing, and names what to grant', async () => {
    await query('create table crm.t (id int primary key, name text)')
    const user = `loader_${secrets.database}`
    await query(`create role ${user} login password 'canary-of-loader'`)
    try {
      const as = { ...secrets, user, password: 'canary-of-loader' }
      await assert.rejects(found({}, { as }), { code: 'permission_denied', message: /grant USAGE on it/ })
      await query(`grant usage on schema crm to ${user}`)
      assert.deepEqual(await messages({}, { as }), [
        'The user cannot write: grant CREATE on the schema crm.',
        'The user cannot write: grant INSERT on the table t.',
      ])
      await query(`create table crm.penstock_batches (id int); grant select on crm.penstock_batches to ${user}`)
      await query(`grant insert (id, name) on crm.t to ${user}`)
      assert.deepEqual(await messages({}, { as }), [
        'The user cannot write: grant SELECT, INSERT and UPDATE on the table crm.penstock_batches.',
      ])
      await query(`grant insert, update on crm.penstock_batches to ${user}`)
      assert.deepEqual(await messages({}, { as }), [])
      assert.deepEqual(await found(upsert, { as }), [['permission_denied']])
      await query(`grant select, insert, update on crm.t to ${user}`)
      assert.deepEqual(await messages(upsert, { as }), [])
      assert.deepEqual(await messages({ table: 'new', createTable: true }, { as }), [
        'The user cannot write: grant CREATE on the schema crm.',
      ])
    } finally {
      await query(`drop owned by ${user}; drop role ${user}`)
    }
  })
})
