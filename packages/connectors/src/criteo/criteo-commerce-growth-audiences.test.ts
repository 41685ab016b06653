import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cell } from '@penstock/connector'
import { type CriteoServer, criteoRoutes, criteoSecrets, refusal, startCriteo } from '../../test/criteo-server.ts'
import { sha256 } from '../../test/digest.ts'
import { batchOf, connectorErrorOf } from '../../test/platform-server.ts'
import { type FailureCase, testDestination } from '../../test/test-destination.ts'
import { criteoCommerceGrowthAudiences } from './criteo-commerce-growth-audiences.ts'

const columns = ['segment_name', 'segment_id', 'action', 'email', 'madid', 'gum', 'customerid']
const lists = /contact-list$/
const settings = { advertiserId: '77', audienceSource: 'CRM', gumCallerId: '329739' }

await testDestination<CriteoServer>({
  connector: criteoCommerceGrowthAudiences,
  testServer: 'a server that keeps to Criteo’s OpenAPI document',
  start: startCriteo,
  routes: criteoRoutes,
  secrets: criteoSecrets,
  wrongSecrets: { ...criteoSecrets, clientSecret: 'another-secret' },
  settings,
  missing: { ...settings, advertiserId: '78' },
  columns,
  posts: lists,
  check: {
    denied: [{ settings: { advertiserId: '78' } }],
    unknown: [{ ...criteoSecrets, refreshToken: 'revoked-token' }],
  },
  measures: {
    request: /GET .*contact-list\/statistics$/,
    reply: (id) => ({
      data: {
        id,
        type: 'ContactListStatistics',
        attributes: { numberOfIdentifiers: 900, numberOfMatches: 410, matchRate: 45.6 },
      },
    }),
    measure: { low: 410, high: 410, received: 900, matched: 410, status: null },
  },
  accepts: {
    columns: ['segment_name', 'action', 'email'],
    rows: Array.from({ length: 12 }, (_, n) => ['Loyal', 'add', sha256(`${n}@example.com`)]),
    badRows: [
      { row: ['Loyal', 'add', ''], reason: /no identifier/ },
      { row: ['Loyal', 'swap', sha256('98')], reason: /must be/, field: 'action' },
      { row: ['Loyal', 'add', `99999999${sha256('x').slice(8)}`], reason: /reports that the identifier is invalid/ },
    ],
    readBack(server) {
      assert.ok(server.segments.length < 2, 'a second audience was made')
      return [...(server.segments[0]?.members ?? [])].map((key) => ['Loyal', 'add', key.slice('email:'.length)])
    },
    reset(server) {
      server.segments.length = 0
    },
    problems: [
      [refusal(429, 'quota', 'x'), 'limits calls', 'retry'],
      [{ status: 500, text: '' }, 'has an internal error', 'retry'],
      ['reset after', 'cuts the answer off', 'retry'],
      [refusal(403, 'authorization', 'x'), 'denies access', 'reconfigure'],
    ],
  },
  tests(scene) {
    const { contextOf, openWriter, deliver, codeOf, rejects, fails } = scene

    const row = (
      n: number | string,
      action = 'add',
      name: string | null = 'Loyal',
      id: string | null = null,
    ): Cell[] => [name, id, action, sha256(`${n}@example.com`), null, null, null]
    const strange = (n: string): Cell[] => ['Loyal', null, 'add', `99999999${sha256(n).slice(8)}`, null, null, null]
    const person = (n: number | string) => `email:${sha256(`${n}@example.com`)}`
    const members = (at = 0) => [...(scene.server.segments[at]?.members ?? [])].sort()

    test('sends rows as Criteo documents them, identifiers of one kind together', async () => {
      const device = 'ea7583cd-a667-48bc-b806-42ecb2b48606'
      const rows: Cell[][] = [
        ['Loyal', null, 'add', sha256('a'), device, null, null],
        ['Loyal', null, 'remove', null, null, 'sample_gum3', null],
      ]
      const { rejected, state } = await deliver(rows)
      assert.deepEqual(rejected, [])
      assert.deepEqual(state, { account: '77', audiences: { Loyal: '34000' } })
      assert.equal(scene.server.segments[0]?.description, 'Kept by Penstock, from CRM')
      const sent = scene.server.received.filter(({ path }) => lists.test(path))
      assert.deepEqual(
        sent.map(({ path, json }) => [path, json]),
        [
          { operation: 'add', identifierType: 'email', identifiers: [sha256('a')] },
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
        ['Loyal', 'add', sha256('a'), '+911234567890'],
        ['Loyal', 'add', null, '+919876543210'],
      ]
      assert.deepEqual((await deliver(rows, { columns: wide })).rejected, [])
      assert.deepEqual(members(), [`email:${sha256('a')}`, 'phoneNumber:+919876543210'])
    })

    test('makes no second audience where the answer to making it was lost, and delivers twice without harm', async () => {
      for (const name of ['A', 'B', 'C']) {
        scene.server.segments.push({
          id: String(scene.server.segments.length + 1),
          name,
          description: '',
          members: new Set(),
        })
      }
      scene.server.failure(/create$/, 'reset after')
      const batch = batchOf(columns, [row(1), row(2), row(2, 'remove')])
      const error = await connectorErrorOf((await openWriter()).deliver(batch), contextOf())
      assert.equal(error.action, 'retry')
      for (let times = 0; times < 2; times++) await (await openWriter()).deliver(batch)
      assert.deepEqual(
        scene.server.segments.map(({ name }) => name),
        ['A', 'B', 'C', 'Loyal'],
      )
      assert.deepEqual(members(3), [person(1)])
    })

    test('names the rows that Criteo shows, and counts the others', async () => {
      scene.server.samples.most = 1
      const odd: Cell[] = ['Loyal', null, 'add', sha256('both'), 'no device', null, null]
      const rows = [row(1), strange('x'), strange('y'), strange('z'), odd]
      const { rejected } = await deliver(rows)
      assert.deepEqual(
        rejected?.map(({ index, count }) => [index, count]),
        [
          [1, undefined],
          [undefined, 2],
        ],
      )
      for (const { reason } of rejected ?? []) assert.doesNotMatch(reason, /9999/)
      assert.deepEqual(members(), [person(1), `email:${sha256('both')}`].sort())
    })

    test('rejects before sending what cannot be taken', async () => {
      const rows: [Cell[], string | undefined][] = [
        [row(1, 'add', null, 'x1'), 'segment_id'],
        [['Loyal', null, 'add', null, null, null, 'customer-1'], 'customerid'],
      ]
      await rejects(rows, [row(2)])
      const cookie: Cell[] = ['Loyal', null, 'add', null, null, 'g1', null]
      const without = await openWriter({ settings: { advertiserId: '77' } })
      assert.equal((await without.deliver(batchOf(columns, [cookie]))).rejected?.[0]?.field, 'gum')
    })

    test('says what is wrong with the settings, and blames no row', async () => {
      const one = batchOf(columns, [row(1)])
      assert.equal(await codeOf((await openWriter({ settings: {} })).deliver(one)), 'invalid_setting')
      assert.equal(await codeOf(openWriter({ settings: { advertiserId: 'x' } })), 'invalid_setting')
      assert.equal(await codeOf(openWriter({ settings: { gumCallerId: 'x' } })), 'invalid_setting')
      assert.equal(await codeOf(deliver([row(1, 'add', null, '404')])), 'object_not_found')
      scene.server.failure(/create$/, refusal(200, 'validation', 'name-must-be-unique'))
      assert.equal(await codeOf((await openWriter()).deliver(one)), 'conflict')
      scene.server.failure(/create$/, refusal(200, 'validation', 'name-too-long'))
      assert.equal(await codeOf((await openWriter()).deliver(one)), 'request_refused')
    })

    test('takes a batch of the largest size, and renews a token that ends between two batches', async () => {
      const { rowsMax = 0 } = criteoCommerceGrowthAudiences.destination?.deliver?.batch({}) ?? {}
      const writer = await openWriter()
      const rows = Array.from({ length: rowsMax }, (_, n) => row(n, 'add', null))
      assert.deepEqual((await writer.deliver(batchOf(columns, rows))).rejected, [])
      scene.server.expireTokens()
      await writer.deliver(batchOf(columns, [row('later', 'add', null)], 2))
      assert.equal(members().length, rowsMax + 1)
    })

    test('maps Criteo’s answers to codes', async () => {
      await deliver([row(0)])
      const cases: FailureCase[] = [
        [
          { ...refusal(429, 'quota', 'quota-exceeded'), headers: { 'retry-after': '7' } },
          'retry',
          'rate_limited',
          7000,
        ],
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
        [refusal(401, 'authentication', 'authorization-token-expired'), 'reauthenticate', 'expired_credentials'],
      ]
      const { writer, batch } = await fails(cases, [row(1)])
      await writer.deliver(batch)
      assert.deepEqual(members(), [person(0), person(1)].sort())
    })
  },
})
