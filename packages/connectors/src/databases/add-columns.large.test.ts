import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { Connector, Values } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import { skipWithout } from '../../../../test/harness/programs.ts'
import { startMariadb } from '../../test/mariadb.ts'
import { startPostgresql } from '../../test/postgresql.ts'
import { stagingBucket, startRedshiftServer } from '../../test/redshift-server.ts'
import { connectorErrorOf } from '../../test/tables.ts'
import { mysql } from '../mysql/mysql.ts'
import { postgresql } from '../postgresql/postgresql.ts'
import { amazonRedshiftDestination } from '../redshift/amazon-redshift-destination.ts'

/** Tables of databases get the columns that a transfer is about to send. */

const added = [
  { name: 'big', type: 'bigint unsigned' },
  { name: 'price', type: 'NUMBER(38,2)' },
  { name: 'at', type: 'timestamp with time zone' },
  { name: 'on', type: 'date' },
  { name: 'paid', type: 'boolean' },
  { name: 'doc', type: 'jsonb' },
  { name: 'a "quoted" `name`', type: "text'; drop table t; --" },
  { name: 'unknown', type: null },
]
const add = async (connector: Connector, secrets: Values, settings: Values = {}, columns = added) =>
  connector.destination?.deliver?.addColumns?.({
    ...testContext({ secrets, settings: { table: 't', writeMode: 'Insert', ...settings } }),
    added: columns,
  })

describe('PostgreSQL', async () => {
  const server = await startPostgresql()
  after(() => server.close())
  const { query, secrets } = server
  const columns = async () => {
    const rows = await query<{ name: string; type: string }>(
      `select attname as name, format_type(atttypid, atttypmod) as type from pg_attribute
        where attrelid = 'crm.t'::regclass and attnum > 0 order by attnum`,
    )
    return rows.map(({ name, type }) => `${name} ${type}`)
  }

  test('gets columns of its own types, once, by two at a time', async () => {
    await add(postgresql, secrets, { schema: 'crm' })
    await query('create table crm.t (id int not null, big text); insert into crm.t values (1, null)')
    await Promise.all([1, 2].map(() => add(postgresql, secrets, { schema: 'crm' })))
    await add(postgresql, secrets, { schema: 'crm' })
    assert.deepEqual(await columns(), [
      'id integer',
      'big text',
      'price numeric(38,2)',
      'at timestamp with time zone',
      'on date',
      'paid boolean',
      'doc jsonb',
      'a "quoted" `name` text',
      'unknown text',
    ])
  })

  test('refuses a user who does not own the table, and a name that is too long', async () => {
    const user = `guest_${process.pid}`
    await query(`create table crm.u (id int); create role ${user} login password 'guest'; grant usage on schema crm to ${user};
      grant all on crm.u to ${user}`)
    try {
      const guest = { ...secrets, user, password: 'guest' }
      const settings = { schema: 'crm', table: 'u' }
      assert.deepEqual(await connectorErrorOf(add(postgresql, guest, settings)), ['reconfigure', 'permission_denied'])
      const long = [{ name: 'ü'.repeat(40), type: null }]
      assert.equal((await connectorErrorOf(add(postgresql, secrets, settings, long)))[1], 'columns_do_not_fit')
      assert.deepEqual(await query(`select from pg_attribute where attrelid = 'crm.u'::regclass and attnum > 1`), [])
    } finally {
      await query(`drop owned by ${user}; drop role ${user}`)
    }
  })
})

describe('Redshift', async () => {
  const server = await startRedshiftServer()
  after(() => server.close())
  const { query, secrets, executed } = server
  const settings = { schema: 'crm', stagingPath: `s3://${stagingBucket}/` }

  test('gets columns of its own types, one at a time and once, by two at a time', async () => {
    await add(amazonRedshiftDestination, secrets, settings)
    await query('create table crm.t (id int not null, big varchar(9))')
    const names = added.map((column) => ({ ...column, name: column.name.toUpperCase() }))
    await Promise.all([added, names].map((columns) => add(amazonRedshiftDestination, secrets, settings, columns)))
    await add(amazonRedshiftDestination, secrets, settings)
    const rows = await query<{ name: string; type: string }>(
      `select attname as name, format_type(atttypid, atttypmod) as type from pg_attribute
        where attrelid = 'crm.t'::regclass and attnum > 0 order by attnum`,
    )
    assert.deepEqual(
      rows.map(({ name, type }) => `${name} ${type}`),
      [
        'id integer',
        'big character varying(9)',
        'price numeric(38,2)',
        'at timestamp with time zone',
        'on date',
        'paid boolean',
        'doc super',
        'a "quoted" `name` character varying(65535)',
        'unknown character varying(65535)',
      ],
    )
    assert.equal(executed.filter((text) => text.startsWith('alter table')).length, added.length - 1)
  })

  test('refuses a user who does not own the table, and a name that is too long', async () => {
    const user = `guest_${process.pid}`
    await query(`create table crm.u (id int); create role ${user} login password 'guest'; grant usage on schema crm to ${user};
      grant all on crm.u to ${user}`)
    try {
      const guest = { ...secrets, user, password: 'guest' }
      const denied = connectorErrorOf(add(amazonRedshiftDestination, guest, { ...settings, table: 'u' }))
      assert.deepEqual(await denied, ['reconfigure', 'permission_denied'])
      const long = [{ name: 'ü'.repeat(64), type: null }]
      const refused = connectorErrorOf(add(amazonRedshiftDestination, secrets, settings, long))
      assert.equal((await refused)[1], 'columns_do_not_fit')
    } finally {
      await query(`drop owned by ${user}; drop role ${user}`)
    }
  })
})

const mariadb = await startMariadb()
describe('MariaDB', { skip: mariadb ? false : skipWithout('mariadbd') }, () => {
  assert.ok(mariadb)
  const { query, administer, secrets } = mariadb
  after(() => mariadb.stop())

  test('gets columns of its own types, once, by two at a time', async () => {
    await add(mysql, secrets)
    await query('create table t (id int not null, BIG int)')
    await Promise.all([1, 2].map(() => add(mysql, secrets)))
    await add(mysql, secrets)
    const found = await query<{ name: string; type: string }>(
      `select column_name as name, column_type as type from information_schema.columns
        where table_schema = 'penstock' and table_name = 't' order by ordinal_position`,
    )
    assert.deepEqual(
      found.map(({ name, type }) => `${name} ${type}`),
      [
        'id int(11)',
        'BIG int(11)',
        'price decimal(38,2)',
        'at datetime(6)',
        'on date',
        'paid tinyint(1)',
        'doc longtext',
        'a "quoted" `name` longtext',
        'unknown longtext',
      ],
    )
  })

  test('refuses a user without ALTER', async () => {
    await query('create table u (id int)')
    await administer(`create user guest@'127.0.0.1' identified by 'guest'`)
    await administer(`grant select, insert on penstock.* to guest@'127.0.0.1'`)
    const guest = { ...secrets, user: 'guest', password: 'guest' }
    assert.equal((await connectorErrorOf(add(mysql, guest, { table: 'u' })))[1], 'permission_denied')
  })
})
