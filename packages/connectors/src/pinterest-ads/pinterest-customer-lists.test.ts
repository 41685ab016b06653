import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, afterEach, beforeEach, describe, test } from 'node:test'
import type { Cell, ErrorAction } from '@penstock/connector'
import { acceptDestination, savedSecrets, type TestContextOptions, testContext } from '@penstock/connector/acceptance'
import {
  type PinterestServer,
  pinterestRoutes,
  pinterestSecrets,
  refusal,
  startPinterest,
} from '../../test/pinterest-server.ts'
import {
  assertFailure,
  batchOf,
  connectorErrorOf,
  deliverHalving,
  type Failure,
  hangOf,
  problemOf,
} from '../../test/platform-server.ts'
import { pinterestCustomerLists } from './pinterest-customer-lists.ts'

const columns = ['segment_name', 'segment_id', 'action', 'email', 'idfa']
const sha = (text: string) => createHash('sha256').update(text).digest('hex')
const change = /^PATCH .*\/customer_lists\/\d+$/
const settings = { adAccountId: '549', audienceName: 'Loyal people' }

describe('Pinterest Customer Lists, against a server that keeps to Pinterest’s OpenAPI document', () => {
  let pinterest: PinterestServer

  beforeEach(async () => {
    pinterest = await startPinterest()
  })
  afterEach(() => pinterest.close())

  const contextOf = (options: TestContextOptions = {}) =>
    testContext({ secrets: pinterestSecrets, settings, columns, routes: pinterestRoutes(pinterest.url), ...options })
  async function openWriter(options: TestContextOptions = {}) {
    const { deliver } = pinterestCustomerLists.destination ?? {}
    assert.ok(deliver)
    return deliver.open(contextOf(options))
  }
  const person = (n: number | string) => sha(`${n}@example.com`)
  const row = (n: number | string, action = 'add', name: string | null = 'Loyal', id: string | null = null): Cell[] => [
    name,
    id,
    action,
    person(n),
    null,
  ]
  const members = (at = 0) => [...(pinterest.lists[at]?.members ?? [])].sort()

  test('makes a list with its first records and an audience from it, then adds and removes', async () => {
    const device = sha('ea7583cd-a667-48bc-b806-42ecb2b48606')
    const first = batchOf(columns, [row(1), ['Loyal', null, 'add', person(2), device], row(1, 'remove'), row(3)])
    const writer = await openWriter()
    const { rejected, state, bytes } = await writer.deliver(first)
    assert.deepEqual(rejected, [])
    assert.ok(bytes > 0)
    assert.deepEqual(state, { account: '/ad_accounts/549', audiences: { Loyal: '5497558859876' } })
    await writer.deliver(batchOf(columns, [row(4), row(2, 'remove')], 2))
    const bodies = pinterest.received.filter(({ method, path }) => method !== 'GET' && path.includes('ad_accounts'))
    assert.deepEqual(
      bodies.map(({ method, path, json }) => [`${method} ${path}`, json]),
      [
        [
          'POST /v5/ad_accounts/549/customer_lists',
          { name: 'Loyal', list_type: 'EMAIL', records: [person(2), device, person(3)].join(',') },
        ],
        [
          'POST /v5/ad_accounts/549/audiences',
          { name: 'Loyal people', audience_type: 'CUSTOMER_LIST', rule: { customer_list_id: '5497558859876' } },
        ],
        ['PATCH /v5/ad_accounts/549/customer_lists/5497558859876', { operation_type: 'REMOVE', records: person(1) }],
        ['PATCH /v5/ad_accounts/549/customer_lists/5497558859876', { operation_type: 'ADD', records: person(4) }],
        ['PATCH /v5/ad_accounts/549/customer_lists/5497558859876', { operation_type: 'REMOVE', records: person(2) }],
      ],
    )
    assert.deepEqual(members(), [person(3), person(4), device].sort())
  })

  test('makes no second list or audience where an answer was lost', async () => {
    for (const name of ['A', 'B', 'C'])
      pinterest.lists.push({ id: `1${name.length}`, name, type: 'EMAIL', members: new Set() })
    for (const match of [/^POST .*customer_lists$/, /^POST .*audiences$/]) {
      pinterest.failure(match, 'reset after')
      const error = await connectorErrorOf((await openWriter()).deliver(batchOf(columns, [row(1)])), contextOf())
      assert.equal(error.action, 'retry')
    }
    await (await openWriter()).deliver(batchOf(columns, [row(1)]))
    assert.deepEqual(
      pinterest.lists.map(({ name }) => name),
      ['A', 'B', 'C', 'Loyal'],
    )
    assert.equal(pinterest.audiences.length, 1)
    assert.deepEqual(members(3), [person(1)])
  })

  test('changes the list of the audience that the connection or a row names', async () => {
    await (await openWriter()).deliver(batchOf(columns, [row(1), row(2, 'add', 'Other')]))
    const [loyal, other] = pinterest.audiences
    assert.ok(loyal && other)
    const writer = await openWriter({ settings: { ...settings, audienceId: loyal.id } })
    await writer.deliver(batchOf(columns, [row(3), row(4, 'add', 'Loyal', other.id)]))
    assert.deepEqual(members(0), [person(1), person(3)].sort())
    assert.deepEqual(members(1), [person(2), person(4)].sort())
    const strange = (await openWriter()).deliver(batchOf(columns, [row(5, 'add', 'Loyal', '999')]))
    assert.equal((await connectorErrorOf(strange, contextOf())).code, 'object_not_found')
    loyal.rule = { visitor_source_id: ['1'] }
    const engaged = (await openWriter()).deliver(batchOf(columns, [row(5, 'add', 'Loyal', loyal.id)]))
    assert.equal((await connectorErrorOf(engaged, contextOf())).code, 'object_not_found')
    for (const wrong of [
      { ...settings, audienceId: 'x' },
      { ...settings, adAccountId: '1/..' },
    ]) {
      assert.equal((await connectorErrorOf(openWriter({ settings: wrong }), contextOf())).code, 'invalid_setting')
    }
  })

  test('names the rows that cannot be sent, and finds those that Pinterest does not accept', async () => {
    const rows: [Cell[], string | undefined][] = [
      [row(1, 'create'), 'action'],
      [row(1, 'add', 'Loyal', 'x1'), 'segment_id'],
      [['Loyal', null, 'add', 'jane@example.com', null], 'email'],
      [['Loyal', null, 'add', null, 'EA7583CD'], 'idfa'],
      [['Loyal', null, 'add', null, ''], 'email'],
      [row(1, 'remove', 'Unknown audience'), 'segment_name'],
    ]
    const { rejected = [] } = await (await openWriter()).deliver(
      batchOf(columns, [...rows.map(([one]) => one), row(2)]),
    )
    const sorted = [...rejected].sort((a, b) => (a.index ?? 0) - (b.index ?? 0))
    assert.deepEqual(
      sorted.map(({ index, field }) => [index, field]),
      rows.map(([, field], index) => [index, field]),
    )
    for (const { reason } of rejected) assert.doesNotMatch(reason, /jane|example/)
    const strange: Cell[] = ['Loyal', null, 'add', `99999999${sha('x').slice(8)}`, null]
    await deliverHalving(await openWriter(), columns, [row(3), row(4), strange, row(5)])
    assert.deepEqual(members(), [2, 3, 4, 5].map(person).sort())
  })

  test('uses a refresh token once, saves the next one, and renews a token that ends between two batches', async () => {
    pinterest.rotation.oneUse = true
    const saveSecret = savedSecrets(pinterestSecrets)
    const writer = await openWriter({ saveSecret })
    await writer.deliver(batchOf(columns, [row(1)]))
    pinterest.expireTokens()
    await writer.deliver(batchOf(columns, [row(2)], 2))
    pinterest.expireTokens()
    await (await openWriter({ saveSecret })).deliver(batchOf(columns, [row(3)], 3))
    assert.deepEqual(members(), [1, 2, 3].map(person).sort())
    assert.deepEqual([...pinterest.refreshTokens], ['pinr-3'])
  })

  test('begins with a token that was entered, and renews it', async () => {
    const secrets = { ...pinterestSecrets, authType: 'api-token', accessToken: 'entered-token' }
    const writer = await openWriter({ secrets })
    await writer.deliver(batchOf(columns, [row(1)]))
    assert.ok(!pinterest.received.some(({ path }) => path.endsWith('/oauth/token')))
    pinterest.expireTokens()
    await writer.deliver(batchOf(columns, [row(2)], 2))
    assert.deepEqual(members(), [person(1), person(2)].sort())
  })

  test('takes a batch of the largest size', async () => {
    const { rowsMax = 0 } = pinterestCustomerLists.destination?.deliver?.batch({}) ?? {}
    const rows = Array.from({ length: rowsMax }, (_, n) => row(n))
    assert.deepEqual((await (await openWriter()).deliver(batchOf(columns, rows))).rejected, [])
    assert.equal(members().length, rowsMax)
  })

  test('maps Pinterest’s answers to codes', async () => {
    await (await openWriter()).deliver(batchOf(columns, [row(0)]))
    const cases: [Failure, ErrorAction, string, number?][] = [
      [{ ...refusal(429, 8), headers: { 'retry-after': '7' } }, 'retry', 'rate_limited', 7000],
      [{ ...refusal(429, 8), headers: { 'x-ratelimit-reset': '5' } }, 'retry', 'rate_limited', 5000],
      [refusal(429, 8), 'retry', 'rate_limited'],
      [refusal(500, 12), 'retry', 'platform_error'],
      [{ status: 502, text: '<html>' }, 'retry', 'platform_error'],
      [{ status: 200, text: '<html>' }, 'retry', 'malformed_response'],
      [{ status: 200, json: [] }, 'retry', 'malformed_response'],
      ['reset', 'retry', 'connection_lost'],
      ['reset after', 'retry', 'connection_lost'],
      [refusal(400, 2741), 'split', 'invalid_batch'],
      [{ status: 413, text: '' }, 'split', 'batch_too_large'],
      [refusal(403, 29), 'reconfigure', 'permission_denied'],
      [refusal(404, 1018), 'reconfigure', 'object_not_found'],
      [refusal(400, 1), 'fail', 'request_refused'],
    ]
    const setting = { server: pinterest, context: contextOf(), match: change }
    const writer = await openWriter()
    const batch = batchOf(columns, [row(1)])
    for (const [failure, action, code, afterMs] of cases) {
      const wanted = { action, code, ...(afterMs === undefined ? {} : { afterMs }) }
      await assertFailure(setting, writer, batch, failure, wanted)
    }
    pinterest.failure(change, refusal(401, 2))
    const wanted = { action: 'reauthenticate', code: 'expired_credentials' } as const
    await assertFailure(setting, writer, batch, refusal(401, 2), wanted)
    await writer.deliver(batch)
    assert.deepEqual(members(), [person(0), person(1)].sort())
  })

  test('checks whether Pinterest is reached, signs in and sees the ad account', async () => {
    const { check } = pinterestCustomerLists
    assert.ok(check)
    const run = async (options: TestContextOptions = {}) =>
      (await check(contextOf(options))).map(({ name, ok }) => `${name} ${ok}`)
    const well = ['connectivity true', 'authentication true', 'permissions true']
    assert.deepEqual(await run(), well)
    assert.deepEqual(await run({ settings: {} }), well)
    const denied = ['connectivity true', 'authentication true', 'permissions false']
    assert.deepEqual(await run({ settings: { adAccountId: '550' } }), denied)
    const revoked = { secrets: { ...pinterestSecrets, refreshToken: 'revoked-token' } }
    assert.deepEqual(await run(revoked), ['connectivity true', 'authentication false'])
  })
})

