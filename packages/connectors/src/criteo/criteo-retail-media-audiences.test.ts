import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cell } from '@penstock/connector'
import { assertRejected } from '../../test/assert-rejected.ts'
import { type CriteoServer, criteoRoutes, criteoSecrets, refusal, startCriteo } from '../../test/criteo-server.ts'
import { sha256 } from '../../test/digest.ts'
import { batchOf, connectorErrorOf, type Reply } from '../../test/platform-server.ts'
import { type FailureCase, testDestination } from '../../test/test-destination.ts'
import { criteoRetailMediaAudiences } from './criteo-retail-media-audiences.ts'

const columns = ['segment_name', 'segment_id', 'action', 'email_sha256', 'maid']
const amendments = /contact-list\/add-remove$/
const settings = { accountId: '9001', retailerId: '12', audienceSource: 'CRM' }
const device = 'ea7583cd-a667-48bc-b806-42ecb2b48606'

await testDestination<CriteoServer>({
  connector: criteoRetailMediaAudiences,
  testServer: 'a server that keeps to Criteo’s OpenAPI document',
  start: startCriteo,
  routes: criteoRoutes,
  secrets: criteoSecrets,
  wrongSecrets: { ...criteoSecrets, clientSecret: 'another-secret' },
  settings,
  missing: { ...settings, accountId: '9002' },
  columns,
  posts: amendments,
  check: { denied: [{ settings: { accountId: '9002' } }] },
  accepts: {
    columns: ['segment_name', 'action', 'email_sha256'],
    rows: Array.from({ length: 12 }, (_, n) => ['Loyal', 'add', sha256(`${n}@example.com`)]),
    badRows: [
      { row: ['Loyal', 'add', ''], reason: /no identifier/ },
      { row: ['Loyal', 'swap', sha256('98')], reason: /must be/, field: 'action' },
      { row: ['Loyal', 'add', `99999999${sha256('x').slice(8)}`], reason: /reports that the identifier is invalid/ },
    ],
    readBack(server) {
      assert.ok(server.retailLists.length < 2, 'a second audience was made')
      return [...(server.retailLists[0]?.members ?? [])].map((digest) => ['Loyal', 'add', digest])
    },
    reset(server) {
      server.retailLists.length = 0
    },
    problems: [
      [refusal(429, 'quota', 'x'), 'limits calls', 'retry'],
      [{ status: 500, text: '' }, 'has an internal error', 'retry'],
      ['reset after', 'cuts the answer off', 'retry'],
      [refusal(403, 'authorization', 'x'), 'denies access', 'reconfigure'],
    ],
  },
  tests(scene) {
    const { contextOf, openWriter, deliver, codeOf, fails } = scene

    const row = (
      n: number | string,
      action = 'add',
      name: string | null = 'Loyal',
      id: string | null = null,
    ): Cell[] => [name, id, action, sha256(`${n}@example.com`), null]
    const strange = (n: string): Cell[] => ['Loyal', null, 'add', `99999999${sha256(n).slice(8)}`, null]

    test('makes a list of the kind of the first column, and sends rows as Criteo documents them', async () => {
      const { rejected, state } = await deliver([
        row('a'),
        ['Loyal', null, 'add', sha256('b'), device],
        row('a', 'remove'),
      ])
      assert.deepEqual(rejected, [])
      const id = '568708742535471104'
      assert.deepEqual(state, { account: '9001', audiences: { Loyal: id } })
      const sent = scene.server.received.filter(({ path }) => /create$|add-remove$/.test(path))
      const amendment = (operation: string, identifiers: string[]) => [
        `/2026-07/retail-media/audience-segments/${id}/contact-list/add-remove`,
        { data: { type: 'AddRemoveContactlist', attributes: { operation, identifierType: 'Email', identifiers } } },
      ]
      const attributes = {
        name: 'Loyal',
        description: 'Kept by Penstock, from CRM',
        retailerId: '12',
        contactList: { identifierType: 'Email' },
      }
      assert.deepEqual(
        sent.map(({ path, json }) => [path, json]),
        [
          [
            '/2026-07/retail-media/accounts/9001/audience-segments/create',
            { data: [{ type: 'AudienceSegment', attributes }] },
          ],
          amendment('remove', [sha256('a@example.com')]),
          amendment('add', [sha256('b')]),
        ],
      )
    })

    test('sends the kind of identifiers that the connection chose, and rejects rows without it', async () => {
      const writer = await openWriter({ settings: { ...settings, identifierType: 'UserIdentifier' } })
      const rows: Cell[][] = [['Loyal', null, 'add', sha256('a'), device], row('b')]
      const { rejected } = await writer.deliver(batchOf(columns, rows))
      assertRejected(rejected, [[1, 'maid']])
      assert.equal(scene.server.retailLists[0]?.identifierType, 'UserIdentifier')
      assert.deepEqual([...(scene.server.retailLists[0]?.members ?? [])], [device])
    })

    test('finds an audience of the retailer by its name, the oldest one that can be changed', async () => {
      const list = { description: '', identifierType: 'Email', isReadOnly: false, members: new Set<string>() }
      const made = (id: string, name: string, day: number, others: object = {}) =>
        scene.server.retailLists.push({
          ...list,
          id,
          name,
          retailerId: '12',
          createdAt: `2026-01-0${day}T00:00:00Z`,
          ...others,
        })
      made('1', 'A', 1)
      made('2', 'B', 1)
      made('3', 'Loyal', 1, { retailerId: '13' })
      made('4', 'Loyal', 2, { isReadOnly: true })
      made('5', 'Loyal', 4)
      made('6', 'Loyal', 3)
      const { state } = await deliver([row(1)])
      assert.deepEqual(state, { account: '9001', audiences: { Loyal: '6' } })
    })

    test('makes no second audience where the answer to making it was lost, and delivers twice without harm', async () => {
      scene.server.failure(/create$/, 'reset after')
      const batch = batchOf(columns, [row(1), row(2), row(2, 'remove')])
      assert.equal((await connectorErrorOf((await openWriter()).deliver(batch), contextOf())).action, 'retry')
      for (let times = 0; times < 2; times++) await (await openWriter()).deliver(batch)
      assert.equal(scene.server.retailLists.length, 1)
      assert.deepEqual([...(scene.server.retailLists[0]?.members ?? [])], [sha256('1@example.com')])
    })

    test('names the rows that Criteo shows, and counts the others', async () => {
      scene.server.samples.most = 1
      const { rejected } = await deliver([row(1), strange('x'), strange('y'), strange('z')])
      assert.deepEqual(
        rejected?.map(({ index, count }) => [index, count]),
        [
          [1, undefined],
          [undefined, 2],
        ],
      )
      for (const { reason } of rejected ?? []) assert.doesNotMatch(reason, /9999/)
    })

    test('says what is wrong with the settings, and blames no row', async () => {
      const one = batchOf(columns, [row(1)])
      assert.equal(await codeOf((await openWriter({ settings: {} })).deliver(one)), 'invalid_setting')
      assert.equal(
        await codeOf((await openWriter({ settings: { accountId: '9001' } })).deliver(one)),
        'invalid_setting',
      )
      assert.equal(await codeOf(openWriter({ settings: { accountId: '../x' } })), 'invalid_setting')
      const known = batchOf(columns, [row(1, 'add', null, '404')])
      assert.equal(await codeOf((await openWriter({ settings: {} })).deliver(known)), 'object_not_found')
      const unmade: Reply = { json: { data: [], errors: [], warnings: [{ type: 'validation', code: 'too-long' }] } }
      scene.server.failure(/create$/, unmade)
      assert.equal(await codeOf((await openWriter()).deliver(one)), 'request_refused')
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
        [refusal(429, 'quota', 'quota-exceeded'), 'retry', 'rate_limited'],
        [refusal(500, 'availability', 'internal-error'), 'retry', 'platform_error'],
        [refusal(200, 'availability', 'internal-error'), 'retry', 'platform_error'],
        [{ status: 503, text: '<html>' }, 'retry', 'platform_error'],
        [{ status: 200, text: '<html>' }, 'retry', 'malformed_response'],
        [{ status: 200, json: { data: {} } }, 'retry', 'malformed_response'],
        ['reset', 'retry', 'connection_lost'],
        ['reset after', 'retry', 'connection_lost'],
        [refusal(400, 'validation', 'invalid-amendment'), 'split', 'invalid_batch'],
        [{ status: 413, text: '' }, 'split', 'batch_too_large'],
        [refusal(403, 'authorization', 'missing-consent'), 'reconfigure', 'permission_denied'],
        [refusal(404, 'authorization', 'audience-invalid'), 'reconfigure', 'object_not_found'],
        [{ status: 410, text: '' }, 'fail', 'version_retired'],
        [refusal(200, 'validation', 'strange'), 'fail', 'request_refused'],
      ]
      const { writer, batch } = await fails(cases, [row(1)])
      scene.server.expireTokens()
      await writer.deliver(batch)
      assert.equal(scene.server.retailLists[0]?.members.size, 2)
    })
  },
})
