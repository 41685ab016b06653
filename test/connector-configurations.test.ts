import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { limits } from '@penstock/wire'
import { createLink, openLink } from './harness/connect-links.ts'
import { addFolder, inboxFile, localFolder } from './harness/connections.ts'
import { contentOf } from './harness/content.ts'
import {
  callerOf,
  connectorBySlug,
  destination,
  destinationSecrets,
  source,
  sourceSecrets,
  sourceSettings,
} from './harness/fixtures.ts'
import type { Reply } from './harness/service.ts'
import { startTestsWithInbox } from './harness/started.ts'

/** Several configurations of a connector in a sub-account. */

const postgresql = connectorBySlug('postgresql')
const unknownId = 'ffffffffffffffff'

const { service, inbox } = await startTestsWithInbox({ invariants: true })
const caller = callerOf(service, await service.addOrganization())
const account = await caller.addAccountWithSides()
const accountId = account.id
await caller.configureSides(accountId)

type Values = Record<string, string | number | boolean | null>
const tryToCreate = (name: string, secretConfig?: Values, id = source.id) =>
  caller.call('createConnectorConfiguration', {
    accountId,
    id,
    body: { name, ...(secretConfig ? { secretConfig } : {}) },
  })
const create = (...of: Parameters<typeof tryToCreate>) => caller.expect(tryToCreate(...of))
const tryToRemove = (configurationId: string, id = source.id) =>
  caller.call('deleteConnectorConfiguration', { accountId, id, query: { configurationId } })
const read = (configurationId?: string, id = source.id) =>
  caller.expect(
    caller.call('getConnectorConfiguration', { accountId, id, query: configurationId ? { configurationId } : {} }),
  )
const list = (connectorId = source.id) =>
  caller.expect(caller.call('listConnectorConfigurations', { accountId, query: { connectorId } }))
const valuesOf = async (configurationId?: string, id = source.id) => {
  const { secretConfig } = await read(configurationId, id)
  assert.equal(secretConfig.length, 1)
  return Object.fromEntries((secretConfig[0]?.configuration ?? []).map(({ name, value }) => [name, value]))
}
const connect = (ids: { srcConfigurationId?: string; destConfigurationId?: string }, name = 'Connection') =>
  caller.call('createConnection', {
    accountId,
    body: {
      name,
      srcConnectorId: source.id,
      destConnectorId: destination.id,
      srcConnectionConfig: sourceSettings,
      ...ids,
    },
  })
const details = (id: string) => caller.expect(caller.call('getConnection', { accountId, id }))
const remove = async (id: string) => caller.expect(caller.call('deleteConnection', { accountId, id }))

async function assertRefused(work: () => Promise<Reply<unknown>>, status: number, error: string, field?: string) {
  const before = await contentOf(service)
  const reply = await work()
  assert.deepEqual([reply.status, reply.error], [status, error], reply.text)
  if (field !== undefined) assert.equal(reply.details[0]?.field, field, reply.text)
  assert.equal(await contentOf(service), before)
}

