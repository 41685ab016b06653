import assert from 'node:assert/strict'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type Fixture, localFolder, postgresql, startFixture } from './harness/transfers.ts'

/** Transfers from end to end: asked for through the interface, done by a worker, seen at the destination. */

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