const testServer = await startPinterest()
after(() => testServer.close())

acceptDestination({
  connector: pinterestCustomerLists,
  testServer: 'a server that keeps to Pinterest’s OpenAPI document',
  secrets: pinterestSecrets,
  wrongSecrets: { ...pinterestSecrets, refreshToken: 'revoked-token' },
  settings,
  missing: { ...settings, adAccountId: '550' },
  context: { routes: pinterestRoutes(testServer.url) },
  columns: ['segment_name', 'action', 'email'],
  rows: Array.from({ length: 12 }, (_, n) => ['Loyal', 'add', sha(`${n}@example.com`)]),
  badRows: [
    { row: ['Loyal', 'add', 'abc'], reason: /not a SHA-256/, field: 'email' },
    { row: ['Loyal', 'swap', sha('98')], reason: /must be/, field: 'action' },
  ],
  async readBack() {
    assert.ok(testServer.lists.length < 2, 'a second list was made')
    assert.equal(testServer.audiences.length, testServer.lists.length)
    return [...(testServer.lists[0]?.members ?? [])].map((digest) => ['Loyal', 'add', digest])
  },
  reset() {
    testServer.lists.length = 0
    testServer.audiences.length = 0
  },
  deduplicates: true,
  visible: 'at once',
  errors: [
    problemOf(testServer, change, refusal(429, 8), { name: 'limits calls', action: 'retry', code: 'rate_limited' }),
    problemOf(testServer, change, refusal(500, 12), { name: 'has an internal error', action: 'retry' }),
    problemOf(testServer, change, 'reset after', { name: 'cuts the answer off', action: 'retry' }),
    problemOf(testServer, change, refusal(403, 29), { name: 'denies access', action: 'reconfigure' }),
  ],
  hang: hangOf(testServer, change),
})
