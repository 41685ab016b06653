import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, afterEach, beforeEach, describe, test } from 'node:test'
import type { Cell, ErrorAction } from '@penstock/connector'
import { acceptDestination, type TestContextOptions, testContext } from '@penstock/connector/acceptance'
import {
  assertFailure,
  batchOf,
  connectorErrorOf,
  deliverHalving,
  type Failure,
  hangOf,
  problemOf,
} from '../../test/platform-server.ts'
import {
  jsonError,
  type RedditServer,
  redditRoutes,
  redditSecrets,
  refusal,
  startReddit,
} from '../../test/reddit-server.ts'
import { redditAudiences } from './reddit-audiences.ts'

const columns = ['segment_name', 'segment_id', 'action', 'email_sha256', 'maid_sha256']
const sha = (text: string) => createHash('sha256').update(text).digest('hex')
const users = /^PATCH .*\/users$/
const settings = { advertiserId: 'a2_loyal' }

describe('Reddit Audiences, against a server that keeps to what is known of Reddit', () => {
  let reddit: RedditServer

  beforeEach(async () => {
    reddit = await startReddit()
  })
  afterEach(() => reddit.close())

  const contextOf = (options: TestContextOptions = {}) =>
    testContext({ secrets: redditSecrets, settings, columns, routes: redditRoutes(reddit.url), ...options })
  async function openWriter(options: TestContextOptions = {}) {
    const { deliver } = redditAudiences.destination ?? {}
    assert.ok(deliver)
    return deliver.open(contextOf(options))
  }
  const row = (n: number | string, action = 'add', name: string | null = 'Loyal', id: string | null = null): Cell[] => [
    name,
    id,
    action,
    sha(`${n}@example.com`),
    null,
  ]
  const strange = (): Cell[] => ['Loyal', null, 'add', `99999999${sha('x').slice(8)}`, null]
  const person = (n: number | string) => `EMAIL_SHA256:${sha(`${n}@example.com`)}`
  const members = (at = 0) => [...(reddit.audiences[at]?.members ?? [])].sort()

  test('sends rows as Reddit documents them, those with the same identifiers together', async () => {
    const [email, device] = [sha('alice@example.com'), sha('ea7583cd-a667-48bc-b806-42ecb2b48606')]
    assert.equal(email, 'ff8d9819fc0e12bf0d24892e45987e249a28dce836a85cad60e28eaaa8c6d976')
    const zeros = sha('00000000-0000-0000-0000-000000000000')
    const rows: Cell[][] = [
      ['Loyal', null, 'add', email, device],
      ['Loyal', null, 'add', sha('2'), zeros],
      ['Loyal', null, 'add', null, sha('3')],
      ['Loyal', null, 'remove', sha('4'), null],
      ['Loyal', null, 'add', null, zeros],
    ]
    const { rejected, state } = await (await openWriter()).deliver(batchOf(columns, rows))
    assert.deepEqual(
      rejected?.map(({ index }) => index),
      [4],
    )
    assert.deepEqual(state, { account: 'a2_loyal', audiences: { Loyal: 'ca.2066268373552' } })
    const sent = reddit.received.filter(({ method }) => method === 'POST' || method === 'PATCH').slice(1)
    assert.deepEqual(
      sent.map(({ method, path, json }) => [`${method} ${path}`, (json as { data: unknown }).data]),
      [
        ['POST /api/v3/ad_accounts/a2_loyal/custom_audiences', { name: 'Loyal', type: 'CUSTOMER_LIST' }],
        ...[
          { action_type: 'ADD', column_order: ['EMAIL_SHA256', 'MAID_SHA256'], user_data: [[email, device]] },
          { action_type: 'ADD', column_order: ['EMAIL_SHA256'], user_data: [[sha('2')]] },
          { action_type: 'ADD', column_order: ['MAID_SHA256'], user_data: [[sha('3')]] },
          { action_type: 'REMOVE', column_order: ['EMAIL_SHA256'], user_data: [[sha('4')]] },
        ].map((data) => ['PATCH /api/v3/custom_audiences/ca.2066268373552/users', data]),
      ],
    )
  })

  test('sends a device of either kind as one, the first of several', async () => {
    const wide = [...columns, 'idfa_sha256', 'aaid_sha256']
    const zeros = sha('00000000-0000-0000-0000-000000000000')
    const add = ['Loyal', null, 'add']
    const { rejected } = await (await openWriter({ columns: wide })).deliver(
      batchOf(wide, [
        [...add, sha('1@example.com'), null, sha('IDFA'), sha('aaid')],
        [...add, null, zeros, null, sha('aaid')],
        [...add, null, null, zeros, null],
        [...add, null, sha('maid'), sha('IDFA'), null],
      ]),
    )
    assert.deepEqual(
      rejected?.map(({ index, field }) => [index, field]),
      [[2, 'idfa_sha256']],
    )
    assert.deepEqual(
      members(),
      [`${person(1)},MAID_SHA256:${sha('IDFA')}`, `MAID_SHA256:${sha('aaid')}`, `MAID_SHA256:${sha('maid')}`].sort(),
    )
  })

  test('makes no second audience where the answer to making it was lost, and delivers twice without harm', async () => {
    for (const name of ['A', 'B', 'C']) reddit.audiences.push({ id: `ca.${name}`, name, members: new Set() })
    reddit.failure(/^POST .*custom_audiences$/, 'reset after')
    const batch = batchOf(columns, [row(1), row(2), row(2, 'remove')])
    const error = await connectorErrorOf((await openWriter()).deliver(batch), contextOf())
    assert.equal(error.action, 'retry')
    for (let times = 0; times < 2; times++) await (await openWriter()).deliver(batch)
    assert.deepEqual(
      reddit.audiences.map(({ name }) => name),
      ['A', 'B', 'C', 'Loyal'],
    )
    assert.deepEqual(members(3), [person(1)])
  })

  test('leaves out the rows that Reddit names, and sends the others again', async () => {
    const { rejected } = await (await openWriter()).deliver(
      batchOf(columns, [
        ['Loyal', null, 'swap', null, null],
        row(1),
        strange(),
        row(2),
        strange().with(3, `99999999${sha('y').slice(8)}`),
      ]),
    )
    assert.deepEqual(
      rejected?.map(({ index }) => index),
      [0, 2, 4],
    )
    assert.deepEqual(members(), [person(1), person(2)].sort())
  })

  test('finds the rows that Reddit does not name by halving', async () => {
    reddit.blame.names = false
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
    const { rejected = [] } = await (await openWriter()).deliver(
      batchOf(columns, [...rows.map(([one]) => one), row(2)]),
    )
    const sorted = [...rejected].sort((a, b) => (a.index ?? 0) - (b.index ?? 0))
    assert.deepEqual(
      sorted.map(({ index, field }) => [index, field]),
      rows.map(([, field], index) => [index, field]),
    )
    for (const { reason } of rejected) assert.doesNotMatch(reason, /jane|example/)
  })

  test('takes a batch of the largest size, and renews a token that ends between two batches', async () => {
    const { rowsMax = 0 } = redditAudiences.destination?.deliver?.batch({}) ?? {}
    const writer = await openWriter()
    const rows = Array.from({ length: rowsMax }, (_, n) => row(n, 'add', null))
    assert.deepEqual((await writer.deliver(batchOf(columns, rows))).rejected, [])
    reddit.expireTokens()
    const { state } = await writer.deliver(batchOf(columns, [row('later', 'add', null)], 2))
    assert.equal(members().length, rowsMax + 1)
    assert.deepEqual(state, { account: 'a2_loyal', audienceId: 'ca.2066268373552', audiences: {} })
  })

  test('maps Reddit’s answers to codes', async () => {
    const limits = { ratelimit: '"ads-custom-audience-ingestion";r=12;t=900,"burst";r=0;t=9' }
    const cases: [Failure, ErrorAction, string, number?][] = [
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
    ]
    const setting = { server: reddit, context: contextOf(), match: users }
    const writer = await openWriter()
    const batch = batchOf(columns, [row(1)])
    for (const [failure, action, code, afterMs] of cases) {
      const wanted = { action, code, ...(afterMs === undefined ? {} : { afterMs }) }
      await assertFailure(setting, writer, batch, failure, wanted)
    }
    reddit.failure(users, refusal(401))
    const wanted = { action: 'reauthenticate', code: 'expired_credentials' } as const
    await assertFailure(setting, writer, batch, { status: 401, text: 'Authorization Required' }, wanted)
    reddit.failure(/^GET .*custom_audiences$/, {
      json: { data: [[], 7, null, { id: {} }], pagination: { next_url: 'http://evil.example/' } },
    })
    assert.deepEqual((await (await openWriter()).deliver(batch)).rejected, [])
    reddit.failure(/^POST .*custom_audiences$/, { json: { data: { id: '../me' } } })
    const odd = (await openWriter()).deliver(batchOf(columns, [row(1, 'add', 'New')]))
    assert.equal((await connectorErrorOf(odd, contextOf())).code, 'malformed_response')
    const wrong = await connectorErrorOf(openWriter({ settings: { advertiserId: '1/../me' } }), contextOf())
    assert.equal(wrong.code, 'invalid_setting')
  })

  test('checks whether Reddit is reached, signs in and sees the ad account', async () => {
    const { check } = redditAudiences
    assert.ok(check)
    const run = async (options: TestContextOptions = {}) =>
      (await check(contextOf(options))).map(({ name, ok }) => `${name} ${ok}`)
    const well = ['connectivity true', 'authentication true', 'permissions true']
    assert.deepEqual(await run(), well)
    assert.deepEqual(await run({ settings: {} }), well)
    const denied = ['connectivity true', 'authentication true', 'permissions false']
    assert.deepEqual(await run({ settings: { advertiserId: 'a2_other' } }), denied)
    const revoked = { secrets: { ...redditSecrets, refreshToken: 'revoked-token' } }
    assert.deepEqual(await run(revoked), ['connectivity true', 'authentication false'])
  })
})

