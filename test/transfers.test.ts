import assert from 'node:assert/strict'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { createTestDatabase } from './harness/database.ts'
import { type Fixture, localFolder, postgresql, postgresqlSecrets, startFixture } from './harness/transfers.ts'

/** Transfers from end to end: requested through the API, done by a worker, seen at the destination. */

let fixture: Fixture
before(async () => {
  fixture = await startFixture()
  await fixture.startWorker()
})
after(() => fixture.close())

describe('a transfer', () => {
  test('moves a file into a folder, and accounts for every row', async () => {
    await writeFile(
      join(fixture.folder, 'people.csv'),
      'email,city\na@example.com,Berlin\nb@example.com,"Köln, Deutz"\n',
    )
    const id = await fixture.connect(localFolder, { files: 'people.csv' }, localFolder, { subfolder: 'out' })
    const begun = await fixture.start(id)
    assert.equal(begun.status, 'queued')
    const transfer = await fixture.ended(id, begun.id)
    assert.deepEqual(transfer.error, null)
    assert.deepEqual(transfer.records, { read: 2, sent: 2, accepted: 2, rejected: 0 })
    assert.equal(transfer.status, 'succeeded')
    const [file = ''] = await readdir(join(fixture.folder, 'out'))
    const written = await readFile(join(fixture.folder, 'out', file), 'utf8')
    assert.match(written, /a@example.com,Berlin\r?\nb@example.com,"Köln, Deutz"/)
  })

  test('moves a file into a table', async () => {
    await fixture.target.query('create table people (email text primary key, city text)')
    const id = await fixture.connect(localFolder, { files: 'people.csv' }, postgresql, {
      table: 'people',
      writeMode: 'Upsert',
      keyColumns: 'email',
    })
    const transfer = await fixture.ended(id, (await fixture.start(id)).id)
    assert.deepEqual(transfer.error, null)
    assert.deepEqual((await fixture.target.query('select * from people order by email')).rows, [
      { email: 'a@example.com', city: 'Berlin' },
      { email: 'b@example.com', city: 'Köln, Deutz' },
    ])
  })
})

describe('two configurations of a connector', () => {
  test('are the two sides of a connection: from one PostgreSQL to another, with the secrets of each', async (t) => {
    const { caller, accountId, target, targetUrl } = fixture
    const other = await createTestDatabase()
    const pool = new pg.Pool({ connectionString: other.url, max: 1 })
    pool.on('error', () => {})
    t.after(async () => {
      await pool.end()
      await other.drop()
    })
    await target.query('create table orders (id integer primary key, total integer)')
    await target.query('insert into orders select n, n * 10 from generate_series(1, 25) n')
    await pool.query('create table orders (id integer primary key, total integer)')
    const of = { accountId, id: postgresql.id }
    const secretConfig = postgresqlSecrets(other.url)
    const second = await caller.expect(
      caller.call('createConnectorConfiguration', { ...of, body: { name: 'Warehouse', secretConfig } }),
    )
    const { configurationId } = second
    const query = { configurationId }
    assert.equal((await caller.expect(caller.call('checkConnector', { ...of, query }))).ok, true)
    await pool.query('create table only_there (id integer)')
    const tables = async (call: object) =>
      (await caller.expect(caller.call('discoverValues', { ...of, ...call, body: { field: 'table', role: 'Source' } })))
        .items
    assert((await tables({ query })).some(({ value }) => value === 'only_there'))
    assert(!(await tables({})).some(({ value }) => value === 'only_there'))

    const body = {
      name: 'Copy',
      srcConnectorId: postgresql.id,
      destConnectorId: postgresql.id,
      destConfigurationId: configurationId,
      srcConnectionConfig: { table: 'orders', keyColumns: 'id' },
      destConnectionConfig: { table: 'orders', writeMode: 'Upsert', keyColumns: 'id' },
    }
    const { id } = await caller.expect(caller.call('createConnection', { accountId, body }))
    await caller.expect(caller.call('updateConnectionStatus', { accountId, id, body: { action: 'activate' } }))
    const preview = await caller.expect(caller.call('previewConnection', { accountId, id, body: {} }))
    assert.deepEqual(preview.findings, [])
    const transfer = await fixture.ended(id, (await fixture.start(id)).id)
    assert.deepEqual([transfer.status, transfer.error, transfer.records.accepted], ['succeeded', null, 25])
    const { rows } = await pool.query('select count(*)::int as count, sum(total)::int as total from orders')
    assert.deepEqual(rows, [{ count: 25, total: 3250 }])
    assert.equal((await target.query('select from orders')).rowCount, 25)

    // The other way round: each side has the configuration that the connection names, not its connector's first one.
    await pool.query('insert into orders values (26, 1)')
    const [first] = (await caller.expect(caller.call('getConnectorConfiguration', of))).secretConfig
    const swap = { srcConfigurationId: configurationId, destConfigurationId: first?.configurationId ?? '' }
    await caller.expect(caller.call('updateConnection', { accountId, id, body: swap }))
    const back = await fixture.ended(id, (await fixture.start(id)).id)
    assert.deepEqual([back.status, back.error, back.records.accepted], ['succeeded', null, 26])
    assert.equal((await target.query('select from orders')).rowCount, 26)
    assert.notEqual(targetUrl, other.url)
  })
})

describe('columns that are missing', () => {
  test('break the connection alike, be they of the source or of the destination; a preview leaves it as it is', async () => {
    await writeFile(join(fixture.folder, 'plans.csv'), 'email,plan\na@example.com,basic\n')
    await fixture.target.query('create table plans (email text)')
    const { accountId, caller } = fixture
    for (const [mapping, code, previewed] of [
      [{ email: 'E-Mail' }, 'columns_do_not_fit', 422],
      [{ email: 'email', plan: 'plan' }, 'column_not_found', 200],
    ] as const) {
      const id = await fixture.connect(localFolder, { files: 'plans.csv' }, postgresql, {
        table: 'plans',
        writeMode: 'Insert',
        mapping: JSON.stringify(mapping),
      })
      const connection = () => caller.expect(caller.call('getConnection', { accountId, id }))
      assert.equal((await caller.call('previewConnection', { accountId, id, body: {} })).status, previewed)
      assert.equal((await connection()).status, 'active')
      const transfer = await fixture.ended(id, (await fixture.start(id)).id)
      assert.deepEqual([transfer.status, transfer.error?.code, transfer.attempt], ['failed', code, 1])
      assert.equal((await connection()).status, 'broken', code)
    }
  })
})
