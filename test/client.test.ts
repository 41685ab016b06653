import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { type Client, createClient, everyEntry, everyPage } from '@penstock/client'
import { operations } from '@penstock/wire'
import { addAccountWithConnection, addEndedTransfer } from './harness/connections.ts'
import {
  callerOf,
  destination,
  destinationSecrets,
  destinationSettings,
  source,
  sourceSecrets,
  sourceSettings,
} from './harness/fixtures.ts'
import { refusal } from './harness/recorder.ts'
import { startTestsWithInbox } from './harness/started.ts'

/** The client of the API against a listening service. client-types.ts tests what its types must refuse. */

const { service, inbox } = await startTestsWithInbox()
const baseUrl = await service.service.app.listen({ host: '127.0.0.1', port: 0 })

/** A client of a separate organization, so that lists contain only what the test created. */
async function freshClient(): Promise<Client> {
  const { clientId, clientSecret } = await service.addOrganization()
  return createClient({ baseUrl, clientId, clientSecret })
}

describe('the client', { concurrency: true }, () => {
  test('has one method for each operation of the contract', () => {
    assert.deepEqual(Object.keys(createClient({ baseUrl, token: '' })).sort(), Object.keys(operations).sort())
  })

  test('creates and activates a connection, from the account on', async () => {
    const client = await freshClient()
    const { reply: account } = await client.addAccount({ body: { name: 'Acme' } })
    const accountId = account.id
    await client.addConnectors({ accountId, body: { connectorIds: [source.id, destination.id] } })
    await client.configureConnector({ accountId, id: source.id, body: { secretConfig: sourceSecrets } })
    await client.configureConnector({ accountId, id: destination.id, body: { secretConfig: destinationSecrets } })
    const { reply: made } = await client.createConnection({
      accountId,
      body: {
        name: 'Orders',
        srcConnectorId: source.id,
        destConnectorId: destination.id,
        srcConnectionConfig: sourceSettings,
        destConnectionConfig: destinationSettings,
      },
    })
    const { reply: moved } = await client.updateConnectionStatus({
      accountId,
      id: made.id,
      body: { action: 'activate' },
    })
    assert.equal(moved.status, 'active')
    const { reply: listed, total } = await client.listConnections({
      accountId,
      query: { status: 'active', q: 'orders' },
    })
    assert.deepEqual([listed, total], [[moved], 1])
    const { reply: fits } = await client.listSupportedConnectors({
      accountId,
      query: { srcConnectorId: source.id, added: true },
    })
    assert.deepEqual(
      fits.map((entry) => entry.connectorId),
      [destination.id],
    )
  })

  test('reads rejected records, replays them, and gets the active transfer when it starts another', async () => {
    const organization = await service.addOrganization()
    const client = createClient({ baseUrl, token: organization.token })
    const caller = callerOf(service, organization)
    const connection = await addAccountWithConnection(caller, inbox.folder)
    const transferId = await addEndedTransfer(service, caller, connection)
    const { reply: ended } = await client.getTransfer({ ...connection, transferId })
    assert.deepEqual([ended.status, ended.records.rejected], ['partial', 1])
    const rejects: [number | null, string][] = []
    for await (const { row, reason } of everyEntry(client, 'listRejects', { ...connection, transferId })) {
      rejects.push([row, reason])
    }
    assert.deepEqual(rejects, [[2, 'email is taken']])
    const begun = await client.replayTransfer({ ...connection, transferId, idempotencyKey: 'once' })
    assert.deepEqual([begun.already, begun.reply.trigger], [false, 'replay'])
    const active = await client.startTransfer({ ...connection, body: { confirm: true } })
    assert.deepEqual([active.already, active.reply.id], [true, begun.reply.id])
    const { reply: cancelled } = await client.cancelTransfer({ ...connection, transferId: begun.reply.id })
    assert.equal(cancelled.status, 'cancelled')
    const { reply: report } = await client.reportConnections({ accountId: connection.accountId })
    assert.deepEqual(
      report.map(({ connectionId, total }) => [connectionId, total.accepted]),
      [[connection.id, 1]],
    )
  })

  test('gives the etag that ifMatch takes, and the request’s identifier', async () => {
    const client = await freshClient()
    const { reply: account } = await client.addAccount({ body: { name: 'Before' } })
    const { etag, requestId } = await client.getAccount({ id: account.id })
    assert.match(etag ?? '', /^".+"$/)
    assert.match(requestId ?? '', /^[0-9a-f]{16}$/)
    const edited = await client.editAccount({ id: account.id, body: { name: 'After' }, ifMatch: etag })
    assert.equal(edited.reply.name, 'After')
    const stale = await refusal(client.editAccount({ id: account.id, body: { name: 'Never' }, ifMatch: etag }))
    assert.deepEqual([stale.status, stale.code], [412, 'precondition_failed'])
    assert.equal((await client.getAccount({ id: account.id })).reply.name, 'After')
  })

  test('turns a refusal into an error with all that the service said', async () => {
    const client = await freshClient()
    const error = await refusal(client.addAccount({ body: { name: '', enabled: 'yes' as unknown as boolean } }))
    assert.deepEqual([error.status, error.code], [400, 'invalid_request'])
    assert.deepEqual(error.details.map(({ field }) => field).sort(), ['body.enabled', 'body.name'])
    assert.match(error.message, /^Invalid request/)
    assert.match(error.requestId, /^[0-9a-f]{16}$/)
    assert.equal(error.retryAfterSeconds, undefined)
    const missing = await refusal(client.getAccount({ id: '0000000000000000' }))
    assert.deepEqual([missing.status, missing.code, missing.details], [404, 'not_found', []])
  })

  test('sends parameters as they are, whatever characters they hold', async () => {
    const client = await freshClient()
    const name = 'a&b=c %2F/?# ü😀'
    await client.addAccount({ body: { name } })
    assert.equal((await client.listAccounts({ query: { q: name, size: undefined } })).total, 1)
    assert.equal((await refusal(client.getAccount({ id: '../accounts' }))).code, 'not_found')
    for (const id of ['', '.', '..']) await assert.rejects(client.getAccount({ id }), TypeError)
  })
})

