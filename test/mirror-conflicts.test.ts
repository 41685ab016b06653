import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type Fixture, localFolder, postgresql, startFixture } from './harness/transfers.ts'

/** Two mirrors into one table would remove each other's rows. */

let fixture: Fixture
before(async () => {
  fixture = await startFixture()
})
after(() => fixture.close())

test('a second mirror into the same table does not become active, and says which one is there', async () => {
  await writeFile(join(fixture.folder, 'a.csv'), 'id\n1\n')
  const mirror = { table: 'mirrored', writeMode: 'Upsert', keyColumns: 'id', sendRows: 'Mirror' }
  const first = await fixture.connect(localFolder, { files: 'a.csv' }, postgresql, mirror)
  const other = await fixture.connect(localFolder, { files: 'a.csv' }, postgresql, { ...mirror, table: 'other' })
  const { caller, accountId } = fixture
  const change = (settings: typeof mirror) =>
    caller.call('updateConnection', { accountId, id: other, body: { destConnectionConfig: settings } })
  for (const table of ['mirrored', 'public.MIRRORED', '"mirrored"']) {
    const { status, error, text } = await change({ ...mirror, table })
    assert.deepEqual([status, error], [409, 'connection_not_ready'])
    assert(text.includes(first), 'the refusal names the first mirror')
  }
  // Any other way to send rows, and the table of no mirror, is allowed.
  await caller.expect(change({ ...mirror, sendRows: 'Changed' }))
  await caller.expect(change({ ...mirror, table: 'third' }))
})