describe('another configuration', () => {
  test('is created beside the first one, which a caller that knows one does not notice', async () => {
    const first = await read()
    const values = await valuesOf()
    const made = await create('Staging', { ...sourceSecrets, accessKeyId: 'AKIASTAGING' })
    assert.deepEqual([made.name, made.configured], ['Staging', true])
    assert.match(made.secretName, new RegExp(`^amazon-s3-source/${accountId}/${made.configurationId}$`))
    assert.deepEqual(await read(), first)
    assert.deepEqual(await valuesOf(), values)
    const { secretConfig } = await read(made.configurationId)
    assert.deepEqual([secretConfig[0]?.configurationId, secretConfig[0]?.name], [made.configurationId, 'Staging'])
    assert.equal((await valuesOf(made.configurationId)).accessKeyId, 'AKIASTAGING')
    assert.equal((await valuesOf(made.configurationId)).secretAccessKey, '********')
    const added = await caller.expect(caller.call('listAddedConnectors', { accountId }))
    assert.equal(added.filter(({ connectorId }) => connectorId === source.id).length, 1)
    assert.deepEqual(
      (await list()).map(({ name, first, configurationId }) => [name, first, configurationId]),
      [
        ['Default', true, first.secretConfig[0]?.configurationId],
        ['Staging', false, made.configurationId],
      ],
    )
    // Without its identifier, it is the first one that is saved.
    const saved = await caller.expect(
      caller.call('configureConnector', {
        accountId,
        id: source.id,
        body: { secretConfig: { accessKeyId: 'AKIANEW' } },
      }),
    )
    assert.equal(saved.configurationId, first.secretConfig[0]?.configurationId)
    assert.equal((await valuesOf(made.configurationId)).accessKeyId, 'AKIASTAGING')
    await caller.expect(tryToRemove(made.configurationId))
  })

  test('without values waits for them, and the first one of a connector stays as it is', async () => {
    const { configurationId, configured, lastUpdated } = await create('Empty')
    assert.deepEqual([configured, lastUpdated], [false, 0])
    const save = (secretConfig: Values) =>
      caller.call('configureConnector', { accountId, id: source.id, body: { configurationId, secretConfig } })
    await assertRefused(
      () => save({ accessKeyId: 'AKIA' }),
      400,
      'invalid_request',
      'body.secretConfig.secretAccessKey',
    )
    const check = () => caller.call('checkConnector', { accountId, id: source.id, query: { configurationId } })
    await assertRefused(check, 409, 'connector_not_configured')
    assert.equal((await caller.expect(save(sourceSecrets))).configured, true)
    await caller.expect(tryToRemove(configurationId))
  })

  test('has a name of its own, to which it can be renamed', async () => {
    const { configurationId } = await create(' Live ', sourceSecrets)
    const rename = (name: string) =>
      caller.call('configureConnector', { accountId, id: source.id, body: { configurationId, name, secretConfig: {} } })
    await assertRefused(() => tryToCreate('Live', sourceSecrets), 409, 'configuration_exists', 'body.name')
    await assertRefused(() => rename('Default'), 409, 'configuration_exists', 'body.name')
    assert.equal((await caller.expect(rename('Production'))).name, 'Production')
    // Another connector has separate names.
    const other = await create('Production', destinationSecrets, destination.id)
    assert.equal(other.name, 'Production')
    await assertRefused(() => tryToCreate('', sourceSecrets), 400, 'invalid_request', 'body.name')
    await caller.expect(tryToRemove(configurationId))
    await caller.expect(tryToRemove(other.configurationId, destination.id))
  })

  test('is refused with all its errors, and then there is none', async () => {
    const incomplete = () => tryToCreate('Wrong', { accessKeyId: 'AKIA', unknown: 'x' })
    await assertRefused(incomplete, 400, 'invalid_request')
    const bare = await caller.addAccount()
    const body = { name: 'Second' }
    const create = (id: string) => caller.call('createConnectorConfiguration', { accountId: bare.id, id, body })
    await assertRefused(() => create(source.id), 409, 'connector_not_added')
    await assertRefused(() => create(unknownId), 404, 'not_found')
  })

  test('asks for its own secrets where its host changes', async () => {
    await caller.addConnectors(accountId, postgresql)
    const secrets = { host: 'one.example.com', database: 'a', user: 'a', password: 'first-password' }
    await caller.expect(
      caller.call('configureConnector', { accountId, id: postgresql.id, body: { secretConfig: secrets } }),
    )
    const second = { ...secrets, host: 'two.example.com', password: 'second-password' }
    const { configurationId } = await create('Second', second, postgresql.id)
    const move = (more: Values) =>
      caller.call('configureConnector', {
        accountId,
        id: postgresql.id,
        body: { configurationId, secretConfig: { host: 'one.example.com', ...more } },
      })
    await assertRefused(() => move({}), 400, 'invalid_request', 'body.secretConfig.password')
    await assertRefused(() => move({ password: '********' }), 400, 'invalid_request', 'body.secretConfig.password')
    await caller.expect(move({ password: 'new-password' }))
    assert.equal((await valuesOf(undefined, postgresql.id)).host, 'one.example.com')
    assert.equal((await valuesOf(configurationId, postgresql.id)).host, 'one.example.com')
    // A new one has no secrets of another: the mask keeps nothing.
    const masked = () => tryToCreate('Third', { ...secrets, password: '********' }, postgresql.id)
    await assertRefused(masked, 400, 'invalid_request', 'body.secretConfig.password')
    await caller.expect(caller.call('removeConnector', { accountId, id: postgresql.id }))
    const left = await service.database.pool.query('select from secrets where connector_id = $1', [postgresql.id])
    assert.equal(left.rowCount, 0)
  })

  test('is one of a bounded number', async () => {
    const { id } = await caller.addAccount()
    await caller.addConnectors(id, source)
    const make = (name: string) =>
      caller.call('createConnectorConfiguration', { accountId: id, id: source.id, body: { name } })
    for (let n = 2; n <= limits.configurationsOfConnectorMax; n++) await caller.expect(make(`Number ${n}`))
    await assertRefused(() => make('One more'), 409, 'quota_exceeded', 'configurations')
  })

  test('is of its connector and its sub-account alone, for every operation', async () => {
    const { configurationId: foreign } = await create('Foreign', destinationSecrets, destination.id)
    const { id: elsewhere } = await caller.addAccountWithSides()
    const other = await caller.expect(
      caller.call('createConnectorConfiguration', { accountId: elsewhere, id: source.id, body: { name: 'Elsewhere' } }),
    )
    for (const configurationId of [foreign, other.configurationId, unknownId]) {
      const of = { accountId, id: source.id, query: { configurationId } }
      const field = 'query.configurationId'
      await assertRefused(() => caller.call('getConnectorConfiguration', of), 404, 'not_found', field)
      await assertRefused(() => caller.call('deleteConnectorConfiguration', of), 404, 'not_found', field)
      await assertRefused(() => caller.call('getConnectorAuthorization', of), 404, 'not_found', field)
      await assertRefused(() => caller.call('authorizeConnector', of), 404, 'not_found', field)
      await assertRefused(() => caller.call('checkConnector', of), 404, 'not_found', field)
      const discovery = { ...of, body: { field: 'bucketUri' } }
      await assertRefused(() => caller.call('discoverValues', discovery), 404, 'not_found', field)
      const body = { configurationId, secretConfig: {} }
      const configure = () => caller.call('configureConnector', { accountId, id: source.id, body })
      await assertRefused(configure, 404, 'not_found', 'body.configurationId')
      const connecting = () => connect({ srcConfigurationId: configurationId })
      await assertRefused(connecting, 404, 'not_found', 'body.srcConfigurationId')
    }
    await caller.expect(tryToRemove(foreign, destination.id))
  })
})

