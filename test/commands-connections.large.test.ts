import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { addAccountWithConnection, makeInbox } from './harness/connections.ts'
import { callerOf } from './harness/fixtures.ts'
import { prepareStage } from './harness/process.ts'
import { startTestService } from './harness/service.ts'

test('penstock connection resets the state of a connection, and says why a backfill is refused', async (t) => {
  const inbox = await makeInbox()
  t.after(() => inbox.remove())
  const service = await startTestService(inbox.env)
  t.after(() => service.close())
  const baseUrl = await service.service.app.listen({ host: '127.0.0.1', port: 0 })
  const organization = await service.addOrganization()
  const { accountId, id } = await addAccountWithConnection(callerOf(service, organization), inbox.folder)
  const stage = await prepareStage(t)
  const env = {
    PENSTOCK_URL: baseUrl,
    PENSTOCK_CLIENT_ID: organization.clientId,
    PENSTOCK_CLIENT_SECRET: organization.clientSecret,
    PENSTOCK_DATA_DIR: join(stage.base, 'none'),
  }
  const run = (...args: string[]) => stage.penstock(['connection', ...args], { env })
  const of = [id, '--account', accountId]

  const all = await run('reset', ...of)
  assert.deepEqual([all.code, all.stderr], [0, ''])
  assert.match(all.stdout, /^Forgot the cursor and the sent rows\./)
  const rows = await run('reset', ...of, '--rows', '--json')
  const state = { connectionId: id, cursor: false, rows: 0, removed: 0, mirrored: false, since: null }
  assert.deepEqual(JSON.parse(rows.stdout), state)
  const days = ['--from', '2026-01-01', '--to', '2026-01-31']
  const refused = await run('backfill', ...of, ...days)
  assert.deepEqual([refused.code, refused.stdout], [1, ''])
  assert.match(refused.stderr, /backfill of this connection is not possible/i)
  assert.match(refused.stderr, /has no days or times/)
  assert.equal((await run('backfill', ...of)).code, 2)
})
