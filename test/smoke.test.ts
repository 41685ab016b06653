import assert from 'node:assert/strict'
import { test } from 'node:test'
import { callerOf } from './harness/fixtures.ts'
import { startTests } from './harness/started.ts'

const service = await startTests()

test('a first connection: account, connectors, secrets, connection, activation', async () => {
  const caller = callerOf(service, await service.addOrganization())
  const account = await caller.addAccountWithSides('First account')
  await caller.configureSides(account.id)
  const connection = await caller.createConnection(account.id)
  assert.equal(connection.status, 'In-progress')
  const active = await caller.call('updateConnectionStatus', {
    accountId: account.id,
    id: connection.id,
    body: { action: 'activate' },
  })
  assert.equal(active.response.status, 'active', active.text)
  const listed = await caller.call('listConnections', { accountId: account.id, query: { status: 'ACTIVE' } })
  assert.equal(listed.headers['x-total-count'], '1')
  const refused = await caller.call('removeConnector', { accountId: account.id, id: connection.src.connectorId })
  assert.equal(refused.error, 'connector_in_use')
})
