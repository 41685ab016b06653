import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cell } from '@penstock/connector'
import { type AmazonAudienceServer, startAmazonAudiences } from '../../test/amazon-audience-server.ts'
import { amazonAdvertiser, amazonRoutes, amazonSecrets } from '../../test/amazon-server.ts'
import { assertRejected } from '../../test/assert-rejected.ts'
import { sha256 } from '../../test/digest.ts'
import { assertFailure, assertPreviewed, batchOf } from '../../test/platform-server.ts'
import { type FailureCase, testDestination } from '../../test/test-destination.ts'
import { amazonAdsDspAudiences } from './amazon-ads-dsp-audiences.ts'

const columns = ['segment_name', 'segment_id', 'action', 'external_user_id', 'email_sha256', 'country_code']
const secrets = { authType: 'oauth2', ...amazonSecrets }
const settings = { advertiserId: amazonAdvertiser }
const records = /^POST .*\/records$/
const jane = sha256('jane@example.com')
const strange = `99999999${jane.slice(8)}`

const only = '413642381039213536'

await testDestination<AmazonAudienceServer>({
  connector: amazonAdsDspAudiences,
  testServer: 'a server that keeps to Amazon’s models',
  start: startAmazonAudiences,
  routes: amazonRoutes,
  secrets,
  wrongSecrets: { ...secrets, clientSecret: 'another-secret' },
  settings,
  columns,
  posts: records,
  accepts: {
    columns: ['segment_id', 'action', 'external_user_id', 'email_sha256', 'country_code'],
    rows: Array.from({ length: 12 }, (_, n) => [only, 'add', `c-${n}`, sha256(`${n}@example.com`), 'US']),
    badRows: [
      { row: [only, 'add', null, 'abc', 'US'], reason: /not a SHA-256/, field: 'email_sha256' },
      { row: [only, 'swap', null, jane, 'US'], reason: /must be/, field: 'action' },
    ],
    readBack(server) {
      const found = [...(server.audiences[0]?.members ?? [])]
      return found.map(([id, { hashedPII }]) => {
        const [first] = hashedPII as { email: string }[]
        return [only, 'add', id, first?.email ?? '', 'US']
      })
    },
    reset(server) {
      server.audiences.length = 0
      server.audiences.push({ id: only, name: 'Loyal customers', country: '', members: new Map() })
    },
    problems: [
      [{ status: 429, headers: { 'retry-after': '30' } }, 'limits calls', 'retry', { code: 'rate_limited' }],
      [{ status: 403 }, 'denies access', 'reconfigure'],
    ],
  },
  tests(scene) {
    const { contextOf, openWriter, deliver, codeOf } = scene

    const row = (id: string | null, email: string, action = 'add'): Cell[] => [
      'Loyal customers',
      null,
      action,
      id,
      email,
      'us',
    ]

    test('makes an audience, keeps its ID of 64 bits, and finds it again by the state of the connection', async () => {
      const { state, rejected } = await deliver([row('c-1', jane), row(null, jane)])
      assert.deepEqual(
        [rejected, state],
        [[], { account: amazonAdvertiser, audiences: { 'Loyal customers': '413642381039213536' } }],
      )
      const [made, sent] = scene.server.received.filter(
        ({ method, path }) => method === 'POST' && path.startsWith('/amc'),
      )
      assert.match(
        made?.text ?? '',
        /^\{"targetResource":\{"advertiserId":590000000000000001\},"name":"Loyal customers"/,
      )
      assert.match(sent?.text ?? '', /^\{"audienceId":413642381039213536,"records":/)
      const about = { countryCode: 'US', hashedPII: [{ email: jane }], userConsent: { geo: { countryCode: 'US' } } }
      assert.deepEqual(sent?.json && (sent.json as { records: unknown }).records, [
        { action: 'CREATE', externalUserId: 'c-1', ...about },
        { action: 'CREATE', externalUserId: sha256(`email ${jane}`), ...about },
      ])
      const later = await openWriter({ state: state ?? null })
      await later.deliver(batchOf(columns, [row('c-1', jane, 'remove')]))
      assert.deepEqual([scene.server.audiences.length, scene.server.audiences[0]?.members.size], [1, 1])
    })

    test('waits for the results of an upload if the connection says so, and rejects the people whom Amazon names', async () => {
      scene.server.uploading.pending = 1
      const rows = [row('c-1', strange), row('c-2', jane), row('c-3', strange)]
      const waiting = { settings: { ...settings, resultWaitSeconds: 30 } }
      const { rejected } = await deliver(rows, waiting)
      assertRejected(rejected, [0, 2])
      assert.deepEqual((await deliver(rows)).rejected, [])
      scene.server.failure(/^GET .*\/records\//, { json: { jobState: 'FAILED' } })
      const failed = deliver(rows, waiting)
      assert.equal(await codeOf(failed), 'platform_error')
    })

    test('rejects before sending what cannot be taken, as a preview does, and in Europe people without consent', async () => {
      const rows: [Cell[], string][] = [
        [row('c-1', jane).with(0, 'Short'), 'segment_name'],
        [row('c-1', jane).with(1, 'abc'), 'segment_id'],
        [row('c-1', jane).with(5, null), 'country_code'],
        [row('c-1', 'jane@example.com'), 'email_sha256'],
      ]
      const batch = batchOf(
        columns,
        rows.map(([one]) => one),
      )
      const { rejected } = await (await openWriter()).deliver(batch)
      assert.deepEqual(
        rejected?.map(({ field }) => field),
        rows.map(([, field]) => field),
      )
      await assertPreviewed(amazonAdsDspAudiences, contextOf(), batch, rejected)
      const europe = { settings: { ...settings, region: 'EU' } }
      const refused = await deliver([row('c-1', jane)], europe)
      assert.deepEqual(
        refused.rejected?.map(({ field }) => field),
        ['consentUserData'],
      )
    })

    test('maps Amazon’s answers to codes', async () => {
      const cases: FailureCase[] = [
        [{ status: 429, headers: { 'retry-after': '70' } }, 'retry', 'rate_limited', 70_000],
        [{ status: 400, json: { message: 'may quote' } }, 'split', 'invalid_batch'],
        [{ status: 403 }, 'reconfigure', 'permission_denied'],
        [{ status: 404 }, 'reconfigure', 'object_not_found'],
        [{ status: 202, json: {} }, 'retry', 'malformed_response'],
      ]
      const writer = await openWriter()
      const batch = batchOf(columns, [row('c-1', jane)])
      for (const [failure, action, code, afterMs] of cases) {
        const wanted = { action, code, ...(afterMs === undefined ? {} : { afterMs }) }
        await assertFailure(
          { server: scene.server, context: contextOf(), match: records },
          writer,
          batch,
          failure,
          wanted,
        )
      }
      for (const failure of [{ status: 429 }, { status: 500 }, 'reset', 'reset after'] as const) {
        scene.server.failure(records, failure)
        assert.deepEqual((await writer.deliver(batch)).rejected, [])
      }
      scene.server.expireTokens()
      assert.deepEqual((await writer.deliver(batch)).rejected, [])
    })
  },
})
