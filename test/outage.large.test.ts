import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { type OperationId, operations } from '@penstock/wire'
import { openDatabase } from '../packages/server/src/db/database.ts'
import { endClient } from '../packages/server/src/organizations/credentials.ts'
import { generateMasterKey } from '../packages/server/src/secrets/seal.ts'
import { answerWith, createCredential } from './harness/authenticator.ts'
import { createTestDatabase, holdLock } from './harness/database.ts'
import { anyFile, callerOf, destination, source, sourceSecrets } from './harness/fixtures.ts'
import { startProxy, type Way } from './harness/proxy.ts'
import { type CallOptions, type Reply, startServiceOn, type TestService } from './harness/service.ts'
import { bounded, until } from './harness/until.ts'
import { addPerson, type Person } from './harness/users.ts'

/** Responses while the database is unavailable, and the automatic recovery afterwards. */

/** Longest time until a caller must be told that the database is away. */
const answerWithinMs: Record<Exclude<Way, 'open' | 'held'>, number> = { closed: 15_000, reset: 15_000, silent: 45_000 }
const backWithinMs = 60_000

/** A service that reaches its database by a way that the test can obstruct, and the test by another. */
async function prepare(t: TestContext) {
  // Whatever fails, what was opened by then is closed, in the reverse order: an open handle would keep the file from ending.
  const opened = new AsyncDisposableStack()
  t.after(() => opened.disposeAsync())
  const testDatabase = await createTestDatabase()
  opened.defer(testDatabase.drop)
  const direct = openDatabase({ url: testDatabase.url, poolSize: 2 })
  opened.defer(direct.close)
  const proxy = await startProxy(testDatabase.url)
  opened.defer(proxy.close)
  const env = { PENSTOCK_MASTER_KEY: generateMasterKey() }
  const service = await startServiceOn(proxy.url, env)
  opened.defer(service.close)
  // Before the service, which would wait for a database that is silent.
  opened.defer(proxy.close)
  const organization = await service.addOrganization()
  return { testDatabase, proxy, service, direct, organization, env, caller: callerOf(service, organization) }
}

function assertUnavailable(reply: Reply<unknown>): void {
  assert.equal(reply.status, 503, reply.text)
  assert.equal(reply.error, 'unavailable')
  assert.match(reply.headers['retry-after'] ?? '', /^[1-9]\d*$/)
  assert.match(reply.json.statusMessage, /Retry-After/)
}

const look = async (service: TestService, path: string) => service.send({ method: 'GET', path })

/** Operations that need at most the token from the database, which can be cached. They are answered without a database. */
const answeredWithoutDatabase: readonly OperationId[] = [
  'getConnectorDefinition',
  'listConnectorWords',
  'requestPasswordReset',
  'startPasskeySignIn',
]

