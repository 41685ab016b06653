import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import type { Cell, Json } from '@penstock/connector'
import { assertRejected } from '../../test/assert-rejected.ts'
import { sha256 } from '../../test/digest.ts'
import { batchOf, connectorErrorOf, deliverHalving } from '../../test/platform-server.ts'
import { type FailureCase, testDestination } from '../../test/test-destination.ts'
import {
  advertiser,
  refusedDigest,
  tiktokAudienceSecrets as secrets,
  startTikTokAudiences,
  type TikTokAudienceServer,
} from '../../test/tiktok-audience-server.ts'
import { coded } from '../../test/tiktok-server.ts'
import { tiktokAudienceManagement as connector } from './tiktok-audience-management.ts'

const md5 = (text: string) => createHash('md5').update(text).digest('hex')
const columns = ['segment_name', 'action', 'email_sha256']
const settings = { advertiserId: advertiser }
const routesOf = (url: string) => ({ 'https://business-api.tiktok.com': url })
const row = (n: number, action = 'add', name: string | null = 'Loyal'): Cell[] => [name, action, sha256(`jane${n}`)]

await testDestination<TikTokAudienceServer>({
  connector,
  testServer: 'a server that keeps to what is known of TikTok',
  start: startTikTokAudiences,
  routes: routesOf,
  secrets,
  wrongSecrets: { ...secrets, accessToken: 'expired-token' },
  settings,
  missing: { advertiserId: '42' },
  columns,
  posts: /mapping/,
  hangs: /mapping|list/,
  check: {
    denied: [{ settings: { advertiserId: '1' } }],
    unknown: [{ ...secrets, accessToken: 'expired' }],
    left: ({ audiences }) => audiences,
  },
  measures: {
    request: /GET .*custom_audience\/list/,
    reply: (audience_id) => ({
      code: 0,
      data: {
        list: [{ audience_id, name: 'Loyal', cover_num: 2300, is_valid: true, is_expiring: false, shared: false }],
      },
    }),
    measure: { low: 2300, high: 2300, received: null, matched: null, status: 'valid' },
  },
  accepts: {
    columns,
    rows: Array.from({ length: 12 }, (_, n) => row(n)),
    badRows: [
      { row: ['Loyal', 'add', 'not hashed'], reason: /not a SHA-256 digest/, field: 'email_sha256' },
      { row: ['Loyal', 'purge', sha256('x')], reason: /must be add or remove/, field: 'action' },
    ],
    readBack: (server) => [...server.members].map((member) => ['Loyal', 'add', member.split(' ')[2] ?? '']),
    reset: (server) => server.members.clear(),
    problems: [
      [coded(40100), 'limits calls', 'retry', { code: 'rate_limited' }],
      [coded(50002), 'has an internal error', 'retry'],
      ['reset after', 'cuts the answer off', 'retry'],
      [coded(40105), 'finds the token expired', 'reauthenticate'],
    ],
  },
  tests(scene) {
    const { contextOf, openWriter, deliver, codeOf, fails, largest } = scene

    const mappings = () => scene.server.received.filter(({ path }) => /mapping/.test(path)).map(({ json }) => json)

    test('makes an audience and sends people with a slot for each kind of identifier, exactly', async () => {
      const columns = ['segment_name', 'action', 'email_sha256', 'phone_256', 'maid_sha256', 'idfa_md5']
      const batch = batchOf(columns, [
        ['Loyal', 'add', sha256('jane@example.com').toUpperCase(), sha256('+12025550100'), null, null],
        ['Loyal', 'add', sha256('joe@example.com'), null, null, null],
        ['Loyal', 'remove', null, null, sha256('device'), md5('idfa')],
      ])
      for (let times = 0; times < 2; times++) assert.deepEqual((await (await openWriter()).deliver(batch)).rejected, [])
      const [audience] = scene.server.audiences
      assert.deepEqual([scene.server.audiences.length, audience?.name], [1, 'Loyal'])
      const slot = (id: string) => ({ id, audience_ids: [audience?.audience_id] })
      assert.deepEqual(mappings().slice(0, 2), [
        {
          advertiser_ids: [advertiser],
          action: 'add',
          id_schema: ['EMAIL_SHA256', 'PHONE_SHA256'],
          batch_data: [
            [slot(sha256('jane@example.com')), slot(sha256('+12025550100'))],
            [slot(sha256('joe@example.com')), {}],
          ],
        },
        {
          advertiser_ids: [advertiser],
          action: 'delete',
          id_schema: ['IDFA_SHA256', 'AAID_SHA256', 'IDFA_MD5'],
          batch_data: [[slot(sha256('device')), slot(sha256('device')), slot(md5('idfa'))]],
        },
      ])
      assert.equal(scene.server.members.size, 3)
    })

    test('finds the audience of a name on any page, and stores the one that it created', async () => {
      const made = await deliver([row(1), row(2, 'add', null)])
      const [loyal, own] = scene.server.audiences
      assert.deepEqual(made.state, {
        account: advertiser,
        audienceId: own?.audience_id,
        audiences: { Loyal: loyal?.audience_id },
      })
      assert.equal(own?.name, 'Penstock 0f1e2d3c4b5a6978')
      scene.server.audiences.unshift({ ...loyal, audience_id: '1', audience_type: 'Customer File' } as never)
      scene.server.behaviour.pageSize = 1
      if (own) own.name = 'Renamed at TikTok'
      await deliver([row(3, 'add', null)], { state: made.state as Json })
      await deliver([row(4)])
      assert.equal(scene.server.audiences.length, 3)
      assert.ok(scene.server.members.has(`${loyal?.audience_id} EMAIL_SHA256 ${sha256('jane4')}`))
      const gone = { account: advertiser, audienceId: '42', audiences: {} }
      await deliver([row(5, 'add', null)], { state: gone })
      assert.equal(scene.server.audiences.length, 4, 'what is gone is made again')
    })

    test('takes the advertiser that the token is for, where it is one only', async () => {
      await deliver([row(1)], { settings: {} })
      assert.equal(scene.server.members.size, 1)
      for (const advertisers of [[], [advertiser, '6900000000000000002']]) {
        scene.server.behaviour.advertisers = advertisers
        const error = await connectorErrorOf(openWriter({ settings: {} }), contextOf())
        assert.equal(error.code, 'invalid_setting')
      }
      assert.equal(await codeOf(openWriter({ settings: { advertiserId: 'x' } })), 'invalid_setting')
    })

    test('rejects before sending what cannot be taken', async () => {
      const columns = ['segment_name', 'segment_id', 'action', 'email_sha256', 'maid_md5']
      const rows: [Cell[], string | undefined][] = [
        [['x'.repeat(129), null, 'add', sha256('a'), null], 'segment_name'],
        [['Loyal', 'abc', 'add', sha256('a'), null], 'segment_id'],
        [['Loyal', null, 'add', null, sha256('a')], 'maid_md5'],
      ]
      const batch = batchOf(columns, [...rows.map(([cells]) => cells), ['Loyal', null, 'add', sha256('a'), null]])
      const { rejected = [] } = await (await openWriter()).deliver(batch)
      assertRejected(
        rejected,
        rows.map(([, field], index) => [index, field]),
      )
      assert.equal(scene.server.members.size, 1)
    })

    test('takes a batch of the largest size, and has the engine find the row that TikTok refuses', async () => {
      const rowsMax = await largest((n) => row(n))
      assert.equal(scene.server.members.size, rowsMax)
      scene.server.members.clear()
      const bad: Cell[] = ['Loyal', 'add', refusedDigest]
      await deliverHalving(await openWriter(), columns, [row(1), bad, row(2), row(3)])
      assert.equal(scene.server.members.size, 3)
      const error = await connectorErrorOf(deliver([bad]), contextOf())
      assert.deepEqual([error.code, error.action], ['invalid_batch', 'split'])
    })

    test('reports to the engine what each of TikTok’s codes asks for', async () => {
      const cases: FailureCase[] = [
        [coded(40100), 'retry', 'rate_limited'],
        [{ status: 429, headers: { 'retry-after': '5' } }, 'retry', 'rate_limited', 5000],
        [coded(40201), 'retry', 'conflict'],
        [coded(50002), 'retry', 'platform_error'],
        [{ status: 500, text: 'oops' }, 'retry', 'platform_error'],
        ['reset', 'retry', 'connection_lost'],
        [{ json: {} }, 'retry', 'malformed_response'],
        [{ text: '<html>' }, 'retry', 'malformed_response'],
        [coded(40102), 'reauthenticate', 'invalid_credentials'],
        [coded(40001), 'reconfigure', 'permission_denied'],
        [coded(20001), 'split', 'invalid_batch'],
        [coded(40002), 'split', 'invalid_batch'],
        [coded(41000), 'fail', 'request_refused'],
      ]
      await deliver([row(1)])
      await fails(cases, [row(2)])
      assert.equal(scene.server.members.size, 1)
    })

    test('makes no audience of an answer that names none', async () => {
      for (const data of [null, [], { audience_id: '../1' }, { audience_id: {} }]) {
        scene.server.failure(/segment\/audience/, coded(0, data))
        const error = await connectorErrorOf(deliver([row(1)]), contextOf())
        assert.equal(error.code, 'malformed_response')
      }
      scene.server.failure(
        /list/,
        coded(0, { list: [7, { audience_id: 'x', name: 'Loyal' }], page_info: { total_page: '1' } }),
      )
      assert.deepEqual((await deliver([row(1)])).rejected, [])
    })
  },
})