describe('a connection', () => {
  test('uses the configuration that it names, and otherwise the first', async () => {
    const first = (await read()).secretConfig[0]?.configurationId
    const { configurationId } = await create('Named')
    const plain = await caller.expect(connect({}))
    const named = await caller.expect(connect({ srcConfigurationId: configurationId }))
    assert.equal((await details(plain.id)).srcConfigurationId, first)
    assert.equal((await details(named.id)).srcConfigurationId, configurationId)
    // It is not configured, whatever the first one is.
    assert.deepEqual([plain.src.configured, named.src.configured], [true, false])
    const { response } = await caller.call('listConnections', { accountId })
    const configured = new Map(response.map(({ id, src }) => [id, src.configured]))
    assert.deepEqual([configured.get(plain.id), configured.get(named.id)], [true, false])
    const activate = (id: string) =>
      caller.call('updateConnectionStatus', { accountId, id, body: { action: 'activate' } })
    await assertRefused(() => activate(named.id), 409, 'connection_not_ready', 'srcConnector')
    const attention = await caller.expect(
      caller.call('listAttention', { accountId, query: { reason: 'not_configured' } }),
    )
    assert.deepEqual(
      attention.map(({ id, notConfigured }) => [id, notConfigured]),
      [[named.id, ['source']]],
    )
    await remove(plain.id)
    await remove(named.id)
    await caller.expect(tryToRemove(configurationId))
  })

  test('keeps its configuration, and a deleted one keeps none', async () => {
    const { configurationId } = await create('Kept', sourceSecrets)
    const { id } = await caller.expect(connect({ srcConfigurationId: configurationId }))
    await assertRefused(() => tryToRemove(configurationId), 409, 'configuration_in_use', `connection.${id}`)
    await remove(id)
    assert.equal((await caller.expect(tryToRemove(configurationId))).configurationId, configurationId)
    await assertRefused(() => tryToRemove(configurationId), 404, 'not_found')
    // Its configuration is not replaced by another one.
    const restore = () => caller.call('restoreConnection', { accountId, id })
    await assertRefused(restore, 409, 'configuration_deleted', 'srcConnector')
    assert.equal((await details(id)).srcConfigurationId, configurationId)
  })

  test('that used the first one is restored with the first one of a connector that was added again', async () => {
    const { id: account } = await caller.addAccountWithSides()
    const second = await caller.expect(
      caller.call('createConnectorConfiguration', { accountId: account, id: source.id, body: { name: 'Second' } }),
    )
    const ids: string[] = []
    for (const srcConfigurationId of [undefined, second.configurationId]) {
      const body = {
        name: 'Connection',
        srcConnectorId: source.id,
        destConnectorId: destination.id,
        ...(srcConfigurationId ? { srcConfigurationId } : {}),
      }
      const { id } = await caller.expect(caller.call('createConnection', { accountId: account, body }))
      await caller.expect(caller.call('deleteConnection', { accountId: account, id }))
      ids.push(id)
    }
    await caller.expect(caller.call('removeConnector', { accountId: account, id: source.id }))
    const restore = (id = '') => caller.call('restoreConnection', { accountId: account, id })
    await assertRefused(() => restore(ids[0]), 409, 'connector_not_added')
    await assertRefused(() => restore(ids[1]), 409, 'connector_not_added')
    await caller.addConnectors(account, source)
    await caller.expect(restore(ids[0]))
    await assertRefused(() => restore(ids[1]), 409, 'configuration_deleted', 'srcConnector')
    const fresh = await caller.expect(caller.call('getConnectorConfiguration', { accountId: account, id: source.id }))
    const restored = await caller.expect(caller.call('getConnection', { accountId: account, id: ids[0] ?? '' }))
    assert.equal(restored.srcConfigurationId, fresh.secretConfig[0]?.configurationId)
  })

  test('keeps what it needs in its own configuration while it is active', async () => {
    const events = connectorBySlug('mparticle-events')
    await caller.addConnectors(accountId, events)
    const bucket = { accessKeyId: 'A', secretAccessKey: 'canary-bucket' }
    const secrets = { key: 'canary-key', secret: 'canary-secret', ...bucket }
    const clear = (configurationId?: string) =>
      caller.call('configureConnector', {
        accountId,
        id: events.id,
        body: { secretConfig: { key: null }, ...(configurationId ? { configurationId } : {}) },
      })
    await caller.expect(
      caller.call('configureConnector', { accountId, id: events.id, body: { secretConfig: secrets } }),
    )
    const { configurationId } = await create('Second', secrets, events.id)
    const body = {
      name: 'Events',
      srcConnectorId: events.id,
      destConnectorId: events.id,
      srcConfigurationId: configurationId,
      destConfigurationId: configurationId,
      srcConnectionConfig: { bucketUri: 's3://bucket/events' },
    }
    const { id } = await caller.expect(caller.call('createConnection', { accountId, body }))
    await caller.expect(caller.call('updateConnectionStatus', { accountId, id, body: { action: 'activate' } }))
    await caller.expect(clear())
    await assertRefused(() => clear(configurationId), 409, 'connection_not_ready', 'body.secretConfig.key')
  })

  test('takes another configuration, reads from the beginning then, and records it', async () => {
    await addFolder(caller, accountId, inbox.folder)
    const first = (await read(undefined, localFolder.id)).secretConfig[0]?.configurationId ?? ''
    const { configurationId } = await create('Other folder', { folder: inbox.folder }, localFolder.id)
    const body = {
      name: 'Files',
      srcConnectorId: localFolder.id,
      destConnectorId: localFolder.id,
      srcConnectionConfig: { files: inboxFile },
      destConnectionConfig: { subfolder: 'out' },
    }
    const { id } = await caller.expect(caller.call('createConnection', { accountId, body }))
    await caller.expect(caller.call('updateConnectionStatus', { accountId, id, body: { action: 'activate' } }))
    const sql = (text: string) => service.database.pool.query(text, [id])
    await sql(
      `insert into connection_states (connection_id, cursor_sealed, state_sealed, replaced) values ($1, 'a', 'b', 9)`,
    )
    const update = (change: object) => caller.call('updateConnection', { accountId, id, body: change })
    const { headers } = await caller.call('getConnection', { accountId, id })
    await caller.expect(update({ srcConfigurationId: first }))
    assert.equal((await caller.call('getConnection', { accountId, id })).headers.etag, headers.etag)
    await assertRefused(() => update({ srcConfigurationId: unknownId }), 404, 'not_found', 'body.srcConfigurationId')

    await caller.expect(update({ srcConfigurationId: configurationId }))
    assert.notEqual((await caller.call('getConnection', { accountId, id })).headers.etag, headers.etag)
    const states = await sql('select cursor_sealed, state_sealed from connection_states where connection_id = $1')
    assert.deepEqual(states.rows, [{ cursor_sealed: null, state_sealed: Buffer.from('b') }])
    await caller.expect(update({ destConfigurationId: configurationId, srcConfigurationId: first }))
    assert.equal((await sql('select from connection_states where connection_id = $1')).rowCount, 0)
    const { srcConfigurationId, destConfigurationId } = await details(id)
    assert.deepEqual([srcConfigurationId, destConfigurationId], [first, configurationId])
    const history = await caller.expect(caller.call('listConnectionEvents', { accountId, id }))
    const [latest] = history
    assert.deepEqual(
      [latest?.kind, latest?.to, latest?.changes],
      ['settings', 'Destination', [{ key: 'configurationId', from: first, to: configurationId }]],
    )
    await assertRefused(() => tryToRemove(configurationId, localFolder.id), 409, 'configuration_in_use')

    await caller.expect(caller.call('startTransfer', { accountId, id, body: {} }))
    await assertRefused(() => update({ destConfigurationId: first }), 409, 'configuration_busy')
    await caller.expect(update({ name: 'Renamed' }))
    // An active connection stays complete.
    const { configurationId: empty } = await create('No folder yet', undefined, localFolder.id)
    const active = await caller.expect(caller.call('listTransfers', { accountId, id }))
    await caller.expect(caller.call('cancelTransfer', { accountId, id, transferId: active[0]?.id ?? '' }))
    await assertRefused(() => update({ srcConfigurationId: empty }), 409, 'connection_not_ready', 'srcConnector')
  })
})

