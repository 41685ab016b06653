import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, afterEach, beforeEach, describe, test } from 'node:test'
import type { Cell, ErrorAction, Json } from '@penstock/connector'
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
import { adAccount, refusedDigest, type SnapchatAdsServer, startSnapchatAds } from '../../test/snapchat-ads-server.ts'
import { snapchatRoutes, snapchatSecrets } from '../../test/snapchat-server.ts'
import { snapchatCustomerLists } from './snapchat-customer-lists.ts'

const sha = (text: string) => createHash('sha256').update(text).digest('hex')
const columns = ['segment_name', 'segment_id', 'action', 'email_sha256', 'phone_sha256', 'maid_sha256']
const settings = { advertiserId: adAccount }
const row = (n: number, action = 'add', name: string | null = 'Loyal'): Cell[] => [
  name,
  null,
  action,
  sha(`jane${n}@example.com`),
  null,
  null,
]

describe('Snapchat Customer Lists, against a server that keeps to what is known of Snapchat', () => {
  let snapchat: SnapchatAdsServer

  beforeEach(async () => {
    snapchat = await startSnapchatAds()
  })
  afterEach(() => snapchat.close())

  const contextOf = (options: TestContextOptions = {}) =>
    testContext({ secrets: snapchatSecrets, settings, columns, routes: snapchatRoutes(snapchat.url), ...options })
  async function openWriter(options: TestContextOptions = {}) {
    const { deliver } = snapchatCustomerLists.destination ?? {}
    assert.ok(deliver)
    return deliver.open(contextOf(options))
  }
  const changes = () =>
    snapchat.received.filter(({ path }) => path.endsWith('/users')).map(({ method, json }) => ({ method, json }))

  test('makes an audience by name and sends identifiers of each kind in a request, exactly', async () => {
    // Digests of Segment's tests: person@email.com, 17067675127 and a device.
    const email = 'b375b7bbddb3de3298fbc7641063d9f03a38e118aa4480c8ab9f58740982e8bd'
    const phone = '2fd199db6d3fa9fe754886ff1822f2867fcb104a6639495eca25c2978efe4ed4'
    const device = '30a5154b77ab8b2ddbe19f5e7af72f33cc2a4a41f22940d965102650a1c72863'
    const batch = batchOf(columns, [
      ['Loyal', null, 'add', email, phone.toUpperCase(), null],
      ['Loyal', null, 'add', null, null, device],
      ['Loyal', null, 'add', email, null, null],
      ['Loyal', null, 'remove', null, phone, null],
    ])
    const lifespan = { settings: { ...settings, lifespanDays: 180 } }
    for (let times = 0; times < 2; times++) {
      assert.deepEqual((await (await openWriter(lifespan)).deliver(batch)).rejected, [])
    }
    const users = (schema: string, ...digests: string[]) => ({
      users: [{ schema: [schema], data: digests.map((digest) => [digest]) }],
    })
    assert.deepEqual(changes().slice(0, 3), [
      { method: 'POST', json: users('EMAIL_SHA256', email) },
      { method: 'POST', json: users('MOBILE_AD_ID_SHA256', device) },
      { method: 'DELETE', json: users('PHONE_SHA256', phone) },
    ])
    const [segment] = snapchat.segments
    assert.deepEqual([snapchat.segments.length, segment?.name, segment?.retention_in_days], [1, 'Loyal', 180])
    assert.deepEqual(
      [...snapchat.members].sort(),
      [`${segment?.id} EMAIL_SHA256 ${email}`, `${segment?.id} MOBILE_AD_ID_SHA256 ${device}`].sort(),
    )
    const made = snapchat.received.find(({ method, path }) => method === 'POST' && path.endsWith('/segments'))
    assert.deepEqual(made?.json, {
      segments: [
        {
          name: 'Loyal',
          description: 'Kept by Penstock',
          source_type: 'FIRST_PARTY',
          retention_in_days: 180,
          ad_account_id: adAccount,
        },
      ],
    })
  })

  test('finds the oldest audience of a name on any page, and stores what it created', async () => {
    for (const name of ['Other', 'Loyal', 'Loyal']) {
      await (await openWriter()).deliver(batchOf(columns, [row(1, 'add', name)]))
      if (snapchat.segments.length === 2)
        snapchat.segments.push({ ...snapchat.segments[1], id: '999', created_at: '2027' } as never)
    }
    snapchat.behaviour.pageSize = 1
    const { state } = await (await openWriter()).deliver(batchOf(columns, [row(2), row(3, 'add', null)]))
    const [, loyal, , own] = snapchat.segments
    assert.ok([...snapchat.members].includes(`${loyal?.id} EMAIL_SHA256 ${sha('jane2@example.com')}`))
    assert.deepEqual(state, { account: adAccount, audienceId: own?.id, audiences: { Loyal: loyal?.id } })
    assert.equal(own?.name, 'Penstock 0f1e2d3c4b5a6978')
    if (own) own.name = 'Renamed at Snapchat'
    await (await openWriter({ state: state as Json })).deliver(batchOf(columns, [row(4, 'add', null)]))
    assert.equal(snapchat.segments.length, 4)
  })

  test('waits until a new audience is there', async () => {
    snapchat.behaviour.hiddenFor = 2
    assert.deepEqual((await (await openWriter()).deliver(batchOf(columns, [row(1)]))).rejected, [])
    assert.equal(snapchat.members.size, 1)
  })

  test('rejects before sending what cannot be taken', async () => {
    const rows: [Cell[], string | undefined][] = [
      [['x'.repeat(376), null, 'add', sha('a'), null, null], 'segment_name'],
      [['Loyal', '../me', 'add', sha('a'), null, null], 'segment_id'],
      [['Loyal', null, 'add', null, '12025550100', null], 'phone_sha256'],
    ]
    const { rejected = [] } = await (await openWriter()).deliver(
      batchOf(columns, [...rows.map(([cells]) => cells), row(9)]),
    )
    const byIndex = [...rejected].sort((a, b) => (a.index ?? 0) - (b.index ?? 0))
    assert.deepEqual(
      byIndex.map(({ index, field }) => [index, field]),
      rows.map(([, field], index) => [index, field]),
    )
    assert.equal(snapchat.members.size, 1)
  })

  test('takes a batch of the largest size', async () => {
    const { rowsMax = 0 } = snapchatCustomerLists.destination?.deliver?.batch({}) ?? {}
    const rows = Array.from({ length: rowsMax }, (_, n): Cell[] => {
      const digest = n.toString(16).padStart(64, '0')
      return ['Loyal', null, 'add', digest, digest, null]
    })
    assert.deepEqual((await (await openWriter()).deliver(batchOf(columns, rows))).rejected, [])
    assert.equal(snapchat.members.size, 2 * rowsMax)
  })

  test('has the engine find the identifier that Snapchat refuses, and counts what it does not count', async () => {
    const bad: Cell[] = ['Loyal', null, 'add', refusedDigest, null, null]
    await deliverHalving(await openWriter(), columns, [row(1), row(2), bad, row(3)])
    assert.equal(snapchat.members.size, 3)
    const error = await connectorErrorOf((await openWriter()).deliver(batchOf(columns, [bad])), contextOf())
    assert.deepEqual([error.code, error.action], ['invalid_batch', 'split'])
    assert.match(error.message, /E1008/)
    assert.doesNotMatch(error.message, /jane/)
    snapchat.behaviour.uncounted = 1
    const both: Cell[] = ['Loyal', null, 'add', sha('x'), sha('y'), null]
    const { rejected } = await (await openWriter()).deliver(batchOf(columns, [row(1), row(2), both]))
    assert.deepEqual(
      rejected?.map(({ index, count }) => [index, count]),
      [[undefined, 1]],
    )
    assert.deepEqual((await (await openWriter()).deliver(batchOf(columns, [both]))).rejected, [])
  })

  test('reports to the engine what each of Snapchat’s answers asks for', async () => {
    const ok = (users: unknown): Failure => ({ json: { request_status: 'SUCCESS', users } })
    const cases: [Failure, ErrorAction, string, number?][] = [
      [{ status: 429 }, 'retry', 'rate_limited'],
      [{ status: 429, headers: { 'retry-after': '5' } }, 'retry', 'rate_limited', 5000],
      [{ status: 500, text: 'oops' }, 'retry', 'platform_error'],
      ['reset', 'retry', 'connection_lost'],
      [{ text: '<html>' }, 'retry', 'malformed_response'],
      [{ json: {} }, 'retry', 'malformed_response'],
      [ok([]), 'retry', 'malformed_response'],
      [ok([7]), 'retry', 'malformed_response'],
      [ok([{ sub_request_status: 'ERROR', sub_request_error_reason: 'jane' }]), 'split', 'invalid_batch'],
      [{ json: { request_status: 'error', error_code: 'E1' } }, 'split', 'invalid_batch'],
      [{ status: 403, json: { request_status: 'ERROR', error_code: 'E3002' } }, 'reconfigure', 'permission_denied'],
      [{ status: 404, json: { request_status: 'ERROR' } }, 'reconfigure', 'object_not_found'],
      [{ status: 413, text: '' }, 'split', 'batch_too_large'],
      [{ status: 302, text: '' }, 'fail', 'unexpected_response'],
    ]
    const setting = { server: snapchat, context: contextOf(), match: /users/ }
    const writer = await openWriter()
    await writer.deliver(batchOf(columns, [row(1)]))
    for (const [failure, action, code, afterMs] of cases) {
      const wanted = { action, code, ...(afterMs === undefined ? {} : { afterMs }) }
      await assertFailure(setting, writer, batchOf(columns, [row(2)]), failure, wanted)
    }
    assert.equal(snapchat.members.size, 1)
  })

  test('follows no list to another host, nor for ever', async () => {
    for (const next_link of ['https://evil.example/v1?cursor=1', `https://adsapi.snapchat.com/v1?cursor=0`]) {
      const page: Failure = { json: { request_status: 'SUCCESS', segments: [], paging: { next_link } } }
      for (let times = 0; times < 2; times++) snapchat.failure(/segments$/, page)
      const error = await connectorErrorOf((await openWriter()).deliver(batchOf(columns, [row(1)])), contextOf())
      assert.equal(error.code, 'malformed_response')
      snapchat.calm()
    }
  })

  test('checks whether Snapchat is reached, the refresh token accepted and the ad account visible', async () => {
    const { check } = snapchatCustomerLists
    assert.ok(check)
    const run = async (options: TestContextOptions = {}) =>
      (await check(contextOf(options))).map(({ name, ok }) => `${name} ${ok}`)
    assert.deepEqual(await run(), ['connectivity true', 'authentication true', 'permissions true'])
    assert.deepEqual(await run({ settings: {} }), ['connectivity true', 'authentication true', 'permissions true'])
    assert.deepEqual(await run({ settings: { advertiserId: 'another' } }), [
      'connectivity true',
      'authentication true',
      'permissions false',
    ])
    const revoked = { secrets: { ...snapchatSecrets, refreshToken: 'revoked' } }
    assert.deepEqual(await run(revoked), ['connectivity true', 'authentication false'])
    assert.equal(snapchat.segments.length, 0)
  })
})