/** One good call of every operation. */
function callsOfAll(
  { id, headers, email, password }: Person,
  { clientId, clientSecret }: { clientId: string; clientSecret: string },
  accountId: string,
  connectionId: string,
): { [I in OperationId]: CallOptions<I> } {
  const account = { id: accountId }
  const connector = { accountId, id: source.id }
  const connection = { accountId, id: connectionId }
  const transfer = { ...connection, transferId: '0123456789abcdef' }
  const person = { token: undefined, headers: { ...headers } }
  const user = { id: Buffer.from(id).toString('base64url') }
  const passkey = createCredential({ rp: { id: 'penstock.test' }, user, challenge: 'AAAA' })
  const body = { name: 'New', srcConnectorId: source.id, destConnectorId: destination.id }
  return {
    createToken: { body: { clientId, clientSecret } },
    listConnectors: { accountId },
    addConnectors: { accountId, body: { connectorIds: [source.id] } },
    listAddedConnectors: { accountId },
    listSupportedConnectors: { accountId, query: { srcConnectorId: source.id } },
    getConnector: connector,
    listConnectorConfigurations: { accountId },
    getConnectorConfiguration: connector,
    getConnectorDefinition: { id: source.id },
    listConnectorWords: {},
    configureConnector: { ...connector, body: { secretConfig: sourceSecrets } },
    createConnectorConfiguration: { ...connector, body: { name: 'Second' } },
    deleteConnectorConfiguration: { ...connector, query: { configurationId: '0123456789abcdef' } },
    removeConnector: connector,
    getAccount: account,
    listAccounts: {},
    listAccountFigures: {},
    getUsage: {},
    addAccount: { body: { name: 'New' } },
    editAccount: { ...account, body: { name: 'New' } },
    deleteAccount: account,
    listConnections: { accountId },
    listConnectionDetails: { accountId },
    listConnectionLabels: { accountId },
    listConnectionTags: { accountId },
    getConnectionLabels: connection,
    setConnectionLabels: { ...connection, body: { tags: ['production'] } },
    listSavedFilters: person,
    createSavedFilter: { ...person, body: { name: 'New', query: 'q=a' } },
    updateSavedFilter: { ...person, id: clientId, body: { name: 'New' } },
    deleteSavedFilter: { ...person, id: clientId },
    listMappingTemplates: {},
    createMappingTemplate: { body: { name: 'New', accountId: null, destConnectorId: clientId, mapping: '{}' } },
    getMappingTemplate: { id: clientId },
    updateMappingTemplate: { id: clientId, body: { name: 'New' } },
    deleteMappingTemplate: { id: clientId },
    applyMappingTemplate: { id: clientId, body: { columns: ['a'] } },
    createConnection: { accountId, body },
    updateConnection: { ...connection, body: { name: 'New' } },
    updateConnectionStatus: { ...connection, body: { action: 'disable' } },
    deleteConnection: connection,
    restoreConnection: connection,
    getConnection: connection,
    listConnectionEvents: connection,
    listAttention: { accountId },
    getConnectorAuthorization: connector,
    authorizeConnector: connector,
    checkConnector: connector,
    discoverValues: { ...connector, body: { field: 'bucketUri' } },
    askSource: { ...connector, body: {} },
    tryDestination: { ...connector, body: { rows: [{ a: 'b' }] } },
    previewConnection: { ...connection, body: {} },
    startTransfer: { ...connection, body: {} },
    listAllTransfers: { accountId },
    listTransfers: connection,
    getTransfer: transfer,
    cancelTransfer: transfer,
    listTransferLog: transfer,
    listTransferParts: transfer,
    listRejects: transfer,
    findDataSubject: { accountId, body: { values: ['jane.doe@example.com'] } },
    eraseDataSubject: { accountId, body: { values: ['jane.doe@example.com'] } },
    listErasureDestinations: { accountId },
    eraseAtDestination: { ...connector, body: { identifiers: [{ kind: 'email', value: 'jane.doe@example.com' }] } },
    getReplayable: transfer,
    replayTransfer: transfer,
    retryTransfer: transfer,
    editRejects: { ...transfer, body: { edits: [{ number: 1, record: {} }] } },
    listSchedules: { accountId },
    getSchedule: connection,
    setSchedule: { ...connection, body: { cron: '0 6 * * *' } },
    deleteSchedule: connection,
    getDrift: connection,
    listConnectionTables: connection,
    setConnectionTables: { ...connection, body: { tables: ['shop.t001'], paused: true } },
    getConnectionRules: connection,
    setConnectionRules: { ...connection, body: { rules: [] } },
    setDrift: { ...connection, body: { drift: 'stop' } },
    getRunConditions: connection,
    setRunConditions: { ...connection, body: { runAfter: [] } },
    listPurposes: { accountId },
    setPurposes: { accountId, body: { purposes: [] } },
    listTransferGroups: { accountId },
    setTransferGroups: { accountId, body: { groups: [] } },
    listTriggers: connection,
    createTrigger: { ...connection, body: { name: 'Job' } },
    deleteTrigger: connection,
    getConnectionState: connection,
    resetConnectionState: { ...connection, body: { rows: true } },
    reportAccounts: {},
    reportConnections: { accountId },
    reportAudiences: { accountId },
    listAlertRules: {},
    createAlertRule: { body: { name: 'New', conditions: { transferFailed: true } } },
    getAlertRule: { id: clientId },
    updateAlertRule: { id: clientId, body: { name: 'New' } },
    deleteAlertRule: { id: clientId },
    muteAlertRule: { id: clientId, body: { until: null } },
    testAlertRule: { id: clientId },
    listAlertIncidents: {},
    getStream: connection,
    getStreamEvents: connection,
    sendTestEvent: connection,
    createStreamKey: connection,
    deleteStreamKey: connection,
    listUploads: { accountId },
    createUpload: { accountId, query: { name: 'people.csv' }, body: anyFile },
    getUpload: connection,
    deleteUpload: connection,
    getSample: { accountId },
    createSample: { accountId, body: { uploadId: connectionId } },
    deleteSample: { accountId },
    previewSample: { accountId },
    getAlertIncident: { id: clientId },
    acknowledgeAlertIncident: { id: clientId },
    listClients: {},
    getClient: { id: clientId },
    createClient: { body: { name: 'New' } },
    renameClient: { id: clientId, body: { name: 'New' } },
    rotateClient: { id: clientId, body: {} },
    revokeClient: { id: clientId },
    createSession: { body: { accountId, scopes: ['connections:read'] } },
    listWebhooks: {},
    createWebhook: { body: { url: 'http://127.0.0.1:1/' } },
    getWebhook: { id: clientId },
    updateWebhook: { id: clientId, body: { description: 'New' } },
    deleteWebhook: { id: clientId },
    rotateWebhookSecret: { id: clientId, body: {} },
    testWebhook: { id: clientId },
    replayWebhook: { id: clientId, body: { since: 1 } },
    listWebhookDeliveries: { id: clientId },
    getWebhookDelivery: { id: clientId },
    replayWebhookDelivery: { id: clientId },
    createConnectLink: { body: { accountId, connectorIds: [source.id] } },
    listConnectLinks: {},
    getConnectLink: { id: clientId },
    revokeConnectLink: { id: clientId },
    getConnectPage: { body: { token: 'unknown' } },
    openConnectPage: { body: { token: 'unknown' } },
    finishConnectPage: { body: { token: 'unknown', outcome: 'cancelled' } },
    getBranding: {},
    setBranding: { body: {} },
    getSingleSignOn: {},
    setSingleSignOn: {
      body: { issuer: 'http://127.0.0.1:1', clientId: 'client', clientSecret: 'secret', required: false },
    },
    deleteSingleSignOn: {},
    getSignInRules: {},
    setSignInRules: { body: { secondFactorRequired: false } },
    listAudit: {},
    verifyAudit: {},
    signIn: { body: { email, password } },
    signOut: person,
    getMe: {},
    updateMe: { ...person, body: { name: 'New' } },
    changePassword: { ...person, body: { currentPassword: password, newPassword: 'another one that is good' } },
    listMySessions: person,
    endMySession: { ...person, id: clientId },
    endMySessions: person,
    startPasskeyRegistration: person,
    registerPasskey: { ...person, body: { name: 'New', response: passkey.response } },
    listMyPasskeys: person,
    removePasskey: { ...person, id: clientId },
    startPasskeySignIn: {},
    signInWithPasskey: { body: answerWith(passkey.credential, { rpId: 'penstock.test', challenge: 'AAAA' }) },
    listUsers: {},
    getUser: { id: clientId },
    inviteUser: { body: { email, role: 'viewer' } },
    resendInvitation: { id: clientId },
    updateUser: { id: clientId, body: { role: 'viewer' } },
    removeUser: { id: clientId },
    getInvitation: { body: { token: 'unknown' } },
    acceptInvitation: { body: { token: 'unknown', name: 'New', password: 'another one that is good' } },
    requestPasswordReset: { body: { email } },
    resetPassword: { body: { token: 'unknown', newPassword: 'another one that is good' } },
  }
}

