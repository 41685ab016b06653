import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { DiscoverValues } from '@penstock/wire'
import { addAccountWithConnection, localFolder } from './harness/connections.ts'
import { callerOf, connectorBySlug } from './harness/fixtures.ts'
import type { Reply } from './harness/service.ts'
import { startTestsWithInbox } from './harness/started.ts'

/** Values of settings that the service finds at the platform, through the API. */

const webhook = connectorBySlug('webhook')
const postgresql = connectorBySlug('postgresql')

const { service, inbox } = await startTestsWithInbox()
const caller = callerOf(service, await service.addOrganization())

const find = (accountId: string, body: DiscoverValues, id = localFolder.id) =>
  caller.call('discoverValues', { accountId, id, body })

function assertRefused(reply: Reply<unknown>, status: number, error: string, fields?: string[]): void {
  assert.deepEqual([reply.status, reply.error], [status, error], reply.text)
  if (fields)
    assert.deepEqual(
      reply.details.map(({ field }) => field),
      fields,
    )
}

describe('discover values', () => {
  test('lists them with the saved configuration, and keeps the answer for a while', async () => {
    const { accountId } = await addAccountWithConnection(caller, inbox.folder)
    const first = await caller.expect(find(accountId, { field: 'files' }))
    assert.ok(first.items.some(({ kind }) => kind === 'file'))
    assert.deepEqual(Object.keys(first.items[0] ?? {}), ['value', 'label', 'kind', 'type', 'key', 'required', 'rows'])
    await writeFile(join(inbox.folder, 'zz-later.csv'), 'id\n1\n')
    const has = async (body: DiscoverValues) =>
      (await caller.expect(find(accountId, body))).items.some(({ value }) => value === 'zz-later.csv')
    assert.equal(await has({ field: 'files' }), false, 'it is the answer from before')
    assert.equal(await has({ field: 'files', fresh: true }), true)
    assert.equal(await has({ field: 'files' }), true)
  })

  test('is refused as a check is, and for a setting that has no list', async () => {
    const { id: accountId } = await caller.addAccount()
    assertRefused(await find(accountId, { field: 'files' }), 409, 'connector_not_added')
    await caller.addConnectors(accountId, localFolder, webhook, postgresql)
    assertRefused(await find(accountId, { field: 'files' }), 409, 'connector_not_configured')
    assertRefused(await find(accountId, { field: 'url' }, webhook.id), 422, 'discovery_not_supported')
    assertRefused(await find(accountId, { field: 'constructor' }), 422, 'discovery_not_supported')
    assertRefused(await find(accountId, { field: 'files', role: 'Destination' }), 422, 'discovery_not_supported')
    assertRefused(await find(accountId, { field: 'table' }, postgresql.id), 400, 'invalid_request', ['body.role'])
    assertRefused(await find(accountId, { field: 'files' }, '0123456789abcdef'), 404, 'not_found')
  })

  test('says at the setting what the platform refused, and which side that is', async () => {
    const { accountId } = await addAccountWithConnection(caller, inbox.folder)
    const refused = await find(accountId, { field: 'files', q: '../' })
    assertRefused(refused, 422, 'platform_refused', ['body.settings.files'])
    assert.match(refused.details[0]?.message ?? '', /must not lead out of the folder/)
    const { cause } = refused.json.response as { cause?: { side: string; connectorId: string } }
    assert.deepEqual([cause?.side, cause?.connectorId], ['source', localFolder.id])
    assertRefused(await find(accountId, { field: 'files', cursor: '-1' }), 422, 'platform_refused')
    assertRefused(await find(accountId, { field: 'files', settings: { nothing: 'x' } }), 400, 'invalid_request', [
      'body.settings.nothing',
    ])
  })

  test('is of the sub-account alone, and needs the right to change connectors', async () => {
    const { accountId } = await addAccountWithConnection(caller, inbox.folder)
    await caller.expect(find(accountId, { field: 'files' }))
    const other = callerOf(service, await service.addOrganization())
    const body = { field: 'files' }
    assertRefused(await other.call('discoverValues', { accountId, id: localFolder.id, body }), 404, 'not_found')
  })

  test('shows values of columns only to callers that may read records', async () => {
    const organization = await service.addOrganization()
    const owner = callerOf(service, organization)
    const { accountId } = await addAccountWithConnection(owner, inbox.folder)
    const lines = ['email,Betrag,note', 'canary.of.samples@example.com,"1.001,50",x', ',2,', ',3,', ',4,']
    await writeFile(join(inbox.folder, 'samples.csv'), `${lines.join('\n')}\n`)
    const settings = { files: 'samples.csv' }
    const ask = async (token?: string) => {
      const body = { field: 'columns', settings }
      const reply = await service.call('discoverValues', {
        accountId,
        id: localFolder.id,
        token: token ?? organization.token,
        body,
      })
      assert.equal(reply.status, 200, reply.text)
      return reply
    }
    const { id: clientId, clientSecret } = await owner.expect(
      owner.call('createClient', { body: { name: 'No records', scopes: ['connectors:write'] } }),
    )
    const created = await service.call('createToken', { body: { clientId, clientSecret } })
    assert.equal(created.status, 200, created.text)
    const { accessToken } = created.response
    const audited = async () => {
      const { response } = await owner.call('listAudit', { query: { action: 'discoverValues' } })
      assert.doesNotMatch(JSON.stringify(response), /canary|1\.001/)
      return response.map(({ details }) => details)
    }
    const without = async () => {
      const { items } = (await ask(accessToken)).response
      assert.deepEqual(
        items.map((item) => [item.value, item.type, 'samples' in item]),
        [
          ['email', 'text', false],
          ['Betrag', 'text', false],
          ['note', 'text', false],
        ],
      )
    }
    await without()
    assert.deepEqual(await audited(), [])
    // Twice: from the file, and from the stored state.
    for (const times of [1, 2]) {
      const { response, text } = await ask()
      assert.doesNotMatch(text, /canary/)
      assert.deepEqual(
        response.items.map(({ samples }) => samples),
        [['xxxx….xx.xxxx…@xxxx….xxx'], ['1.001,50', '2', '3'], ['x']],
      )
      assert.deepEqual(
        await audited(),
        Array.from({ length: times }, () => ({ values: 5 })),
      )
    }
    await without()
    const { status, error } = await owner.call('discoverValues', {
      accountId,
      id: localFolder.id,
      body: { field: 'columns', settings: { files: 'nowhere.csv' } },
    })
    assert.deepEqual([status, error], [422, 'platform_refused'])
  })
})
