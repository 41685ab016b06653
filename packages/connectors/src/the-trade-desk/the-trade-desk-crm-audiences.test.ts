import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import type { Cell, ErrorAction } from '@penstock/connector'
import { assertFailure, batchOf, connectorErrorOf, type Failure } from '../../test/platform-server.ts'
import { testDestination } from '../../test/test-destination.ts'
import { type CrmServer, crmRoutes, crmSecrets, startCrm } from '../../test/trade-desk-crm-server.ts'
import { dropReplacement } from './crm-drops.ts'
import { theTradeDeskCrmAudiences } from './the-trade-desk-crm-audiences.ts'

const columns = ['segment_name', 'segment_id', 'action', 'Email_SHA256', 'Phone_SHA256', 'UID2Token', 'TtlInMinutes']
const digest = (text: number | string) => createHash('sha256').update(`${text}`).digest('base64')
const settings = { advertiserId: 'adv1', region: 'US' }
const announcement = /POST \/v3\/crmdata\/segment\/adv1\/\w+$/
const upload = /^PUT /

const connector = theTradeDeskCrmAudiences
const row = (n: number | string, action = 'add', name: string | null = 'Loyal', id: string | null = null): Cell[] => [
  name,
  id,
  action,
  digest(n),
  null,
  null,
  null,
]