describe('while the database is away', { concurrency: 3 }, () => {
  for (const [way, withinMs] of Object.entries(answerWithinMs) as [keyof typeof answerWithinMs, number][]) {
    test(`(${way}) every operation says so in time, and all is well once it is back`, async (t) => {
      const { proxy, service, organization, caller } = await prepare(t)
      const account = await caller.addAccountWithSides()
      const connection = await caller.createConnection(account.id)
      const person = await addPerson(service, organization)
      const calls = callsOfAll(person, organization, account.id, connection.id)
      // Every connection of the pool is open beforehand, so that each call meets one that breaks.
      await until('the pool is open', async () => {
        const replies = await Promise.all(Array.from({ length: 20 }, () => caller.call('listAccounts')))
        return replies.every(({ status }) => status === 200)
      })
      await proxy.set(way)
      const ask = async (operation: OperationId) => {
        const reply = await bounded(operation, caller.call(operation, calls[operation]), withinMs)
        if (!answeredWithoutDatabase.includes(operation) || reply.status !== 200) assertUnavailable(reply)
      }
      const health = async () =>
        assert.equal((await bounded('healthz', look(service, '/healthz'), withinMs)).status, 200)
      const readiness = async () => {
        const ready = await bounded('readyz', look(service, '/readyz'), withinMs)
        assert.equal(ready.status, 503)
        assert.match(ready.headers['retry-after'] ?? '', /^[1-9]\d*$/)
      }
      await Promise.all([health(), readiness(), ...Object.keys(operations).map((id) => ask(id as OperationId))])
      // By now every earlier connection was tried, so later requests need new ones.
      await Promise.all([health(), readiness(), ask('listAccounts'), ask('addAccount'), ask('createToken')])

      await proxy.set('open')
      await until('the service is ready', async () => (await look(service, '/readyz')).status === 200, backWithinMs)
      await until('it listens to other processes', () => service.service.notices.listening, backWithinMs)
      for (const operation of ['listAccounts', 'updateConnectionStatus', 'createToken'] as const) {
        const reply = await caller.call(operation, calls[operation])
        assert.equal(reply.status, 200, reply.text)
      }
      const { response } = await caller.call('getAccount', { id: account.id })
      assert.deepEqual([response.name, response.connections], ['Account', '1'], 'nothing was done meanwhile')
    })
  }

  test('the metrics are served, and do not claim to know how many transfers wait', async (t) => {
    const { proxy, service } = await prepare(t)
    const metric = async (line: RegExp) => line.exec((await look(service, '/metrics')).text)?.[1]
    const waitingTransfers = () => metric(/^penstock_transfers\{status="queued"\} (\d+)/m)
    const oldestWait = () => metric(/^penstock_transfers_oldest_wait_seconds (\d+)/m)
    const isUp = () => metric(/^penstock_database_up (\d+)/m)
    assert.deepEqual([await waitingTransfers(), await oldestWait(), await isUp()], ['0', '0', '1'])
    await proxy.set('closed')
    assert.deepEqual([await waitingTransfers(), await oldestWait(), await isUp()], [undefined, undefined, '0'])
    await proxy.set('open')
    await until('transfers are counted', async () => (await waitingTransfers()) === '0')
  })

  test('token requests are not counted as failed', async (t) => {
    const { proxy, service, organization } = await prepare(t)
    const { clientId, clientSecret } = organization
    await proxy.set('reset')
    const asks = Array.from({ length: 40 }, () => service.call('createToken', { body: { clientId, clientSecret } }))
    for (const reply of await Promise.all(asks)) assertUnavailable(reply)
    await proxy.set('open')
    const reply = await until('tokens are issued', async () => {
      const answer = await service.call('createToken', { body: { clientId, clientSecret } })
      return answer.status === 503 ? undefined : answer
    })
    assert.equal(reply.status, 200, reply.text)
  })

  test('a request whose database session is ended is answered as unavailable, and can be sent again', async (t) => {
    const { service, direct, caller, testDatabase } = await prepare(t)
    const { id } = await caller.addAccount()
    const held = await holdLock(testDatabase.url, `select from accounts where id = '${id}' for update`)
    const call = () => caller.call('editAccount', { id, body: { name: 'Renamed' } })
    const slow = call()
    const ended = await until('the request waits', async () => {
      const { rows } = await direct.pool.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and application_name = 'penstock' and wait_event_type = 'Lock'`,
      )
      return rows.length
    })
    assert.equal(ended, 1)
    assertUnavailable(await slow)
    await held[Symbol.asyncDispose]()
    assert.equal((await call()).response.name, 'Renamed')
    assert.equal((await look(service, '/readyz')).status, 200)
  })

  test('a database that only reads, as after a failover, refuses writes as unavailable and serves reads', async (t) => {
    const { direct, caller } = await prepare(t)
    const { id } = await caller.addAccount()
    const setting = (value: string) =>
      direct.pool.query(`do $$ begin
        execute format('alter database %I set default_transaction_read_only = ${value}', current_database());
        perform pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid() and application_name like 'penstock%';
      end $$`)
    await setting('on')
    await until('reads are served', async () => (await caller.call('getAccount', { id })).status === 200)
    assertUnavailable(await caller.call('editAccount', { id, body: { name: 'Renamed' } }))
    await direct.pool.query('begin read write; commit')
    await direct.pool.query('set default_transaction_read_only = off')
    await setting('off').catch(() => setting('off'))
    await until('writes are served', async () => {
      const { status } = await caller.call('editAccount', { id, body: { name: 'Renamed' } })
      return status === 200
    })
  })
})

describe('while a service cannot hear the others', { concurrency: 4 }, () => {
  const notices = 'penstock notices'
  for (const way of ['reset', 'silent'] as const) {
    test(`(${way}) it caches nothing: a client revoked and an account deleted elsewhere are gone here too`, async (t) => {
      const { proxy, service, direct, organization, env, testDatabase } = await prepare(t)
      const caller = callerOf(service, organization)
      const revoked = await service.addOrganization()
      const { id: accountId } = await caller.addAccount()
      const asRevoked = async () => (await service.call('listAccounts', { token: revoked.token })).status
      const inDeleted = async () => (await caller.call('listConnections', { accountId })).status
      for (const _ of [1, 2]) assert.deepEqual([await asRevoked(), await inDeleted()], [200, 200])

      await proxy.set(way, notices)
      await direct.transaction((tx) => endClient(tx, revoked.clientId))
      const other = await startServiceOn(testDatabase.url, env)
      t.after(() => other.close())
      assert.equal((await callerOf(other, organization).call('deleteAccount', { id: accountId })).status, 200)
      await until('the revoked client is refused', async () => (await asRevoked()) === 401)
      await until('the deleted account is gone', async () => (await inDeleted()) === 404)
      assert.equal(service.service.notices.listening, false)
      assert.equal((await caller.call('listAccounts')).status, 200)

      await proxy.set('open')
      await until('it listens again', () => service.service.notices.listening)
      assert.deepEqual([await asRevoked(), await inDeleted()], [401, 404])
      const another = await service.addOrganization()
      assert.equal((await service.call('listAccounts', { token: another.token })).status, 200)
      await direct.transaction((tx) => endClient(tx, another.clientId))
      await until('the next revocation is heard', async () => {
        return (await service.call('listAccounts', { token: another.token })).status === 401
      })
    })
  }

  test('and is closed as it gets through to the database again, it leaves no session behind', async (t) => {
    const { proxy, service, direct } = await prepare(t)
    const sessions = async (): Promise<number> => {
      const { rows } = await direct.pool.query(
        'select from pg_stat_activity where datname = current_database() and application_name = $1',
        [notices],
      )
      return rows.length
    }
    await until('it listens', async () => (await sessions()) === 1)
    await proxy.set('reset', notices)
    await until('it does not listen', () => !service.service.notices.listening)
    await proxy.set('held', notices)
    await until('it tries again', () => proxy.passing(notices) > 0)
    await bounded('the end', service.service.close(), 15_000)
    await proxy.set('open')
    await until('its connection is over', () => proxy.passing(notices) === 0)
    assert.equal(await sessions(), 0)
  })
})
