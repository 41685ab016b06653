import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { addAccountWithConnection, addEndedTransfer, makeInbox } from './harness/connections.ts'
import { callerOf } from './harness/fixtures.ts'
import { prepareStage } from './harness/process.ts'
import { startTestService } from './harness/service.ts'

test('penstock person finds and erases who is named on standard input', async (t) => {
  const inbox = await makeInbox()
  t.after(() => inbox.remove())
  const service = await startTestService(inbox.env)
  t.after(() => service.close())
  const baseUrl = await service.service.app.listen({ host: '127.0.0.1', port: 0 })
  const organization = await service.addOrganization()
  const caller = callerOf(service, organization)
  const connection = await addAccountWithConnection(caller, inbox.folder)
  const transferId = await addEndedTransfer(service, caller, connection, ['jane@example.com', 'john@example.com'])
  const stage = await prepareStage(t)
  const env = {
    PENSTOCK_URL: baseUrl,
    PENSTOCK_CLIENT_ID: organization.clientId,
    PENSTOCK_CLIENT_SECRET: organization.clientSecret,
    PENSTOCK_DATA_DIR: join(stage.base, 'none'),
  }
  const run = (args: string[], input?: string) =>
    stage.penstock(['person', ...args], { env, ...(input === undefined ? {} : { input }) })

  const unnamed = await run(['find'])
  assert.deepEqual([unnamed.code, unnamed.stdout], [2, ''])
  assert.match(unnamed.stderr, /standard input, one value a line/)
  const found = await run(['find', '--account', connection.accountId], 'JANE@example.com\n\n')
  assert.equal(found.code, 0, found.stderr)
  assert.match(found.stdout, new RegExp(`^Orders .*transfer ${transferId}, row 2: email is taken\n$`))
  const erased = await run(['erase'], 'jane@example.com')
  assert.equal(erased.stdout, 'Erased 1 of 2 kept records and events.\n', erased.stderr)
  assert.equal((await run(['find'], 'jane@example.com')).stdout, 'Nothing is kept about this person.\n')
  const short = await run(['erase', '--json'], 'a')
  assert.notEqual(short.code, 0)
})