const testServer = await startSnapchatAds()
after(() => testServer.close())

acceptDestination({
  connector: snapchatCustomerLists,
  testServer: 'a server that keeps to what is known of Snapchat',
  secrets: snapchatSecrets,
  wrongSecrets: { ...snapchatSecrets, clientSecret: 'secret-of-another' },
  settings,
  missing: { advertiserId: 'another-account' },
  context: { routes: snapchatRoutes(testServer.url) },
  columns: ['segment_name', 'action', 'email_sha256'],
  rows: Array.from({ length: 12 }, (_, n) => ['Loyal', 'add', sha(`acceptance ${n}`)]),
  badRows: [
    { row: ['Loyal', 'add', 'not hashed'], reason: /not a SHA-256 digest/, field: 'email_sha256' },
    { row: ['Loyal', 'purge', sha('x')], reason: /must be add or remove/, field: 'action' },
  ],
  readBack: async () => [...testServer.members].map((member) => ['Loyal', 'add', member.split(' ')[2] ?? '']),
  reset: () => testServer.members.clear(),
  deduplicates: true,
  visible: 'at once',
  errors: [
    problemOf(
      testServer,
      /users$/,
      { status: 429, headers: { 'retry-after': '7' } },
      { name: 'limits calls', action: 'retry', afterMs: 7000 },
    ),
    problemOf(testServer, /users$/, { status: 500 }, { name: 'has an internal error', action: 'retry' }),
    problemOf(testServer, /users$/, 'reset after', { name: 'cuts the answer off', action: 'retry' }),
    problemOf(testServer, /users$/, { status: 403 }, { name: 'takes the role away', action: 'reconfigure' }),
  ],
  hang: hangOf(testServer, /users$|adaccounts/),
})
