import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, afterEach, beforeEach, describe, test } from 'node:test'
import type { Cell, ErrorAction } from '@penstock/connector'
import { acceptDestination, type TestContextOptions, testContext } from '@penstock/connector/acceptance'
import { type CriteoServer, criteoRoutes, criteoSecrets, refusal, startCriteo } from '../../test/criteo-server.ts'
import {
  assertFailure,
  batchOf,
  connectorErrorOf,
  type Failure,
  hangOf,
  problemOf,
} from '../../test/platform-server.ts'
import { criteoCommerceGrowthAudiences } from './criteo-commerce-growth-audiences.ts'

const columns = ['segment_name', 'segment_id', 'action', 'email', 'madid', 'gum', 'customerid']
const sha = (text: string) => createHash('sha256').update(text).digest('hex')
const lists = /contact-list$/
const settings = { advertiserId: '77', audienceSource: 'CRM', gumCallerId: '329739' }

describe('Criteo Commerce Growth Audiences, against a server that keeps to Criteo’s OpenAPI document', () => {
  let criteo: CriteoServer

  beforeEach(async () => {
    criteo = await startCriteo()
  })
  afterEach(() => criteo.close())

  const contextOf = (options: TestContextOptions = {}) =>
    testContext({ secrets: criteoSecrets, settings, columns, routes: criteoRoutes(criteo.url), ...options })
  async function openWriter(options: TestContextOptions = {}) {
    const { deliver } = criteoCommerceGrowthAudiences.destination ?? {}
    assert.ok(deliver)
    return deliver.open(contextOf(options))
  }
  const row = (n: number | string, action = 'add', name: string | null = 'Loyal', id: string | null = null): Cell[] => [
    name,
    id,
    action,
    sha(`${n}@example.com`),
    null,
    null,
    null,
  ]
  const strange = (n: string): Cell[] => ['Loyal', null, 'add', `99999999${sha(n).slice(8)}`, null, null, null]
  const person = (n: number | string) => `email:${sha(`${n}@example.com`)}`
  const members = (at = 0) => [...(criteo.segments[at]?.members ?? [])].sort()

  test('sends rows as Criteo documents them, identifiers of one kind together', async () => {
    const device = 'ea7583cd-a667-48bc-b806-42ecb2b48606'
    const rows: Cell[][] = [
      ['Loyal', null, 'add', sha('a'), device, null, null],
      ['Loyal', null, 'remove', null, null, 'sample_gum3', null],
    ]
    const { rejected, state } = await (await openWriter()).deliver(batchOf(columns, rows))
    assert.deepEqual(rejected, [])
    assert.deepEqual(state, { account: '77', audiences: { Loyal: '34000' } })
    assert.equal(criteo.segments[0]?.description, 'Kept by Penstock, from CRM')
    const sent = criteo.received.filter(({ path }) => lists.test(path))
    assert.deepEqual(
      sent.map(({ path, json }) => [path, json]),
      [
        { operation: 'add', identifierType: 'email', identifiers: [sha('a')] },
        { operation: 'add', identifierType: 'madid', identifiers: [device] },
        { operation: 'remove', identifierType: 'gum', gumCallerId: 329_739, identifiers: ['sample_gum3'] },
      ].map((attributes) => [
        '/2026-07/marketing-solutions/audience-segments/34000/contact-list',
        { data: { type: 'ContactlistAmendment', attributes } },
      ]),
    )
  })

  test('sends a phone number only where nothing else is known of the person', async () => {
    const wide = ['segment_name', 'action', 'email', 'phonenumber']
    const rows: Cell[][] = [
      ['Loyal', 'add', sha('a'), '+911234567890'],
      ['Loyal', 'add', null, '+919876543210'],
    ]
    assert.deepEqual((await (await openWriter({ columns: wide })).deliver(batchOf(wide, rows))).rejected, [])
    assert.deepEqual(members(), [`email:${sha('a')}`, 'phoneNumber:+919876543210'])
  })

  test('makes no second audience where the answer to making it was lost, and delivers twice without harm', async () => {
    for (const name of ['A', 'B', 'C']) {
      criteo.segments.push({ id: String(criteo.segments.length + 1), name, description: '', members: new Set() })
    }
    criteo.failure(/create$/, 'reset after')
    const batch = batchOf(columns, [row(1), row(2), row(2, 'remove')])
    const error = await connectorErrorOf((await openWriter()).deliver(batch), contextOf())
    assert.equal(error.action, 'retry')
    for (let times = 0; times < 2; times++) await (await openWriter()).deliver(batch)
    assert.deepEqual(
      criteo.segments.map(({ name }) => name),
      ['A', 'B', 'C', 'Loyal'],
    )
    assert.deepEqual(members(3), [person(1)])
  })

  test('names the rows that Criteo shows, and counts the others', async () => {
    criteo.samples.most = 1
    const odd: Cell[] = ['Loyal', null, 'add', sha('both'), 'no device', null, null]
    const rows = [row(1), strange('x'), strange('y'), strange('z'), odd]
    const { rejected } = await (await openWriter()).deliver(batchOf(columns, rows))
    assert.deepEqual(
      rejected?.map(({ index, count }) => [index, count]),
      [
        [1, undefined],
        [undefined, 2],
      ],
    )
    for (const { reason } of rejected ?? []) assert.doesNotMatch(reason, /9999/)
    assert.deepEqual(members(), [person(1), `email:${sha('both')}`].sort())
  })

  test('rejects before sending what cannot be taken', async () => {
    const rows: [Cell[], string | undefined][] = [
      [row(1, 'add', null, 'x1'), 'segment_id'],
      [['Loyal', null, 'add', null, null, null, 'customer-1'], 'customerid'],
    ]
    const { rejected = [] } = await (await openWriter()).deliver(
      batchOf(columns, [...rows.map(([one]) => one), row(2)]),
    )
    assert.deepEqual(
      rejected.map(({ index, field }) => [index, field]),
      rows.map(([, field], index) => [index, field]),
    )
    const cookie: Cell[] = ['Loyal', null, 'add', null, null, 'g1', null]
    const without = await openWriter({ settings: { advertiserId: '77' } })
    assert.equal((await without.deliver(batchOf(columns, [cookie]))).rejected?.[0]?.field, 'gum')
  })

  test('says what is wrong with the settings, and blames no row', async () => {
    const codeOf = async (work: Promise<unknown>) => (await connectorErrorOf(work, contextOf())).code
    const one = batchOf(columns, [row(1)])
    assert.equal(await codeOf((await openWriter({ settings: {} })).deliver(one)), 'invalid_setting')
    assert.equal(await codeOf(openWriter({ settings: { advertiserId: 'x' } })), 'invalid_setting')
    assert.equal(await codeOf(openWriter({ settings: { gumCallerId: 'x' } })), 'invalid_setting')
    assert.equal(
      await codeOf((await openWriter()).deliver(batchOf(columns, [row(1, 'add', null, '404')]))),
      'object_not_found',
    )
    criteo.failure(/create$/, refusal(200, 'validation', 'name-must-be-unique'))
    assert.equal(await codeOf((await openWriter()).deliver(one)), 'conflict')
    criteo.failure(/create$/, refusal(200, 'validation', 'name-too-long'))
    assert.equal(await codeOf((await openWriter()).deliver(one)), 'request_refused')
  })

  test('takes a batch of the largest size, and renews a token that ends between two batches', async () => {
    const { rowsMax = 0 } = criteoCommerceGrowthAudiences.destination?.deliver?.batch({}) ?? {}
    const writer = await openWriter()
    const rows = Array.from({ length: rowsMax }, (_, n) => row(n, 'add', null))
    assert.deepEqual((await writer.deliver(batchOf(columns, rows))).rejected, [])
    criteo.expireTokens()
    await writer.deliver(batchOf(columns, [row('later', 'add', null)], 2))
    assert.equal(members().length, rowsMax + 1)
  })

  test('maps Criteo’s answers to codes', async () => {
    await (await openWriter()).deliver(batchOf(columns, [row(0)]))
    const cases: [Failure, ErrorAction, string, number?][] = [
      [{ ...refusal(429, 'quota', 'quota-exceeded'), headers: { 'retry-after': '7' } }, 'retry', 'rate_limited', 7000],
      [
        { ...refusal(429, 'quota', 'quota-exceeded'), headers: { 'x-ratelimit-reset': '5' } },
        'retry',
        'rate_limited',
        5000,
      ],
      [refusal(429, 'quota', 'quota-exceeded'), 'retry', 'rate_limited'],
      [refusal(500, 'availability', 'internal-error'), 'retry', 'platform_error'],
      [{ status: 503, text: '<html>' }, 'retry', 'platform_error'],
      [{ status: 200, text: '<html>' }, 'retry', 'malformed_response'],
      [{ status: 200, json: { data: { attributes: [] } } }, 'retry', 'malformed_response'],
      ['reset', 'retry', 'connection_lost'],
      ['reset after', 'retry', 'connection_lost'],
      [refusal(400, 'validation', 'invalid-amendment'), 'split', 'invalid_batch'],
      [{ status: 413, text: '' }, 'split', 'batch_too_large'],
      [refusal(403, 'authorization', 'missing-consent'), 'reconfigure', 'permission_denied'],
      [refusal(404, 'authorization', 'audience-invalid'), 'reconfigure', 'object_not_found'],
      [{ status: 410, text: '' }, 'fail', 'version_retired'],
      [refusal(200, 'validation', 'strange'), 'fail', 'request_refused'],
    ]
    const setting = { server: criteo, context: contextOf(), match: lists }
    const writer = await openWriter()
    const batch = batchOf(columns, [row(1)])
    for (const [failure, action, code, afterMs] of cases) {
      const wanted = { action, code, ...(afterMs === undefined ? {} : { afterMs }) }
      await assertFailure(setting, writer, batch, failure, wanted)
    }
    const expired = refusal(401, 'authentication', 'authorization-token-expired')
    criteo.failure(lists, expired)
    await assertFailure(setting, writer, batch, expired, { action: 'reauthenticate', code: 'expired_credentials' })
    await writer.deliver(batch)
    assert.deepEqual(members(), [person(0), person(1)].sort())
  })

  test('checks whether Criteo is reached, signs in and lets contact lists be read', async () => {
    const { check } = criteoCommerceGrowthAudiences
    assert.ok(check)
    const run = async (options: TestContextOptions = {}) =>
      (await check(contextOf(options))).map(({ name, ok }) => `${name} ${ok}`)
    const well = ['connectivity true', 'authentication true', 'permissions true']
    assert.deepEqual(await run(), well)
    assert.deepEqual(await run({ settings: {} }), well)
    const denied = ['connectivity true', 'authentication true', 'permissions false']
    assert.deepEqual(await run({ settings: { advertiserId: '78' } }), denied)
    const revoked = { secrets: { ...criteoSecrets, refreshToken: 'revoked-token' } }
    assert.deepEqual(await run(revoked), ['connectivity true', 'authentication false'])
  })
})

