import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { workbookOf } from '../packages/connector/test/zip.ts'
import { connectorBySlug } from './harness/fixtures.ts'
import { assertInvariants } from './harness/invariants.ts'
import { type Fixture, postgresql, startFixture } from './harness/transfers.ts'
import { until } from './harness/until.ts'

/** Uploaded files as the source of transfers, in runners and through a worker as in production. */

const fileUpload = connectorBySlug('file-upload')
let fixture: Fixture
before(async () => {
  fixture = await startFixture()
  await fixture.caller.addConnectors(fixture.accountId, fileUpload)
  await fixture.startWorker()
})
after(() => fixture.close())

const upload = async (content: string | Uint8Array<ArrayBuffer>): Promise<string> => {
  const { caller, accountId } = fixture
  const body = typeof content === 'string' ? new TextEncoder().encode(content) : content
  return (await caller.expect(caller.call('createUpload', { accountId, query: { name: 'orders.csv' }, body }))).id
}
const connect = (id: string, table: string) => fixture.connect(fileUpload, { upload: id }, postgresql, { table })
const move = async (connection: string) => fixture.ended(connection, (await fixture.start(connection)).id)

test('every row of an uploaded file is in the table or among the rejected ones', async () => {
  await fixture.target.query('create table orders (number integer primary key, email text)')
  const count = 30_000
  const lines = Array.from({ length: count }, (_, n) => `${n % 1_000 === 7 ? 'none' : n},person-${n}@example.com`)
  const connection = await connect(await upload(`number,email\n${lines.join('\n')}\n`), 'orders')
  const transfer = await move(connection)
  assert.equal(transfer.status, 'partial', JSON.stringify(transfer.error))
  const rejected = count / 1_000
  assert.deepEqual(transfer.records, { read: count, sent: count, accepted: count - rejected, rejected })
  const { rows } = await fixture.target.query('select count(*)::int as count from orders')
  assert.deepEqual(rows, [{ count: count - rejected }])
  const { caller, accountId } = fixture
  const rejects = await caller.expect(
    caller.call('listRejects', { accountId, id: connection, transferId: transfer.id }),
  )
  assert.deepEqual(
    rejects.map(({ row }) => row),
    Array.from({ length: rejected }, (_, n) => n * 1_000 + 8),
  )
  await assertInvariants(fixture.service.database.pool)
})

test('a sheet of an uploaded workbook is found, and read in a runner', async () => {
  const { caller, accountId, target } = fixture
  const cells = (...texts: string[]) => texts.map((text) => `<c t="str"><v>${text}</v></c>`).join('')
  const people = `<row>${cells('number', 'email')}</row><row><c><v>7</v></c>${cells('ada@example.com')}</row>`
  const id = await upload(new Uint8Array(workbookOf({ sheets: { Notes: `<row>${cells('x')}</row>`, People: people } })))
  const settings = { upload: id, sheet: 'People' }
  const body = { field: 'sheet', settings }
  const found = await caller.expect(caller.call('discoverValues', { accountId, id: fileUpload.id, body }))
  assert.deepEqual(
    found.items.map(({ value, kind }) => [value, kind]),
    [
      ['Notes', 'sheet'],
      ['People', 'sheet'],
    ],
  )
  await target.query('create table people (number integer, email text)')
  const transfer = await move(await fixture.connect(fileUpload, settings, postgresql, { table: 'people' }))
  assert.equal(transfer.status, 'succeeded', JSON.stringify(transfer.error))
  assert.deepEqual((await target.query('select * from people')).rows, [{ number: 7, email: 'ada@example.com' }])
})

test('a transfer fails once its file is gone, and says what to do; its worker deletes what expires', async () => {
  const id = await upload('number,email\n1,ada@example.com\n')
  await fixture.target.query('create table later (number integer, email text)')
  const connection = await connect(id, 'later')
  assert.equal((await move(connection)).status, 'succeeded')
  const { pool } = fixture.service.database
  await pool.query(`update uploads set expires_time = now() where id = $1`, [id])
  const transfer = await move(connection)
  assert.deepEqual([transfer.status, transfer.error?.code], ['failed', 'object_not_found'])
  assert.match(transfer.error?.message ?? '', /not kept any more.*Upload the file again/)
  await fixture.startWorker()
  const left = async () => (await pool.query('select from uploads where id = $1', [id])).rowCount === 0
  await until('it is deleted', left)
  assert.equal((await pool.query('select from upload_chunks where upload_id = $1', [id])).rowCount, 0)
})
