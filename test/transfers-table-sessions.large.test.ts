import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Transfer } from '@penstock/wire'
import { startMariadb } from '../packages/connectors/test/mariadb.ts'
import { connectorBySlug } from './harness/fixtures.ts'
import { skipWithout } from './harness/programs.ts'
import { type Fixture, postgresql, startFixture } from './harness/transfers.ts'
import { until } from './harness/until.ts'

/** Many tables in one connection: they share the sessions of the runners that move them. */

const tables = 200
const shaken = 60
const kills = 12
const partsAtOnce = 4
const runnersMax = 8
/** Sessions of the runners that move tables, and of the runner that lists them and of a runner that is replaced. */
const sessionsMax = 2 * (runnersMax + 2)

let fixture: Fixture
before(async () => {
  fixture = await startFixture({ PENSTOCK_PARTS_PER_TRANSFER: String(partsAtOnce) })
  await fixture.startWorker()
})
after(() => fixture.close())

const many = (pattern: string) => ({ dataSourceType: 'Many Tables', tables: pattern })
const to = (schema: string) => ({ schema, table: '{table}', createTable: true })
const move = async (id: string): Promise<Transfer> => fixture.ended(id, (await fixture.start(id)).id)

/** Ends and counts the sessions of connectors in the target database. */
const sessionsOf = async (): Promise<number> => {
  const { rows } = await fixture.target.query(
    'select sessions::int as n from pg_stat_database where datname = current_database()',
  )
  return rows[0].n
}

const createTables = async (count: number, schema: string, arrived: string, rows: number) => {
  await fixture.target.query(`create schema ${schema}; create schema ${arrived};
    do $$ begin
      for n in 1..${count} loop
        execute format('create table ${schema}.t%s (id int primary key, text text)', n);
        execute format('insert into ${schema}.t%s select g, %L from generate_series(1, ${rows}) g', n, 'x');
      end loop;
    end $$`)
}
const arrivedRows = async (schema: string): Promise<number> => {
  const { rows } = await fixture.target.query(
    `select sum((xpath('/row/n/text()', query_to_xml(format('select count(distinct id) as n from %I.%I', schemaname, tablename), false, true, '')))[1]::text::int)::int as n
     from pg_tables where schemaname = $1 and tablename like 't%'`,
    [schema],
  )
  return rows[0].n
}

describe('sessions of many tables', () => {
  test(`${tables} tables of PostgreSQL do not open a session for each table`, async (t) => {
    await createTables(tables, 'small', 'arrived', 10)
    const id = await fixture.connect(postgresql, many('small.*'), postgresql, to('arrived'))
    const before = await sessionsOf()
    const begun = performance.now()
    const transfer = await move(id)
    const seconds = (performance.now() - begun) / 1000
    assert.deepEqual([transfer.status, transfer.error, transfer.records.accepted], ['succeeded', null, tables * 10])
    // The server counts a session shortly after it began.
    const sessions = (await sessionsOf()) - before
    assert(sessions <= sessionsMax, `${sessions} sessions were opened`)
    assert.equal(await arrivedRows('arrived'), tables * 10)
    await until('the sessions are closed', async () => {
      const { rows } = await fixture.target.query(
        `select count(*)::int as n from pg_stat_activity where datname = current_database() and application_name like 'penstock%'`,
      )
      return rows[0].n === 0 ? true : undefined
    })
    t.diagnostic(`${sessions} sessions, ${seconds.toFixed(1)} s`)
  })

  test('sessions that the server ends are replaced, and no row is lost or sent twice', async (t) => {
    await createTables(shaken, 'shaken', 'settled', 50)
    const id = await fixture.connect(postgresql, many('shaken.*'), postgresql, to('settled'))
    const { id: transferId } = await fixture.start(id)
    let ended = 0
    let moved = 0
    const transfer = await until(
      'the transfer has ended, while the server ends sessions',
      async () => {
        const now = await fixture.get(id, transferId)
        if (now.finishedTime !== null) return now
        if (ended >= kills || now.records.accepted === moved) return undefined
        moved = now.records.accepted
        const { rows } = await fixture.target.query(
          `select count(*) filter (where pg_terminate_backend(pid))::int as n from pg_stat_activity
           where datname = current_database() and application_name like 'penstock%' and state = 'idle'`,
        )
        ended += rows[0].n
        return undefined
      },
      120_000,
    )
    assert.deepEqual([transfer.status, transfer.error], ['succeeded', null])
    assert.equal(transfer.records.accepted, shaken * 50)
    assert.equal(await arrivedRows('settled'), shaken * 50)
    assert(ended > 0, 'no session was ended')
    t.diagnostic(`${ended} sessions were ended`)
  })
})

const mariadb = await startMariadb()

describe('sessions of many tables of MariaDB', { skip: skipWithout('mariadbd') }, () => {
  after(() => mariadb?.stop())

  test('are shared, and keep no settings of the table before', async (t) => {
    assert(mariadb)
    const { caller, accountId, target } = fixture
    const mysql = connectorBySlug('mysql')
    await caller.addConnectors(accountId, mysql)
    const secretConfig = { ...mariadb.secrets } as Record<string, string | number>
    await caller.expect(caller.call('configureConnector', { accountId, id: mysql.id, body: { secretConfig } }))
    await mariadb.administer('alter database penstock character set utf8mb4')
    for (let n = 1; n <= 40; n += 1) {
      await mariadb.query(
        `create table t${n} (id int primary key, text varchar(20), at timestamp) character set utf8mb4`,
      )
      await mariadb.query(`insert into t${n} values (1, 'ä😀', '2026-01-01 12:00:00'), (2, null, null)`)
    }
    const connections = async () => {
      const [row] = await mariadb.query<{ Value: string }>(`show global status like 'Connections'`)
      return Number(row?.Value)
    }
    await target.query('create schema from_mariadb')
    const before = await connections()
    const there = await fixture.connect(mysql, many('t*'), postgresql, to('from_mariadb'))
    const first = await move(there)
    assert.deepEqual([first.status, first.error, first.records.accepted], ['succeeded', null, 80])
    const found = await target.query('select id, text, at::text from from_mariadb.t40 order by id')
    assert.deepEqual(found.rows, [
      { id: 1, text: 'ä😀', at: '2026-01-01 12:00:00+00' },
      { id: 2, text: null, at: null },
    ])
    const back = await fixture.connect(postgresql, many('from_mariadb.*'), mysql, {
      table: 'back_{table}',
      createTable: true,
    })
    const second = await move(back)
    assert.deepEqual([second.status, second.error, second.records.accepted], ['succeeded', null, 80])
    const opened = (await connections()) - before
    assert(opened <= sessionsMax + 2, `${opened} connections were opened`)
    assert.deepEqual(await mariadb.query('select text from back_t17 where id = 1'), [{ text: 'ä😀' }])
    t.diagnostic(`${opened} connections`)
  })
})