const testServer = await startCriteo()
after(() => testServer.close())

acceptDestination({
  connector: criteoCommerceGrowthAudiences,
  testServer: 'a server that keeps to Criteo’s OpenAPI document',
  secrets: criteoSecrets,
  wrongSecrets: { ...criteoSecrets, clientSecret: 'another-secret' },
  settings,
  missing: { ...settings, advertiserId: '78' },
  context: { routes: criteoRoutes(testServer.url) },
  columns: ['segment_name', 'action', 'email'],
  rows: Array.from({ length: 12 }, (_, n) => ['Loyal', 'add', sha(`${n}@example.com`)]),
  badRows: [
    { row: ['Loyal', 'add', ''], reason: /no identifier/ },
    { row: ['Loyal', 'swap', sha('98')], reason: /must be/, field: 'action' },
    { row: ['Loyal', 'add', `99999999${sha('x').slice(8)}`], reason: /reports that the identifier is invalid/ },
  ],
  async readBack() {
    assert.ok(testServer.segments.length < 2, 'a second audience was made')
    return [...(testServer.segments[0]?.members ?? [])].map((key) => ['Loyal', 'add', key.slice('email:'.length)])
  },
  reset() {
    testServer.segments.length = 0
  },
  deduplicates: true,
  visible: 'at once',
  errors: [
    problemOf(testServer, lists, refusal(429, 'quota', 'x'), { name: 'limits calls', action: 'retry' }),
    problemOf(testServer, lists, { status: 500, text: '' }, { name: 'has an internal error', action: 'retry' }),
    problemOf(testServer, lists, 'reset after', { name: 'cuts the answer off', action: 'retry' }),
    problemOf(testServer, lists, refusal(403, 'authorization', 'x'), { name: 'denies access', action: 'reconfigure' }),
  ],
  hang: hangOf(testServer, lists),
})
