import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cell } from '@penstock/connector'
import { assertRejected } from '../../test/assert-rejected.ts'
import { sha256 } from '../../test/digest.ts'
import { batchOf, connectorErrorOf, deliverHalving } from '../../test/platform-server.ts'
import {
  jsonError,
  type RedditServer,
  redditRoutes,
  redditSecrets,
  refusal,
  startReddit,
} from '../../test/reddit-server.ts'
import { type FailureCase, testDestination } from '../../test/test-destination.ts'
import { redditAudiences } from './reddit-audiences.ts'

const columns = ['segment_name', 'segment_id', 'action', 'email_sha256', 'maid_sha256']
const users = /^PATCH .*\/users$/
const settings = { advertiserId: 'a2_loyal' }

await testDestination<RedditServer>({
  connector: redditAudiences,
  testServer: 'a server that keeps to what is known of Reddit',
  start: startReddit,
  routes: redditRoutes,
  secrets: redditSecrets,
  wrongSecrets: { ...redditSecrets, clientSecret: 'another-secret' },
  settings,
  missing: { advertiserId: 'a2_other' },
  columns,
  posts: users,
  check: {
    denied: [{ settings: { advertiserId: 'a2_other' } }],
    unknown: [{ ...redditSecrets, refreshToken: 'revoked-token' }],
  },
  measures: {
    request: /GET .*custom_audiences\/[\w.-]+$/,
    reply: (id) => ({ data: { id, name: 'Loyal', status: 'VALID', size_range_lower: 1000, size_range_upper: 5000 } }),
    measure: { low: 1000, high: 5000, received: null, matched: null, status: 'VALID' },
  },
  accepts: {
    columns: ['segment_name', 'action', 'email_sha256'],
    rows: Array.from({ length: 12 }, (_, n) => ['Loyal', 'add', sha256(`${n}@example.com`)]),
    badRows: [
      { row: ['Loyal', 'add', 'abc'], reason: /not a SHA-256/, field: 'email_sha256' },
      { row: ['Loyal', 'swap', sha256('98')], reason: /must be/, field: 'action' },
      { row: ['Loyal', 'add', `99999999${sha256('x').slice(8)}`], reason: /does not accept/ },
    ],
    readBack(server) {
      assert.ok(server.audiences.length < 2, 'a second audience was made')
      return [...(server.audiences[0]?.members ?? [])].map((key) => ['Loyal', 'add', key.slice('EMAIL_SHA256:'.length)])
    },
    reset(server) {
      server.audiences.length = 0
    },
    problems: [
      [refusal(429), 'limits calls', 'retry', { code: 'rate_limited' }],
      [refusal(500), 'has an internal error', 'retry'],
      ['reset after', 'cuts the answer off', 'retry'],
      [refusal(403), 'denies access', 'reconfigure'],
    ],
  },
  tests(scene) {
    const { contextOf, openWriter, deliver, codeOf, rejects, fails } = scene

    const row = (
      n: number | string,
      action = 'add',
      name: string | null = 'Loyal',
      id: string | null = null,
    ): Cell[] => [name, id, action, sha256(`${n}@example.com`), null]
    const strange = (): Cell[] => ['Loyal', null, 'add', `99999999${sha256('x').slice(8)}`, null]
    const person = (n: number | string) => `EMAIL_SHA256:${sha256(`${n}@example.com`)}`
    const members = (at = 0) => [...(scene.server.audiences[at]?.members ?? [])].sort()

    test('sends rows as Reddit documents them, those with the same identifiers together', async () => {
      const [email, device] = [sha256('alice@example.com'), sha256('ea7583cd-a667-48bc-b806-42ecb2b48606')]
      assert.equal(email, 'ff8d9819fc0e12bf0d24892e45987e249a28dce836a85cad60e28eaaa8c6d976')
      const zeros = sha256('00000000-0000-0000-0000-000000000000')
      const rows: Cell[][] = [
        ['Loyal', null, 'add', email, device],
        ['Loyal', null, 'add', sha256('2'), zeros],
        ['Loyal', null, 'add', null, sha256('3')],
        ['Loyal', null, 'remove', sha256('4'), null],
        ['Loyal', null, 'add', null, zeros],
      ]
      const { rejected, state } = await deliver(rows)
      assertRejected(rejected, [4])
      assert.deepEqual(state, { account: 'a2_loyal', audiences: { Loyal: 'ca.2066268373552' } })
      const sent = scene.server.received.filter(({ method }) => method === 'POST' || method === 'PATCH').slice(1)
      assert.deepEqual(
        sent.map(({ method, path, json }) => [`${method} ${path}`, (json as { data: unknown }).data]),
        [
          ['POST /api/v3/ad_accounts/a2_loyal/custom_audiences', { name: 'Loyal', type: 'CUSTOMER_LIST' }],
          ...[
            { action_type: 'ADD', column_order: ['EMAIL_SHA256', 'MAID_SHA256'], user_data: [[email, device]] },
            { action_type: 'ADD', column_order: ['EMAIL_SHA256'], user_data: [[sha256('2')]] },
            { action_type: 'ADD', column_order: ['MAID_SHA256'], user_data: [[sha256('3')]] },
            { action_type: 'REMOVE', column_order: ['EMAIL_SHA256'], user_data: [[sha256('4')]] },
          ].map((data) => ['PATCH /api/v3/custom_audiences/ca.2066268373552/users', data]),
        ],
      )
    })

    test('sends a device of either kind as one, the first of several', async () => {
      const wide = [...columns, 'idfa_sha256', 'aaid_sha256']
      const zeros = sha256('00000000-0000-0000-0000-000000000000')
      const add = ['Loyal', null, 'add']
      const { rejected } = await deliver(
        [
          [...add, sha256('1@example.com'), null, sha256('IDFA'), sha256('aaid')],
          [...add, null, zeros, null, sha256('aaid')],
          [...add, null, null, zeros, null],
          [...add, null, sha256('maid'), sha256('IDFA'), null],
        ],
        { columns: wide },
      )
      assertRejected(rejected, [[2, 'idfa_sha256']])
      assert.deepEqual(
        members(),
        [
          `${person(1)},MAID_SHA256:${sha256('IDFA')}`,
          `MAID_SHA256:${sha256('aaid')}`,
          `MAID_SHA256:${sha256('maid')}`,
        ].sort(),
      )
    })

    test('makes no second audience where the answer to making it was lost, and delivers twice without harm', async () => {
      for (const name of ['A', 'B', 'C']) scene.server.audiences.push({ id: `ca.${name}`, name, members: new Set() })
      scene.server.failure(/^POST .*custom_audiences$/, 'reset after')
      const batch = batchOf(columns, [row(1), row(2), row(2, 'remove')])
      const error = await connectorErrorOf((await openWriter()).deliver(batch), contextOf())
      assert.equal(error.action, 'retry')
      for (let times = 0; times < 2; times++) await (await openWriter()).deliver(batch)
      assert.deepEqual(
        scene.server.audiences.map(({ name }) => name),
        ['A', 'B', 'C', 'Loyal'],
      )
      assert.deepEqual(members(3), [person(1)])
    })

    test('leaves out the rows that Reddit names, and sends the others again', async () => {
      const { rejected } = await deliver([
        ['Loyal', null, 'swap', null, null],
        row(1),
        strange(),
        row(2),
        strange().with(3, `99999999${sha256('y').slice(8)}`),
      ])
      assertRejected(rejected, [0, 2, 4])
      assert.deepEqual(members(), [person(1), person(2)].sort())
    })

    test('finds the rows that Reddit does not name by halving', async () => {
      scene.server.blame.names = false
      await deliverHalving(await openWriter(), columns, [row(1), row(2), strange(), row(3)])
      assert.deepEqual(members(), [person(1), person(2), person(3)].sort())
    })

    test('rejects before sending what cannot be taken', async () => {
      const rows: [Cell[], string | undefined][] = [
        [row(1, 'create'), 'action'],
        [row(1, 'add', null, '../me'), 'segment_id'],
        [['Loyal', null, 'add', 'jane@example.com', null], 'email_sha256'],
        [['Loyal', null, 'add', null, 'EA7583CD'], 'maid_sha256'],
        [['Loyal', null, 'add', null, ''], 'email_sha256'],
        [row(1, 'remove', 'Unknown audience'), 'segment_name'],
      ]
      await rejects(rows, [row(2)])
    })

    test('takes a batch of the largest size, and renews a token that ends between two batches', async () => {
      const { rowsMax = 0 } = redditAudiences.destination?.deliver?.batch({}) ?? {}
      const writer = await openWriter()
      const rows = Array.from({ length: rowsMax }, (_, n) => row(n, 'add', null))
      assert.deepEqual((await writer.deliver(batchOf(columns, rows))).rejected, [])
      scene.server.expireTokens()
      const { state } = await writer.deliver(batchOf(columns, [row('later', 'add', null)], 2))
      assert.equal(members().length, rowsMax + 1)
      assert.deepEqual(state, { account: 'a2_loyal', audienceId: 'ca.2066268373552', audiences: {} })
    })

    test('maps Reddit’s answers to codes', async () => {
      const limits = { ratelimit: '"ads-custom-audience-ingestion";r=12;t=900,"burst";r=0;t=9' }
      const cases: FailureCase[] = [
        [{ ...refusal(429), headers: { 'retry-after': '7' } }, 'retry', 'rate_limited', 7000],
        [{ ...refusal(429), headers: limits }, 'retry', 'rate_limited', 9000],
        [refusal(429), 'retry', 'rate_limited'],
        [refusal(500), 'retry', 'platform_error'],
        [{ status: 502, text: '<html>' }, 'retry', 'platform_error'],
        ['reset', 'retry', 'connection_lost'],
        ['reset after', 'retry', 'connection_lost'],
        [jsonError, 'split', 'invalid_batch'],
        [refusal(400, ['column_order']), 'split', 'invalid_batch'],
        [refusal(400, ['data.user_data.0.0', 'action_type']), 'split', 'invalid_batch'],
        [{ status: 413, text: '' }, 'split', 'batch_too_large'],
        [refusal(403), 'reconfigure', 'permission_denied'],
        [refusal(404), 'reconfigure', 'object_not_found'],
        [refusal(401), 'reauthenticate', 'expired_credentials'],
        [{ status: 401, text: 'Authorization Required' }, 'reauthenticate', 'expired_credentials'],
      ]
      const { batch } = await fails(cases, [row(1)])
      scene.server.failure(/^GET .*custom_audiences$/, {
        json: { data: [[], 7, null, { id: {} }], pagination: { next_url: null } },
      })
      assert.deepEqual((await (await openWriter()).deliver(batch)).rejected, [])
      scene.server.failure(/^GET .*custom_audiences$/, {
        json: { data: [], pagination: { next_url: 'http://evil.example/' } },
      })
      const elsewhere = await connectorErrorOf((await openWriter()).deliver(batch), contextOf())
      assert.equal(elsewhere.code, 'malformed_response')
      scene.server.failure(/^POST .*custom_audiences$/, { json: { data: { id: '../me' } } })
      const odd = deliver([row(1, 'add', 'New')])
      assert.equal(await codeOf(odd), 'malformed_response')
      const wrong = await connectorErrorOf(openWriter({ settings: { advertiserId: '1/../me' } }), contextOf())
      assert.equal(wrong.code, 'invalid_setting')
    })
  },
})
