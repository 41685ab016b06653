import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { generateMasterKey } from '../packages/server/src/secrets/seal.ts'
import { contentOf } from './harness/content.ts'
import { type Caller, callerOf, connectorBySlug, destination, source, sourceSecrets } from './harness/fixtures.ts'
import { startServiceOn, startTestService, type TestService } from './harness/service.ts'

/** Two deployments on one database: resources of one can be read in the other, and changed only in their own. */

let production: TestService
let staging: TestService
let inProduction: Caller
let inStaging: Caller
let accountId: string
let connectionId: string
let deletedId: string
before(async () => {
  const masterKey = { PENSTOCK_MASTER_KEY: generateMasterKey() }
  production = await startTestService(masterKey)
  staging = await startServiceOn(production.databaseUrl, {
    ...masterKey,
    PENSTOCK_ENVIRONMENT: 'staging',
    PENSTOCK_PUBLIC_URL: 'https://staging.penstock.test:8443/data/',
  })
  const organization = await production.addOrganization()
  inProduction = callerOf(production, organization)
  inStaging = callerOf(staging, organization)
  accountId = (await inProduction.addAccountWithSides()).id
  await inProduction.configureSides(accountId)
  connectionId = (await inProduction.createConnection(accountId)).id
  deletedId = (await inProduction.createConnection(accountId)).id
  await inProduction.expect(inProduction.call('deleteConnection', { accountId, id: deletedId }))
})
after(async () => {
  await staging.close()
  await production.close()
})

test('an account names the environment where it was made, whichever service answers', async () => {
  const here = (await inProduction.addAccount()).env
  const there = (await inStaging.addAccount()).env
  assert.deepEqual([here.name, here.host], ['production', 'penstock.test'])
  assert.deepEqual([there.name, there.host], ['staging', 'staging.penstock.test:8443'])
  assert.match(there.id, /^[0-9a-f]{16}$/)
  assert.notEqual(here.id, there.id)
  assert.deepEqual((await inStaging.expect(inStaging.call('getAccount', { id: accountId }))).env, here)
  const listed = await inProduction.expect(inProduction.call('listAccounts'))
  assert.deepEqual(
    listed.map(({ env }) => env),
    [there, here, here],
  )
})

test('everything is read from another environment, and said to be not editable there', async () => {
  for (const [caller, editable] of [
    [inProduction, true],
    [inStaging, false],
  ] as const) {
    const connection = await caller.expect(caller.call('getConnection', { accountId, id: connectionId }))
    const [listed] = await caller.expect(caller.call('listConnections', { accountId }))
    const [added] = await caller.expect(caller.call('listAddedConnectors', { accountId }))
    const configuration = await caller.expect(caller.call('getConnectorConfiguration', { accountId, id: source.id }))
    for (const thing of [connection, listed, added, configuration]) {
      assert.deepEqual([thing?.editable, thing?.env], [editable, 'production'])
    }
  }
})

test('nothing is changed from another environment', async () => {
  const content = await contentOf(production)
  const connection = { accountId, id: connectionId }
  for (const [what, call] of Object.entries({
    editAccount: inStaging.call('editAccount', { id: accountId, body: { name: 'New' } }),
    deleteAccount: inStaging.call('deleteAccount', { id: accountId }),
    configureConnector: inStaging.call('configureConnector', {
      accountId,
      id: source.id,
      body: { secretConfig: sourceSecrets },
    }),
    removeConnector: inStaging.call('removeConnector', { accountId, id: source.id }),
    updateConnection: inStaging.call('updateConnection', { ...connection, body: { name: 'New' } }),
    activate: inStaging.call('updateConnectionStatus', { ...connection, body: { action: 'activate' } }),
    enable: inStaging.call('updateConnectionStatus', { ...connection, body: { action: 'enable' } }),
    disable: inStaging.call('updateConnectionStatus', { ...connection, body: { action: 'disable' } }),
    deleteConnection: inStaging.call('deleteConnection', connection),
    restoreConnection: inStaging.call('restoreConnection', { accountId, id: deletedId }),
  })) {
    const { status, error } = await call
    assert.deepEqual([status, error], [409, 'not_editable'], what)
  }
  assert.equal(await contentOf(production), content)
})

test('what another environment adds to an account is its own', async () => {
  const added = connectorBySlug('amazon-s3-destination')
  const { id } = await inProduction.addAccountWithSides()
  await inStaging.addConnectors(id, added, destination)
  const connection = await inStaging.createConnection(id)
  assert.deepEqual([connection.env, connection.editable], ['staging', true])
  const entries = await inStaging.expect(inStaging.call('listAddedConnectors', { accountId: id }))
  const shown = new Map(entries.map((entry) => [entry.connectorId, [entry.env, entry.editable]]))
  assert.deepEqual(shown.get(added.id), ['staging', true])
  assert.deepEqual(shown.get(destination.id), ['production', false])
  const refused = await inProduction.call('deleteConnection', { accountId: id, id: connection.id })
  assert.equal(refused.error, 'not_editable')
  await inStaging.expect(inStaging.call('deleteConnection', { accountId: id, id: connection.id }))
  await inStaging.expect(inStaging.call('removeConnector', { accountId: id, id: added.id }))
})