test('walks all pages of a list, newest first', async () => {
  const client = await freshClient()
  const made = ['one in line', 'two in line', 'three in line', 'four in line', 'five in line', 'another']
  for (const name of made) await client.addAccount({ body: { name } })
  const sizes: number[] = []
  for await (const { reply, total } of everyPage(client, 'listAccounts', { query: { q: 'in line', size: 2 } })) {
    assert.equal(total, 5)
    sizes.push(reply.length)
  }
  assert.deepEqual(sizes, [2, 2, 1])
  const names: string[] = []
  for await (const { name } of everyEntry(client, 'listAccounts', { query: { size: 4, offset: 1 } })) names.push(name)
  assert.deepEqual(names, ['five in line', 'four in line', 'three in line', 'two in line', 'one in line'])
  const none = everyEntry(client, 'listAccounts', { query: { q: 'nobody' } })
  assert.equal((await none.next()).done, true)
})

test('imports nothing that a browser lacks', () => {
  const root = new URL('..', import.meta.url)
  const files = globSync('packages/{client,wire}/src/**/*.ts', { cwd: root }).filter(
    (file) => !file.endsWith('.test.ts'),
  )
  assert(files.length > 10)
  for (const file of files) {
    const text = readFileSync(new URL(file, root), 'utf8')
    for (const [, imported] of text.matchAll(/(?:from|import) ?\(?'([^'\n]+)'/g)) {
      assert.match(imported ?? '', /^(\.{1,2}\/.+|@penstock\/wire|typebox)$/, file)
    }
  }
})