const testServer = await startReddit()
after(() => testServer.close())

acceptDestination({
  connector: redditAudiences,
  testServer: 'a server that keeps to what is known of Reddit',
  secrets: redditSecrets,
  wrongSecrets: { ...redditSecrets, clientSecret: 'another-secret' },
  settings,
  missing: { advertiserId: 'a2_other' },
  context: { routes: redditRoutes(testServer.url) },
  columns: ['segment_name', 'action', 'email_sha256'],
  rows: Array.from({ length: 12 }, (_, n) => ['Loyal', 'add', sha(`${n}@example.com`)]),
  badRows: [
    { row: ['Loyal', 'add', 'abc'], reason: /not a SHA-256/, field: 'email_sha256' },
    { row: ['Loyal', 'swap', sha('98')], reason: /must be/, field: 'action' },
    { row: ['Loyal', 'add', `99999999${sha('x').slice(8)}`], reason: /does not accept/ },
  ],
  async readBack() {
    assert.ok(testServer.audiences.length < 2, 'a second audience was made')
    return [...(testServer.audiences[0]?.members ?? [])].map((key) => [
      'Loyal',
      'add',
      key.slice('EMAIL_SHA256:'.length),
    ])
  },
  reset() {
    testServer.audiences.length = 0
  },
  deduplicates: true,
  visible: 'at once',
  errors: [
    problemOf(testServer, users, refusal(429), { name: 'limits calls', action: 'retry', code: 'rate_limited' }),
    problemOf(testServer, users, refusal(500), { name: 'has an internal error', action: 'retry' }),
    problemOf(testServer, users, 'reset after', { name: 'cuts the answer off', action: 'retry' }),
    problemOf(testServer, users, refusal(403), { name: 'denies access', action: 'reconfigure' }),
  ],
  hang: hangOf(testServer, users),
})
