import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cell, Connector } from '@penstock/connector'
import type { TestContextOptions } from '@penstock/connector/acceptance'
import {
  type AmazonAudienceServer,
  amazonEntity,
  amazonManager,
  startAmazonAudiences,
} from '../../test/amazon-audience-server.ts'
import { amazonRoutes, amazonSecrets } from '../../test/amazon-server.ts'
import { sha256 } from '../../test/digest.ts'
import { assertPreviewed, batchOf } from '../../test/platform-server.ts'
import { type FailureCase, testDestination } from '../../test/test-destination.ts'
import { amazonAdsDataManagerAudiences } from './amazon-ads-data-manager-audiences.ts'
import { amazonAdsDataManagerDspAudiences } from './amazon-ads-data-manager-dsp-audiences.ts'

const columns = ['segment_name', 'segment_id', 'action', 'external_user_id', 'email_sha256', 'maid', 'tcf']
const consents = { consentAdStorage: 'GRANTED', consentUserData: 'GRANTED' }
const settings = { managerId: amazonManager, country: 'us', ...consents }
const members = /^POST .*\/members$/
const jane = sha256('jane@example.com')
const strange = `99999999${jane.slice(8)}`

await testDestination<AmazonAudienceServer>({
  connector: amazonAdsDataManagerAudiences,
  testServer: 'a server that keeps to Amazon’s models',
  start: startAmazonAudiences,
  routes: amazonRoutes,
  secrets: amazonSecrets,
  wrongSecrets: { ...amazonSecrets, clientSecret: 'another-secret' },
  settings,
  missing: { managerId: 'another' },
  columns,
  posts: members,
  accepts: {
    columns: ['segment_name', 'action', 'external_user_id', 'email_sha256'],
    rows: Array.from({ length: 12 }, (_, n) => ['Loyal_customers', 'add', `c-${n}`, sha256(`${n}@example.com`)]),
    badRows: [
      { row: ['Loyal_customers', 'add', null, 'abc'], reason: /not a SHA-256/, field: 'email_sha256' },
      { row: ['Loyal_customers', 'swap', null, jane], reason: /must be/, field: 'action' },
      { row: ['Loyal_customers', 'add', null, strange], reason: /did not accept/ },
    ],
    readBack(server) {
      assert.ok(server.datasets.length < 2, 'a second audience was made')
      const found = [...(server.datasets[0]?.members ?? [])]
      return found.map(([id, { userIdentity }]) => {
        const { hashedPiis } = userIdentity as { hashedPiis: { em: string }[] }
        return ['Loyal_customers', 'add', id, hashedPiis[0]?.em ?? '']
      })
    },
    reset(server) {
      server.datasets.length = 0
    },
    problems: [
      [{ status: 429, headers: { 'retry-after': '30' } }, 'limits calls', 'retry', { code: 'rate_limited' }],
      [{ status: 403 }, 'denies access', 'reconfigure'],
    ],
  },
  tests(scene) {
    const { contextOf, openWriter, deliver, codeOf, fails } = scene

    async function openOther(connector: Connector, options: TestContextOptions) {
      const { deliver } = connector.destination ?? {}
      assert.ok(deliver)
      return deliver.open(contextOf(options))
    }
    const row = (id: string | null, email: string | null, action = 'add', maid: string | null = null): Cell[] => [
      'Loyal_customers',
      null,
      action,
      id,
      email,
      maid,
      null,
    ]
    const sentTo = (path: RegExp) => scene.server.received.filter((one) => path.test(`${one.method} ${one.path}`))

    test('makes an audience and sends people with their identifiers, their country and their consent', async () => {
      const rows: Cell[][] = [
        row('c-1', jane),
        row(null, jane, 'add', 'AB12-34'),
        ['Loyal_customers', null, 'remove', 'c-3', null, 'cd56', 'CPtcf'],
      ]
      const { rejected } = await deliver(rows)
      assert.deepEqual(rejected, [])
      assert.deepEqual(sentTo(/^POST \/adm\/audiences$/)[0]?.json, {
        name: 'Loyal_customers',
        countryCode: 'US',
        description: 'Loyal_customers',
      })
      const [added, removed] = sentTo(members)
      assert.equal(added?.headers['amazon-ads-manager-account-id'], amazonManager)
      const userConsent = {
        geo: { countryCode: 'US' },
        consent: { amzn: { amznAdStorage: 'GRANTED', amznUserData: 'GRANTED' } },
      }
      assert.deepEqual(added?.json, {
        members: [
          { action: 'CREATE', externalUserId: 'c-1', userIdentity: { hashedPiis: [{ em: jane }] }, userConsent },
          {
            action: 'CREATE',
            externalUserId: sha256(`em ${jane}`),
            userIdentity: { hashedPiis: [{ em: jane }], externalIdentities: [{ maId: 'AB12-34' }] },
            userConsent,
          },
        ],
      })
      assert.deepEqual(removed?.json, {
        members: [
          {
            action: 'DELETE',
            externalUserId: 'c-3',
            userIdentity: { externalIdentities: [{ maId: 'cd56' }] },
            userConsent: { geo: { countryCode: 'US' }, consent: { tcf: 'CPtcf' } },
          },
        ],
      })
    })

    test('names the account of the DSP in another header, and takes the last row about a person', async () => {
      const dsp = { settings: { customerFacingId: amazonEntity, country: 'DE', region: 'EU', ...consents } }
      const writer = await openOther(amazonAdsDataManagerDspAudiences, dsp)
      const rows = [row('c-1', jane), row('c-1', jane, 'remove'), row('c-2', jane)]
      assert.deepEqual((await writer.deliver(batchOf(columns, rows))).rejected, [])
      assert.equal(sentTo(members)[0]?.headers['amazon-ads-accountid'], amazonEntity)
      assert.deepEqual([...(scene.server.datasets[0]?.members.keys() ?? [])], ['c-2'])
    })

    test('finds an audience on a later page, one of the same name that came meanwhile, and that of the connection', async () => {
      for (const name of ['First', 'Second', 'Loyal_customers']) {
        scene.server.datasets.push({
          id: `ds-${scene.server.datasets.length + 1}`,
          name,
          country: 'US',
          members: new Map(),
        })
      }
      const { state } = await deliver([row('c-1', jane)])
      assert.deepEqual(state, { account: amazonManager, audiences: { Loyal_customers: 'ds-3' } })
      scene.server.failure(/^GET \/adm\/audiences$/, { json: { dataSets: [] } })
      await deliver([row('c-2', jane)])
      assert.equal(scene.server.datasets.length, 3)
      const own = await deliver([row('c-2', jane).with(0, null)])
      assert.deepEqual(own.rejected, [])
      assert.match(scene.server.datasets[3]?.name ?? '', /^Penstock_[\w-]+$/)
    })

    test('rejects the people whom Amazon names, and counts those whom it does not name', async () => {
      const rows = [row('c-1', strange), row('c-2', jane), row('c-3', strange)]
      const { rejected } = await deliver(rows)
      const reason = 'Amazon did not accept the person (400, 1003, INVALID_PII).'
      assert.deepEqual(
        rejected?.map((one) => [one.index, one.reason]),
        [
          [0, reason],
          [2, reason],
        ],
      )
      scene.server.failure(members, { json: { errors: [{ errorCode: 7 }, { index: 99 }, { index: 1 }] } })
      const unnamed = await deliver(rows)
      assert.deepEqual(
        unnamed.rejected?.map(({ index, count }) => [index, count]),
        [
          [1, undefined],
          [undefined, 2],
        ],
      )
    })

    test('rejects before sending what cannot be taken, as a preview does', async () => {
      const rows: [Cell[], string][] = [
        [row('c-1', jane).with(0, 'My customers'), 'segment_name'],
        [row('c-1', jane).with(0, 'Four'), 'segment_name'],
        [row('c-1', jane).with(1, '../terms'), 'segment_id'],
        [row('not an id', jane), 'external_user_id'],
        [row('c-1', 'jane@example.com'), 'email_sha256'],
        [row('c-1', null), 'email_sha256'],
      ]
      const context = contextOf()
      const batch = batchOf(
        columns,
        rows.map(([one]) => one),
      )
      const { rejected } = await (await openWriter()).deliver(batch)
      assert.deepEqual(
        rejected?.map(({ field }) => field),
        rows.map(([, field]) => field),
      )
      await assertPreviewed(amazonAdsDataManagerAudiences, context, batch, rejected)
      const { country: _, ...without } = settings
      assert.equal(await codeOf(openWriter({ settings: without })), 'invalid_setting')
    })

    test('maps Amazon’s answers to codes, and renews a token that ended', async () => {
      const cases: FailureCase[] = [
        [{ status: 429, headers: { 'retry-after': '70' } }, 'retry', 'rate_limited', 70_000],
        [{ status: 400, json: { code: '400' } }, 'split', 'invalid_batch'],
        [{ status: 403, json: { code: '403' } }, 'reconfigure', 'permission_denied'],
        [{ status: 404, json: { code: '404' } }, 'reconfigure', 'object_not_found'],
      ]
      const { writer, batch } = await fails(cases, [row('c-1', jane)])
      for (const failure of [{ status: 429 }, { status: 500 }, 'reset', 'reset after'] as const) {
        scene.server.failure(members, failure)
        assert.deepEqual((await writer.deliver(batch)).rejected, [])
      }
      scene.server.expireTokens()
      assert.deepEqual((await writer.deliver(batch)).rejected, [])
      scene.server.failure(/^POST \/adm\/audiences$/, { status: 201, json: { dataSetId: '../x' } })
      const odd = deliver([row('c-1', jane).with(0, 'Other_one')])
      assert.equal(await codeOf(odd), 'malformed_response')
    })

    test('checks the sign-in and the account', async () => {
      const { check } = amazonAdsDataManagerAudiences
      assert.ok(check)
      const run = async (options: TestContextOptions = {}) =>
        (await check(contextOf(options))).map(({ name, ok }) => `${name} ${ok}`)
      assert.deepEqual(await run(), ['connectivity true', 'authentication true', 'permissions true'])
      const other = { settings: { ...settings, managerId: 'another' } }
      assert.deepEqual((await run(other)).at(-1), 'permissions false')
      scene.server.failure(/^GET \/adm\/audiences$/, { status: 404, json: { code: '404' } })
      const [, , denied] = await check(contextOf())
      assert.match(denied?.message ?? '', /terms of Ads data manager/)
    })
  },
})
