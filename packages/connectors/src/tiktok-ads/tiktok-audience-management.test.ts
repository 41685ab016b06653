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
import {
  advertiser,
  refusedDigest,
  tiktokAudienceSecrets as secrets,
  startTikTokAudiences,
  type TikTokAudienceServer,
} from '../../test/tiktok-audience-server.ts'
import { coded } from '../../test/tiktok-server.ts'
import { tiktokAudienceManagement as connector } from './tiktok-audience-management.ts'

const sha = (text: string) => createHash('sha256').update(text).digest('hex')
const md5 = (text: string) => createHash('md5').update(text).digest('hex')
const columns = ['segment_name', 'action', 'email_sha256']
const settings = { advertiserId: advertiser }
const routesOf = (url: string) => ({ 'https://business-api.tiktok.com': url })
const row = (n: number, action = 'add', name: string | null = 'Loyal'): Cell[] => [name, action, sha(`jane${n}`)]

describe('TikTok Audience Management, against a server that keeps to what is known of TikTok', () => {
  let tiktok: TikTokAudienceServer

  beforeEach(async () => {
    tiktok = await startTikTokAudiences()
  })
  afterEach(() => tiktok.close())

  const contextOf = (options: TestContextOptions = {}) =>
    testContext({ secrets, settings, columns, routes: routesOf(tiktok.url), ...options })
  async function openWriter(options: TestContextOptions = {}) {
    const { deliver } = connector.destination ?? {}
    assert.ok(deliver)
    return deliver.open(contextOf(options))
  }
  const mappings = () => tiktok.received.filter(({ path }) => /mapping/.test(path)).map(({ json }) => json)

  test('makes an audience and sends people with a slot for each kind of identifier, exactly', async () => {
    const columns = ['segment_name', 'action', 'email_sha256', 'phone_256', 'maid_sha256', 'idfa_md5']
    const batch = batchOf(columns, [
      ['Loyal', 'add', sha('jane@example.com').toUpperCase(), sha('+12025550100'), null, null],
      ['Loyal', 'add', sha('joe@example.com'), null, null, null],
      ['Loyal', 'remove', null, null, sha('device'), md5('idfa')],
    ])
    for (let times = 0; times < 2; times++) assert.deepEqual((await (await openWriter()).deliver(batch)).rejected, [])
    const [audience] = tiktok.audiences
    assert.deepEqual([tiktok.audiences.length, audience?.name], [1, 'Loyal'])
    const slot = (id: string) => ({ id, audience_ids: [audience?.audience_id] })
    assert.deepEqual(mappings().slice(0, 2), [
      {
        advertiser_ids: [advertiser],
        action: 'add',
        id_schema: ['EMAIL_SHA256', 'PHONE_SHA256'],
        batch_data: [
          [slot(sha('jane@example.com')), slot(sha('+12025550100'))],
          [slot(sha('joe@example.com')), {}],
        ],
      },
      {
        advertiser_ids: [advertiser],
        action: 'delete',
        id_schema: ['IDFA_SHA256', 'AAID_SHA256', 'IDFA_MD5'],
        batch_data: [[slot(sha('device')), slot(sha('device')), slot(md5('idfa'))]],
      },
    ])
    assert.equal(tiktok.members.size, 3)
  })

  test('finds the audience of a name on any page, and stores the one that it created', async () => {
    const made = await (await openWriter()).deliver(batchOf(columns, [row(1), row(2, 'add', null)]))
    const [loyal, own] = tiktok.audiences
    assert.deepEqual(made.state, {
      account: advertiser,
      audienceId: own?.audience_id,
      audiences: { Loyal: loyal?.audience_id },
    })
    assert.equal(own?.name, 'Penstock 0f1e2d3c4b5a6978')
    tiktok.audiences.unshift({ ...loyal, audience_id: '1', audience_type: 'Customer File' } as never)
    tiktok.behaviour.pageSize = 1
    if (own) own.name = 'Renamed at TikTok'
    await (await openWriter({ state: made.state as Json })).deliver(batchOf(columns, [row(3, 'add', null)]))
    await (await openWriter()).deliver(batchOf(columns, [row(4)]))
    assert.equal(tiktok.audiences.length, 3)
    assert.ok(tiktok.members.has(`${loyal?.audience_id} EMAIL_SHA256 ${sha('jane4')}`))
    const gone = { account: advertiser, audienceId: '42', audiences: {} }
    await (await openWriter({ state: gone })).deliver(batchOf(columns, [row(5, 'add', null)]))
    assert.equal(tiktok.audiences.length, 4, 'what is gone is made again')
  })

  test('takes the advertiser that the token is for, where it is one only', async () => {
    await (await openWriter({ settings: {} })).deliver(batchOf(columns, [row(1)]))
    assert.equal(tiktok.members.size, 1)
    for (const advertisers of [[], [advertiser, '6900000000000000002']]) {
      tiktok.behaviour.advertisers = advertisers
      const error = await connectorErrorOf(openWriter({ settings: {} }), contextOf())
      assert.equal(error.code, 'invalid_setting')
    }
    assert.equal(
      (await connectorErrorOf(openWriter({ settings: { advertiserId: 'x' } }), contextOf())).code,
      'invalid_setting',
    )
  })

  test('rejects before sending what cannot be taken', async () => {
    const columns = ['segment_name', 'segment_id', 'action', 'email_sha256', 'maid_md5']
    const rows: [Cell[], string | undefined][] = [
      [['x'.repeat(129), null, 'add', sha('a'), null], 'segment_name'],
      [['Loyal', 'abc', 'add', sha('a'), null], 'segment_id'],
      [['Loyal', null, 'add', null, sha('a')], 'maid_md5'],
    ]
    const batch = batchOf(columns, [...rows.map(([cells]) => cells), ['Loyal', null, 'add', sha('a'), null]])
    const { rejected = [] } = await (await openWriter()).deliver(batch)
    assert.deepEqual(
      rejected.map(({ index, field }) => [index, field]),
      rows.map(([, field], index) => [index, field]),
    )
    assert.equal(tiktok.members.size, 1)
  })

  test('takes a batch of the largest size, and has the engine find the row that TikTok refuses', async () => {
    const { rowsMax = 0 } = connector.destination?.deliver?.batch({}) ?? {}
    const rows = Array.from({ length: rowsMax }, (_, n) => row(n))
    assert.deepEqual((await (await openWriter()).deliver(batchOf(columns, rows))).rejected, [])
    assert.equal(tiktok.members.size, rowsMax)
    tiktok.members.clear()
    const bad: Cell[] = ['Loyal', 'add', refusedDigest]
    await deliverHalving(await openWriter(), columns, [row(1), bad, row(2), row(3)])
    assert.equal(tiktok.members.size, 3)
    const error = await connectorErrorOf((await openWriter()).deliver(batchOf(columns, [bad])), contextOf())
    assert.deepEqual([error.code, error.action], ['invalid_batch', 'split'])
  })

  test('reports to the engine what each of TikTok’s codes asks for', async () => {
    const cases: [Failure, ErrorAction, string, number?][] = [
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
    const setting = { server: tiktok, context: contextOf(), match: /mapping/ }
    const writer = await openWriter()
    await writer.deliver(batchOf(columns, [row(1)]))
    for (const [failure, action, code, afterMs] of cases) {
      const wanted = { action, code, ...(afterMs === undefined ? {} : { afterMs }) }
      await assertFailure(setting, writer, batchOf(columns, [row(2)]), failure, wanted)
    }
    assert.equal(tiktok.members.size, 1)
  })

  test('makes no audience of an answer that names none', async () => {
    for (const data of [null, [], { audience_id: '../1' }, { audience_id: {} }]) {
      tiktok.failure(/segment\/audience/, coded(0, data))
      const error = await connectorErrorOf((await openWriter()).deliver(batchOf(columns, [row(1)])), contextOf())
      assert.equal(error.code, 'malformed_response')
    }
    tiktok.failure(/list/, coded(0, { list: [7, { audience_id: 'x', name: 'Loyal' }], page_info: { total_page: '1' } }))
    assert.deepEqual((await (await openWriter()).deliver(batchOf(columns, [row(1)]))).rejected, [])
  })

  test('checks whether TikTok is reached, the token accepted and the advertiser visible', async () => {
    const { check } = connector
    assert.ok(check)
    const run = async (options: TestContextOptions = {}) =>
      (await check(contextOf(options))).map(({ name, ok }) => `${name} ${ok}`)
    assert.deepEqual(await run(), ['connectivity true', 'authentication true', 'permissions true'])
    assert.deepEqual(await run({ settings: {} }), ['connectivity true', 'authentication true', 'permissions true'])
    assert.deepEqual(await run({ settings: { advertiserId: '1' } }), [
      'connectivity true',
      'authentication true',
      'permissions false',
    ])
    const expired = { secrets: { ...secrets, accessToken: 'expired' } }
    assert.deepEqual(await run(expired), ['connectivity true', 'authentication false'])
    assert.equal(tiktok.audiences.length, 0)
  })
})

const testServer = await startTikTokAudiences()
after(() => testServer.close())

acceptDestination({
  connector,
  testServer: 'a server that keeps to what is known of TikTok',
  secrets,
  wrongSecrets: { ...secrets, accessToken: 'expired-token' },
  settings,
  missing: { advertiserId: '42' },
  context: { routes: routesOf(testServer.url) },
  columns,
  rows: Array.from({ length: 12 }, (_, n) => row(n)),
  badRows: [
    { row: ['Loyal', 'add', 'not hashed'], reason: /not a SHA-256 digest/, field: 'email_sha256' },
    { row: ['Loyal', 'purge', sha('x')], reason: /must be add or remove/, field: 'action' },
  ],
  readBack: async () => [...testServer.members].map((member) => ['Loyal', 'add', member.split(' ')[2] ?? '']),
  reset: () => testServer.members.clear(),
  deduplicates: true,
  visible: 'at once',
  errors: [
    problemOf(testServer, /mapping/, coded(40100), { name: 'limits calls', action: 'retry', code: 'rate_limited' }),
    problemOf(testServer, /mapping/, coded(50002), { name: 'has an internal error', action: 'retry' }),
    problemOf(testServer, /mapping/, 'reset after', { name: 'cuts the answer off', action: 'retry' }),
    problemOf(testServer, /mapping/, coded(40105), { name: 'finds the token expired', action: 'reauthenticate' }),
  ],
  hang: hangOf(testServer, /mapping|list/),
})
