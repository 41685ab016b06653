import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import pg from 'pg'
import { startBigQueryServer } from '../packages/connectors/test/bigquery-server.ts'
import { startSnowflakeServer } from '../packages/connectors/test/snowflake-server.ts'
import type { EngineResult } from '../packages/connectors/test/warehouse-engine.ts'
import { bigQueryDestination, snowflakeDestination, workWith } from './harness/handover.ts'
import { assertInvariants } from './harness/invariants.ts'
import { startLogicalPostgres } from './harness/logical-postgres.ts'
import { seed } from './harness/seed.ts'
import { postgresql, postgresqlSecrets, startFixture } from './harness/transfers.ts'
import { seeded } from './simulation/random.ts'

/** Rows that leave a table of PostgreSQL leave a warehouse, too: by changes, and by a mirror. */

const server = await startLogicalPostgres()
const bigQuery = await startBigQueryServer()
const snowflake = await startSnowflakeServer()
const fixture = await startFixture()
const pool = new pg.Pool({ connectionString: server.url, max: 2 })
after(async () => {
  await fixture.close()
  await pool.end()
  await snowflake.close()
  await bigQuery.close()
  await server.stop()
})
const { caller, accountId, service } = fixture
const { masterKey } = service.config
assert(masterKey)

await caller.addConnectors(accountId, bigQueryDestination, snowflakeDestination)
for (const [{ id }, secretConfig] of [
  [postgresql, postgresqlSecrets(server.url)],
  [bigQueryDestination, { jsonKey: bigQuery.jsonKey }],
  [snowflakeDestination, snowflake.keyPair],
] as const) {
  await caller.expect(caller.call('configureConnector', { accountId, id, body: { secretConfig } }))
}
await pool.query('create schema crm')

const routes = { ...bigQuery.routes, ...snowflake.routes }
const log = (line: string) => void service.logLines.push(line)

const move = async (connectionId: string) => {
  const { id } = await fixture.start(connectionId)
  await workWith(service.database, masterKey, routes, log)
  const transfer = await fixture.get(connectionId, id)
  assert.deepEqual([transfer.status, transfer.error], ['succeeded', null])
  return transfer
}

const inSource = async (table: string) => (await pool.query(`select id, name from crm.${table} order by id`)).rows
const rowsIn = ({ rows }: EngineResult) => rows.map(([id, name]) => ({ id: Number(id), name }))

test(`changes of PostgreSQL remove rows from BigQuery, although answers are lost (PENSTOCK_TEST_SEED=${seed})`, async () => {
  const random = seeded(seed)
  await pool.query('create table crm.people (id int primary key, name text)')
  await pool.query(`insert into crm.people select i, 'n' || i from generate_series(1, 200) i`)
  await pool.query('create publication penstock for table crm.people')
  await bigQuery.run('create table crm.people (id bigint not null, name varchar)')
  await bigQuery.run(`insert into crm.people values (5000, 'of another')`)
  const connectionId = await fixture.connect(
    postgresql,
    { schema: 'crm', table: 'people', syncMode: 'Changes', publication: 'penstock', slot: 'penstock' },
    bigQueryDestination,
    { projectId: 'example-project', dataset: 'crm', table: 'people', writeMode: 'Upsert', keyColumns: 'id' },
  )
  let removed = 0
  for (let round = 0; round < 5; round++) {
    for (let change = 0; round > 0 && change < 20; change++) {
      const from = 1 + random.int(200)
      const statements = [
        `update crm.people set name = name || 'x' where id between ${from} and ${from + 9}`,
        `delete from crm.people where id between ${from} and ${from + 9}`,
        `insert into crm.people select i, 'again' from generate_series(${from}, ${from + 9}) i on conflict (id) do update set name = 'there'`,
        `update crm.people set id = id + 1000 where id between ${from} and ${from + 4}`,
      ]
      await pool.query(statements[random.int(statements.length)] ?? '').catch((error: pg.DatabaseError) => {
        // Another row has such a key.
        assert.equal(error.code, '23505')
      })
    }
    bigQuery.proxy.failure = { what: 'loses the answer', of: () => random.int(8) === 0 }
    const transfer = await move(connectionId).finally(() => {
      bigQuery.proxy.failure = undefined
    })
    removed += transfer.removed
    assert.equal(transfer.records.accepted, transfer.records.read)
    const found = rowsIn((await bigQuery.run('select id, name from crm.people order by id')) as EngineResult)
    assert.deepEqual(found, [...(await inSource('people')), { id: 5000, name: 'of another' }])
  }
  assert.ok(removed > 0)
  await assertInvariants(service.database.pool)
})

test('a mirror in Snowflake removes rows that left the source, and no others', async () => {
  await pool.query('create table crm.orders (id int primary key, name text)')
  await pool.query(`insert into crm.orders select i, 'n' || i from generate_series(1, 100) i`)
  await snowflake.run('create table "SALES"."PUBLIC"."ORDERS" (id bigint not null, name varchar not null)')
  await snowflake.run(`insert into "SALES"."PUBLIC"."ORDERS" values (5000, 'of another')`)
  const connectionId = await fixture.connect(postgresql, { schema: 'crm', table: 'orders' }, snowflakeDestination, {
    warehouse: 'load_wh',
    database: 'sales',
    schema: 'public',
    table: 'orders',
    writeMode: 'Upsert',
    keyColumns: 'id',
    sendRows: 'Mirror',
  })
  const moved = async () => {
    const { records, skipped, removed } = await move(connectionId)
    const found = rowsIn(await snowflake.run('select id, name from "SALES"."PUBLIC"."ORDERS" order by id'))
    assert.deepEqual(found, [...(await inSource('orders')), { id: 5000, name: 'of another' }])
    return [records.sent, skipped.unchanged, removed]
  }
  assert.deepEqual(await moved(), [100, 0, 0])
  await pool.query(`delete from crm.orders where id <= 20`)
  await pool.query(`update crm.orders set name = 'changed' where id = 50`)
  assert.deepEqual(await moved(), [21, 79, 20])
  await pool.query(`insert into crm.orders values (1, 'back')`)
  assert.deepEqual(await moved(), [1, 80, 0])
})
