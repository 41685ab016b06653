import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { duckdbFile } from '../packages/connector/test/duckdb-file.ts'
import { assertAccounted } from './harness/accounting.ts'
import { runnersOf } from './harness/children.ts'
import { connectorBySlug } from './harness/fixtures.ts'
import { localFolder, postgresql } from './harness/transfers.ts'
import { until } from './harness/until.ts'
import { isActive, startProcessFixture } from './harness/worker-processes.ts'

/** DuckDB databases as the source of transfers, in runners behind their walls. */

const fileUpload = connectorBySlug('file-upload')
const rows = 120_000

test('a table of a database is found and previewed, and a killed runner loses and repeats no row', async (t) => {
  const fixture = await startProcessFixture(t)
  const { caller, accountId, target, folder } = fixture
  const content = await duckdbFile(
    'CREATE TABLE other (a INTEGER)',
    `CREATE TABLE people AS SELECT i AS number, 'person-' || i || '@example.com' AS email, (i / 4)::DECIMAL(9,2) AS amount FROM range(${rows}) AS r (i)`,
  )
  await caller.addConnectors(accountId, fileUpload)
  const worker = fixture.spawnWorker()
  const query = { name: 'people.duckdb' }
  const { id: upload } = await caller.expect(
    caller.call('createUpload', { accountId, query, body: new Uint8Array(content) }),
  )
  const discover = (body: { field: string; settings: Record<string, string> }) =>
    caller.expect(caller.call('discoverValues', { accountId, id: fileUpload.id, body }))
  const tables = await discover({ field: 'sheet', settings: { upload } })
  assert.deepEqual(
    tables.items.map(({ value, kind }) => [value, kind]),
    [
      ['other', 'table'],
      ['people', 'table'],
    ],
  )
  await target.query('create table previewed (number integer, email text, amount numeric)')
  const settings = { upload, sheet: 'people' }
  const uploaded = await fixture.connect(fileUpload, settings, postgresql, { table: 'previewed' })
  const preview = await caller.expect(caller.call('previewConnection', { accountId, id: uploaded, body: {} }))
  assert.deepEqual([preview.columns, preview.rows[3]?.[2]], [['number', 'email', 'amount'], '0.75'])

  await writeFile(join(folder, 'people.duckdb'), content)
  await target.query('create table people (number integer check (number % 1000 <> 7), email text, amount numeric)')
  const from = { files: 'people.duckdb', sheet: 'people' }
  const connection = await fixture.connect(localFolder, from, postgresql, { table: 'people', writeMode: 'Insert' })
  const { id } = await fixture.start(connection)
  await until('some rows are confirmed', async () => {
    const standing = await fixture.standing(id)
    return standing.read > 0 || !isActive(standing)
  })
  for (const pid of runnersOf(worker.pid)) process.kill(pid, 'SIGKILL')
  const transfer = await fixture.ended(connection, id)
  assert.equal(transfer.status, 'partial', JSON.stringify(transfer.error))
  const rejected = rows / 1_000
  assert.deepEqual(transfer.records, { read: rows, sent: rows, accepted: rows - rejected, rejected })
  assert(transfer.attempt > 1, 'the kill hit the transfer')
  await assertAccounted(fixture, transfer)
  const found = await target.query(
    'select count(*)::int, count(distinct number)::int as numbers, sum(amount) from people',
  )
  const numbers = Array.from({ length: rows }, (_, number) => number).filter((number) => number % 1_000 !== 7)
  const sum = numbers.reduce((total, number) => total + number * 25, 0) / 100
  assert.deepEqual(found.rows, [{ count: numbers.length, numbers: numbers.length, sum: sum.toFixed(2) }])

  await writeFile(join(folder, 'broken.duckdb'), content.subarray(0, content.length >> 1))
  const broken = await fixture.connect(localFolder, { ...from, files: 'broken.duckdb' }, postgresql, {
    table: 'people',
  })
  const failed = await fixture.ended(broken, (await fixture.start(broken)).id)
  assert.deepEqual([failed.status, failed.error?.code], ['failed', 'invalid_file'])
  assert.match(failed.error?.message ?? '', /broken\.duckdb is a damaged DuckDB database/)
})