await testDestination<CrmServer>({
  connector,
  testServer: 'a server that keeps to published clients',
  start: startCrm,
  routes: crmRoutes,
  secrets: crmSecrets,
  wrongSecrets: { apiToken: 'another-token' },
  settings,
  missing: { ...settings, advertiserId: 'adv2' },
  columns,
  posts: announcement,
  hangs: upload,
  check: { denied: [{ settings: { advertiserId: 'adv2' } }], unknown: [{ apiToken: 'another-token' }] },
  accepts: ['add', 'replace'].map((action) => ({
    name: `with the action ${action}`,
    columns: ['segment_name', 'action', 'Email_SHA256'],
    rows: Array.from({ length: 12 }, (_, n) => ['Loyal', action, digest(n)]),
    badRows: [
      { row: ['Loyal', action, ''], reason: /no identifier/ },
      { row: ['Loyal', 'swap', digest(98)], reason: /must be/, field: 'action' },
      { row: ['Loyal', action, 'no digest'], reason: /not a SHA-256 digest in Base64/, field: 'Email_SHA256' },
    ],
    readBack({ audiences }) {
      assert.ok(audiences.length < 2, 'a second audience was made')
      return [...(audiences[0]?.members ?? [])].map((line) => ['Loyal', action, line])
    },
    reset({ audiences }) {
      audiences.length = 0
    },
    problems: [
      [{ status: 429, text: '' }, 'limits calls', 'retry'],
      [{ status: 500, text: '' }, 'has an internal error', 'retry'],
      ['reset after', 'cuts the answer off', 'retry'],
      [{ status: 503, text: '' }, 'has no store for now', 'retry', { match: upload }],
      [{ status: 403, text: '' }, 'denies access', 'reconfigure'],
    ],
  })),
  tests(scene) {
    const { contextOf, openWriter, codeOf } = scene
    const members = (at = 0) => [...(scene.server.audiences[at]?.members ?? [])].sort()

    test('announces a file for each kind and time, and uploads a digest in each line, without the token', async () => {
      const rows: Cell[][] = [
        row('a'),
        ['Loyal', null, 'add', digest('b'), digest('+1'), null, '129600'],
        ['Loyal', null, 'add', null, digest('+2'), null, null],
      ]
      const delivery = await (await openWriter()).deliver(batchOf(columns, rows))
      assert.deepEqual(delivery.rejected, [])
      assert.equal(delivery.held, undefined)
      assert.equal(delivery.bytes, 3 * 45)
      assert.deepEqual(delivery.state, { account: 'adv1', audiences: { Loyal: 'cc9b840' } })
      const sent = scene.server.received.filter(({ method }) => method !== 'GET')
      assert.deepEqual(
        sent.map(({ method, path, json, text }) => [method, path, json ?? text]),
        [
          ['POST', '/v3/crmdata/segment', { AdvertiserId: 'adv1', SegmentName: 'Loyal', Region: 'US' }],
          ['POST', '/v3/crmdata/segment/adv1/cc9b840', { PiiType: 'EmailHashedUnifiedId2', MergeMode: 'Add' }],
          ['PUT', '/data/advertiser/adv1/drop/ref1/pii', `${digest('a')}\n`],
          [
            'POST',
            '/v3/crmdata/segment/adv1/cc9b840',
            { PiiType: 'EmailHashedUnifiedId2', MergeMode: 'Add', TtlInMinutes: 129_600 },
          ],
          ['PUT', '/data/advertiser/adv1/drop/ref2/pii', `${digest('b')}\n`],
          ['POST', '/v3/crmdata/segment/adv1/cc9b840', { PiiType: 'PhoneHashedUnifiedId2', MergeMode: 'Add' }],
          ['PUT', '/data/advertiser/adv1/drop/ref3/pii', `${digest('+2')}\n`],
        ],
      )
      assert.ok(sent.every(({ method, headers }) => (method === 'PUT') === (headers['ttd-auth'] === undefined)))
    })

    test('replaces an audience by one file after the last row, with people of all batches', async () => {
      scene.server.audiences.push({ id: 'x1', name: 'Loyal', region: 'US', members: new Set([digest('old')]) })
      const writer = await openWriter()
      for (const [at, action] of ['replace', 'add', 'replace'].entries()) {
        const { held } = await writer.deliver(batchOf(columns, [row(2 * at, action), row(2 * at + 1, action)], at + 1))
        assert.equal(held, true)
      }
      // The same batch again, as after a lost result.
      await writer.deliver(batchOf(columns, [row(4, 'replace'), row(5, 'replace')], 3))
      assert.deepEqual(members(), [digest('old')])
      const { bytes = 0 } = (await writer.flush?.()) ?? {}
      assert.equal(bytes, 6 * 45)
      assert.deepEqual(members(), [0, 1, 2, 3, 4, 5].map(digest).sort())
      assert.deepEqual(
        scene.server.drops.map(({ mode }) => mode),
        ['Replace'],
      )
      assert.equal(await writer.flush?.(), undefined)
    })

    test('leaves an audience as it was if a transfer that replaces it fails or is stopped', async () => {
      scene.server.audiences.push({ id: 'x1', name: 'Loyal', region: 'US', members: new Set([digest('old')]) })
      const writer = await openWriter()
      await writer.deliver(batchOf(columns, [row(1, 'replace')]))
      const other: Cell[] = ['Loyal', null, 'replace', null, digest('+1'), null, null]
      assert.equal(await codeOf(writer.deliver(batchOf(columns, [other], 2))), 'invalid_setting')
      await writer.close?.()
      scene.server.failure(upload, { status: 503, text: '<Error/>' })
      const next = await openWriter()
      await next.deliver(batchOf(columns, [row(1, 'replace'), row(2, 'replace')]))
      assert.equal(await codeOf(next.flush?.()), 'platform_error')
      assert.deepEqual(members(), [digest('old')])
      await next.flush?.()
      assert.deepEqual(members(), [digest(1), digest(2)].sort())
    })

    test('rejects what no file holds, and a phone number of the European Union', async () => {
      const rows: [Cell[], string][] = [
        [['Loyal', null, 'add', null, null, 'token', null], 'UID2Token'],
        [['Loyal', null, 'add', 'f'.repeat(64), null, null, null], 'Email_SHA256'],
        [['Loyal', null, 'add', digest(1), null, null, '0'], 'TtlInMinutes'],
        [['Loyal', null, 'add', digest(1), null, null, '259201'], 'TtlInMinutes'],
        [['Loyal', null, 'remove', digest(1), null, null, null], 'action'],
        [['Loyal', null, 'add', null, digest('+1'), null, null], 'Phone_SHA256'],
      ]
      const writer = await openWriter({ settings: { ...settings, region: 'EU' } })
      const { rejected = [] } = await writer.deliver(batchOf(columns, [...rows.map(([one]) => one), row(2)]))
      assert.deepEqual(
        rejected.map(({ field }) => field),
        rows.map(([, field]) => field),
      )
      assert.deepEqual(members(), [digest(2)])
    })

    test('finds an audience on a later page, and makes no second one where the answer to making it was lost', async () => {
      for (const name of ['A', 'B', 'C', 'Loyal']) {
        scene.server.audiences.push({ id: `x${scene.server.audiences.length}`, name, region: 'US', members: new Set() })
      }
      await (await openWriter()).deliver(batchOf(columns, [row(1)]))
      assert.deepEqual(members(3), [digest(1)])
      scene.server.failure(/POST \/v3\/crmdata\/segment$/, 'reset after')
      const named = { settings: { ...settings, audienceName: 'Own' } }
      const batch = batchOf(columns, [row(1, 'add', null)])
      assert.equal((await connectorErrorOf((await openWriter(named)).deliver(batch), contextOf())).action, 'retry')
      await (await openWriter(named)).deliver(batch)
      assert.deepEqual(
        scene.server.audiences.map(({ name }) => name),
        ['A', 'B', 'C', 'Loyal', 'Own'],
      )
    })

    test('says what is wrong with the settings, and sends no file to another host', async () => {
      const one = batchOf(columns, [row(1)])
      assert.equal(await codeOf(openWriter({ settings: {} })), 'invalid_setting')
      assert.equal(
        await codeOf((await openWriter({ settings: { advertiserId: 'adv1' } })).deliver(one)),
        'invalid_setting',
      )
      const unknown = batchOf(columns, [row(1, 'add', null, 'nothing')])
      assert.equal(await codeOf((await openWriter()).deliver(unknown)), 'object_not_found')
      for (const origin of ['https://thetradedesk.com.example.com', 'http://api.thetradedesk.com', 'none']) {
        scene.server.store.origin = origin
        assert.equal(await codeOf((await openWriter()).deliver(one)), 'malformed_response')
      }
      assert.ok(!scene.server.received.some(({ method }) => method === 'PUT'))
    })

    test('maps answers of The Trade Desk and of its store to codes', async () => {
      await (await openWriter()).deliver(batchOf(columns, [row(0)]))
      const cases: [RegExp, Failure, ErrorAction, string, number?][] = [
        [announcement, { status: 429, headers: { 'retry-after': '7' }, text: '' }, 'retry', 'rate_limited', 7000],
        [announcement, { status: 429, text: '' }, 'retry', 'rate_limited'],
        [announcement, { status: 500, text: '' }, 'retry', 'platform_error'],
        [announcement, { status: 200, text: '<html>' }, 'retry', 'malformed_response'],
        [announcement, { status: 200, json: { ReferenceId: 'r' } }, 'retry', 'malformed_response'],
        [announcement, 'reset', 'retry', 'connection_lost'],
        [announcement, 'reset after', 'retry', 'connection_lost'],
        [announcement, { status: 400, json: { Message: 'jane@example.com' } }, 'fail', 'request_refused'],
        [announcement, { status: 401, text: '' }, 'reauthenticate', 'invalid_credentials'],
        [announcement, { status: 403, text: '' }, 'reconfigure', 'permission_denied'],
        [announcement, { status: 410, text: '' }, 'fail', 'version_retired'],
        [upload, { status: 503, headers: { 'retry-after': '3' }, text: '<Error/>' }, 'retry', 'platform_error', 3000],
        [upload, { status: 403, text: '<Error><Code>AccessDenied</Code></Error>' }, 'retry', 'platform_error'],
        [upload, { status: 429, text: '' }, 'retry', 'rate_limited'],
      ]
      const writer = await openWriter()
      const batch = batchOf(columns, [row(1)])
      for (const [match, failure, action, code, afterMs] of cases) {
        const wanted = { action, code, ...(afterMs === undefined ? {} : { afterMs }) }
        await assertFailure({ server: scene.server, context: contextOf(), match }, writer, batch, failure, wanted)
      }
      await writer.deliver(batch)
      assert.deepEqual(members(), [digest(0), digest(1)].sort())
    })

    test('refuses to keep more people than it can hold', async () => {
      const people = [{ EmailHashedUnifiedId2: digest(1) }, { EmailHashedUnifiedId2: digest(2) }]
      const target = { account: 'adv1', settings, audience: 'x1', name: 'Loyal', verb: 'add', replaces: false } as const
      const { send } = dropReplacement(undefined as never, undefined as never, 8)
      for (const key of ['1', '2', '3', '4', '4']) await send(people, { ...target, keys: [], rows: [] }, key)
      assert.equal(await codeOf(send(people, { ...target, keys: [], rows: [] }, '5')), 'not_supported')
    })

    test('replaces if the mapping gives the action to all rows, and never in a test', async () => {
      const { replaces } = connector.destination?.deliver ?? {}
      assert.equal(replaces?.({ mapping: JSON.stringify({ action: { value: 'replace' } }) }), true)
      assert.equal(replaces?.({ mapping: JSON.stringify({ action: 'action' }) }), false)
      const { rejected } = await (await openWriter({ test: true })).deliver(batchOf(columns, [row(1, 'replace')]))
      assert.equal(rejected?.[0]?.field, 'action')
    })
  },
})
