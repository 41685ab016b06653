import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cell } from '@penstock/connector'
import { savedSecrets } from '@penstock/connector/acceptance'
import { sha256 } from '../../test/digest.ts'
import {
  type PinterestServer,
  pinterestRoutes,
  pinterestSecrets,
  refusal,
  startPinterest,
} from '../../test/pinterest-server.ts'
import { batchOf, connectorErrorOf, deliverHalving } from '../../test/platform-server.ts'
import { type FailureCase, testDestination } from '../../test/test-destination.ts'
import { pinterestCustomerLists } from './pinterest-customer-lists.ts'

const columns = ['segment_name', 'segment_id', 'action', 'email', 'idfa']
const change = /^PATCH .*\/customer_lists\/\d+$/
const settings = { adAccountId: '549', audienceName: 'Loyal people' }

await testDestination<PinterestServer>({
  connector: pinterestCustomerLists,
  testServer: 'a server that keeps to Pinterest’s OpenAPI document',
  start: startPinterest,
  routes: pinterestRoutes,
  secrets: pinterestSecrets,
  wrongSecrets: { ...pinterestSecrets, refreshToken: 'revoked-token' },
  settings,
  missing: { ...settings, adAccountId: '550' },
  columns,
  posts: change,
  check: {
    denied: [{ settings: { adAccountId: '550' } }],
    unknown: [{ ...pinterestSecrets, refreshToken: 'revoked-token' }],
  },
  measures: {
    request: /GET .*customer_lists\/\d+$/,
    reply: (id) => ({ id, name: 'Loyal people', status: 'READY', num_uploaded_user_records: 12, num_batches: 2 }),
    measure: { low: null, high: null, received: 12, matched: null, status: 'READY' },
  },
  accepts: {
    columns: ['segment_name', 'action', 'email'],
    rows: Array.from({ length: 12 }, (_, n) => ['Loyal', 'add', sha256(`${n}@example.com`)]),
    badRows: [
      { row: ['Loyal', 'add', 'abc'], reason: /not a SHA-256/, field: 'email' },
      { row: ['Loyal', 'swap', sha256('98')], reason: /must be/, field: 'action' },
    ],
    readBack(server) {
      assert.ok(server.lists.length < 2, 'a second list was made')
      assert.equal(server.audiences.length, server.lists.length)
      return [...(server.lists[0]?.members ?? [])].map((digest) => ['Loyal', 'add', digest])
    },
    reset(server) {
      server.lists.length = 0
      server.audiences.length = 0
    },
    problems: [
      [refusal(429, 8), 'limits calls', 'retry', { code: 'rate_limited' }],
      [refusal(500, 12), 'has an internal error', 'retry'],
      ['reset after', 'cuts the answer off', 'retry'],
      [refusal(403, 29), 'denies access', 'reconfigure'],
    ],
  },
  tests(scene) {
    const { contextOf, openWriter, deliver, codeOf, rejects, fails, largest } = scene

    const person = (n: number | string) => sha256(`${n}@example.com`)
    const row = (
      n: number | string,
      action = 'add',
      name: string | null = 'Loyal',
      id: string | null = null,
    ): Cell[] => [name, id, action, person(n), null]
    const members = (at = 0) => [...(scene.server.lists[at]?.members ?? [])].sort()

    test('makes a list with its first records and an audience from it, then adds and removes', async () => {
      const device = sha256('ea7583cd-a667-48bc-b806-42ecb2b48606')
      const first = batchOf(columns, [row(1), ['Loyal', null, 'add', person(2), device], row(1, 'remove'), row(3)])
      const writer = await openWriter()
      const { rejected, state, bytes } = await writer.deliver(first)
      assert.deepEqual(rejected, [])
      assert.ok(bytes > 0)
      assert.deepEqual(state, { account: '/ad_accounts/549', audiences: { Loyal: '5497558859876' } })
      await writer.deliver(batchOf(columns, [row(4), row(2, 'remove')], 2))
      const bodies = scene.server.received.filter(
        ({ method, path }) => method !== 'GET' && path.includes('ad_accounts'),
      )
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
        scene.server.lists.push({ id: `1${name.length}`, name, type: 'EMAIL', members: new Set() })
      for (const match of [/^POST .*customer_lists$/, /^POST .*audiences$/]) {
        scene.server.failure(match, 'reset after')
        const error = await connectorErrorOf(deliver([row(1)]), contextOf())
        assert.equal(error.action, 'retry')
      }
      await deliver([row(1)])
      assert.deepEqual(
        scene.server.lists.map(({ name }) => name),
        ['A', 'B', 'C', 'Loyal'],
      )
      assert.equal(scene.server.audiences.length, 1)
      assert.deepEqual(members(3), [person(1)])
    })

    test('changes the list of the audience that the connection or a row names', async () => {
      await deliver([row(1), row(2, 'add', 'Other')])
      const [loyal, other] = scene.server.audiences
      assert.ok(loyal && other)
      const writer = await openWriter({ settings: { ...settings, audienceId: loyal.id } })
      await writer.deliver(batchOf(columns, [row(3), row(4, 'add', 'Loyal', other.id)]))
      assert.deepEqual(members(0), [person(1), person(3)].sort())
      assert.deepEqual(members(1), [person(2), person(4)].sort())
      const strange = deliver([row(5, 'add', 'Loyal', '999')])
      assert.equal(await codeOf(strange), 'object_not_found')
      loyal.rule = { visitor_source_id: ['1'] }
      const engaged = deliver([row(5, 'add', 'Loyal', loyal.id)])
      assert.equal(await codeOf(engaged), 'object_not_found')
      for (const wrong of [
        { ...settings, audienceId: 'x' },
        { ...settings, adAccountId: '1/..' },
      ]) {
        assert.equal(await codeOf(openWriter({ settings: wrong })), 'invalid_setting')
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
      await rejects(rows, [row(2)])
      const strange: Cell[] = ['Loyal', null, 'add', `99999999${sha256('x').slice(8)}`, null]
      await deliverHalving(await openWriter(), columns, [row(3), row(4), strange, row(5)])
      assert.deepEqual(members(), [2, 3, 4, 5].map(person).sort())
    })

    test('uses a refresh token once, saves the next one, and renews a token that ends between two batches', async () => {
      scene.server.rotation.oneUse = true
      const saveSecret = savedSecrets(pinterestSecrets)
      const writer = await openWriter({ saveSecret })
      await writer.deliver(batchOf(columns, [row(1)]))
      scene.server.expireTokens()
      await writer.deliver(batchOf(columns, [row(2)], 2))
      scene.server.expireTokens()
      await (await openWriter({ saveSecret })).deliver(batchOf(columns, [row(3)], 3))
      assert.deepEqual(members(), [1, 2, 3].map(person).sort())
      assert.deepEqual([...scene.server.refreshTokens], ['pinr-3'])
    })

    test('begins with a token that was entered, and renews it', async () => {
      const secrets = { ...pinterestSecrets, authType: 'api-token', accessToken: 'entered-token' }
      const writer = await openWriter({ secrets })
      await writer.deliver(batchOf(columns, [row(1)]))
      assert.ok(!scene.server.received.some(({ path }) => path.endsWith('/oauth/token')))
      scene.server.expireTokens()
      await writer.deliver(batchOf(columns, [row(2)], 2))
      assert.deepEqual(members(), [person(1), person(2)].sort())
    })

    test('takes a batch of the largest size', async () => {
      const rowsMax = await largest((n) => row(n))
      assert.equal(members().length, rowsMax)
    })

    test('maps Pinterest’s answers to codes', async () => {
      await deliver([row(0)])
      const cases: FailureCase[] = [
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
        [refusal(401, 2), 'reauthenticate', 'expired_credentials'],
      ]
      const { writer, batch } = await fails(cases, [row(1)])
      await writer.deliver(batch)
      assert.deepEqual(members(), [person(0), person(1)].sort())
    })
  },
})
