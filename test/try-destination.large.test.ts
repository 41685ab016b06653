import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { TryDestination } from '@penstock/wire'
import { apiToken, type DescribedApi, startDescribedApi } from '../packages/connectors/test/described-api.ts'
import { localFolder } from './harness/connections.ts'
import { type Caller, callerOf, connectorBySlug } from './harness/fixtures.ts'
import { type Organization, startTestService, type TestService } from './harness/service.ts'

/** A few rows at a destination, through the API. */

const httpApi = connectorBySlug('http-api')
const people = {
  columns: { email: { type: 'text', required: true }, name: 'text' },
  batch: { rows: 10 },
  body: { people: '{{ rows }}' },
}
const definition = JSON.stringify({
  operations: {
    'by index': {
      ...people,
      path: '/by-index',
      result: { rows: { at: 'errors', index: 'entry.index', reason: '{{ entry.type }}' } },
    },
    mute: { ...people, path: '/mute' },
    missing: { ...people, path: '/nothing' },
  },
})

let service: TestService
let organization: Organization
let caller: Caller
let accountId: string
let api: DescribedApi
before(async () => {
  api = await startDescribedApi()
  service = await startTestService()
  organization = await service.addOrganization()
  caller = callerOf(service, organization)
  accountId = (await caller.addAccount()).id
  await caller.addConnectors(accountId, httpApi)
})
after(async () => {
  await api.close()
  await service.close()
})

const secretConfig = () => ({ url: `${api.url}/v1`, authentication: 'bearer token', apiToken, definition })
const call = (body: TryDestination, more: { id?: string; token?: string } = {}) =>
  service.call('tryDestination', { accountId, id: httpApi.id, token: organization.token, body, ...more })
const tried = async (operation: string, ...rows: Record<string, string | null>[]) => {
  const reply = await call({ settings: { operation }, secretConfig: secretConfig(), rows })
  assert.equal(reply.status, 200, reply.text)
  assert.doesNotMatch(reply.text, /canary/)
  return reply.response
}

describe('rows that are tried', () => {
  test('reach the API, and the answer shows the request, the answer and the result of each row', async () => {
    api.reset()
    const { exchanges, rows, error } = await tried(
      'by index',
      { email: 'a@example.com', name: 'Ann' },
      { email: 'nobody', name: null },
      { email: null, name: 'Bob' },
    )
    assert.equal(error, null)
    assert.deepEqual(
      rows.map(({ state }) => state),
      ['accepted', 'rejected', 'rejected'],
    )
    assert.match(rows[1]?.reason ?? '', /no address/)
    assert.match(rows[2]?.reason ?? '', /email/)
    const [{ request, answer } = assert.fail(), ...others] = exchanges
    assert.deepEqual(others, [])
    assert.deepEqual([request.method, request.url], ['POST', `${api.url}/v1/by-index`])
    assert.deepEqual(JSON.parse(request.text), {
      people: [{ email: 'a@example.com', name: 'Ann' }, { email: 'nobody' }],
    })
    assert.deepEqual([answer.status, answer.json], [201, true])
    assert.deepEqual([...api.people.keys()], ['a@example.com'])
  })

  test('show each half of a request that the API refuses', async () => {
    api.reset()
    const { exchanges, rows } = await tried('mute', { email: 'a@example.com' }, { email: 'nobody' })
    assert.deepEqual(
      rows.map(({ state }) => state),
      ['accepted', 'rejected'],
    )
    assert.deepEqual(
      exchanges.map(({ answer }) => answer.status),
      [400, 204, 400],
    )
  })

  test('say why they were not delivered, without the token', async () => {
    const missing = await tried('missing', { email: 'a@example.com' })
    assert.equal(missing.rows[0]?.state, 'unknown')
    assert.equal(missing.exchanges[0]?.answer.status, 404)
    assert.ok(missing.error)
    const wrong = await call({
      settings: { operation: 'mute' },
      secretConfig: { ...secretConfig(), apiToken: 'canary-of-another' },
      rows: [{ email: 'a@example.com' }],
    })
    assert.equal(wrong.response.exchanges[0]?.answer.status, 401)
    assert.doesNotMatch(wrong.text, /canary/)
    assert.equal(wrong.response.error?.code, 'invalid_credentials')
    const column = await tried('mute', { email: 'a@example.com', unknown: 'x' })
    assert.deepEqual([column.exchanges, column.rows[0]?.state], [[], 'unknown'])
    assert.match(column.error?.message ?? '', /no column unknown/)
  })

  test('are refused for a connector that cannot try, without the permission, and as too many', async () => {
    await caller.addConnectors(accountId, localFolder)
    const rows = [{ email: 'a@example.com' }]
    assert.equal((await call({ rows }, { id: localFolder.id })).status, 422)
    const { id: clientId, clientSecret } = await caller.expect(
      caller.call('createClient', { body: { name: 'Limited', scopes: ['connectors:write', 'records:read'] } }),
    )
    const { accessToken: token } = (await service.call('createToken', { body: { clientId, clientSecret } })).response
    assert.equal((await call({ settings: { operation: 'mute' }, rows }, { token })).status, 403)
    const many = Array.from({ length: 4 }, () => ({ email: 'a@example.com' }))
    assert.equal((await call({ settings: { operation: 'mute' }, rows: many })).status, 400)
  })
})