describe('the first configuration', () => {
  test('goes with its connector alone, and takes the others along', async () => {
    const { id: account } = await caller.addAccountWithSides()
    const call = { accountId: account, id: source.id }
    const body = { name: 'Second', secretConfig: sourceSecrets }
    await caller.expect(caller.call('createConnectorConfiguration', { ...call, body }))
    const [first] = await caller.expect(
      caller.call('listConnectorConfigurations', { accountId: account, query: { connectorId: source.id } }),
    )
    const configurationId = first?.configurationId ?? ''
    const removal = () => caller.call('deleteConnectorConfiguration', { ...call, query: { configurationId } })
    await assertRefused(removal, 409, 'configuration_is_first')
    await caller.expect(caller.call('removeConnector', call))
    const { rows } = await service.database.pool.query(
      'select connector_id from configurations where account_id = $1 union all select connector_id from secrets where account_id = $1',
      [account],
    )
    assert.deepEqual(rows, [{ connector_id: destination.id }])
  })
})

describe('a connect link', () => {
  test('is for the configuration that it names, and its page reaches no other', async () => {
    const { configurationId } = await create('Customer')
    const connectorIds = [source.id]
    const wrong = (configurationIds: string[]) => () =>
      caller.call('createConnectLink', { body: { accountId, connectorIds, configurationIds } })
    const destinationId = (await read(undefined, destination.id)).secretConfig[0]?.configurationId ?? ''
    await assertRefused(wrong([unknownId]), 400, 'invalid_request', 'body.configurationIds.0')
    await assertRefused(wrong([destinationId]), 400, 'invalid_request', 'body.configurationIds.0')
    const firstId = (await read()).secretConfig[0]?.configurationId ?? ''
    await assertRefused(wrong([configurationId, firstId]), 400, 'invalid_request', 'body.configurationIds.1')
    const template = {
      name: 'Of a customer',
      srcConnectorId: source.id,
      destConnectorId: destination.id,
      srcConfigurationId: destinationId,
    }
    const badTemplate = () =>
      caller.call('createConnectLink', { body: { accountId, connectorIds, connectionTemplate: template } })
    await assertRefused(badTemplate, 400, 'invalid_request', 'body.connectionTemplate.srcConfigurationId')

    const { srcConfigurationId: _, ...fitting } = template
    const link = await createLink(caller, accountId, {
      connectorIds,
      configurationIds: [configurationId],
      connectionTemplate: fitting,
    })
    const read1 = await caller.expect(caller.call('getConnectLink', { id: link.id }))
    assert.deepEqual(read1.configurationIds, [configurationId])
    const token = await openLink(service, link)
    const page = { token, accountId, id: source.id }
    const shown = await service.call('getConnectorConfiguration', page)
    assert.equal(shown.response.secretConfig[0]?.configurationId, configurationId, shown.text)
    const other = await service.call('getConnectorConfiguration', { ...page, query: { configurationId: firstId } })
    assert.deepEqual([other.status, other.error], [404, 'not_found'])
    const body = { secretConfig: { ...sourceSecrets, accessKeyId: 'AKIACUSTOMER' } }
    const intruding = await service.call('configureConnector', { ...page, body: { ...body, configurationId: firstId } })
    assert.equal(intruding.error, 'not_found')
    const saved = await service.call('configureConnector', { ...page, body })
    assert.equal(saved.response.configurationId, configurationId, saved.text)
    assert.notEqual((await valuesOf()).accessKeyId, 'AKIACUSTOMER')
    assert.equal((await valuesOf(configurationId)).accessKeyId, 'AKIACUSTOMER')
    const creating = await service.call('createConnectorConfiguration', { ...page, body: { name: 'Of a page' } })
    assert.deepEqual([creating.status, creating.error], [403, 'forbidden'])
    const finished = await service.call('finishConnectPage', { body: { token, outcome: 'completed' } })
    assert.equal(finished.status, 200, finished.text)
    const { srcConfigurationId } = await details(finished.response.connectionId ?? '')
    assert.equal(srcConfigurationId, configurationId)
  })
})
