import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, afterEach, beforeEach, describe, test } from 'node:test'
import type { Cell, ErrorAction } from '@penstock/connector'
import { acceptDestination, type TestContextOptions, testContext } from '@penstock/connector/acceptance'
import {
  assertFailure,
  batchOf,
  connectorErrorOf,
  type Failure,
  hangOf,
  problemOf,
} from '../../test/platform-server.ts'
import {
  type RedditEvents,
  redditConversionToken,
  redditPixel,
  startRedditEvents,
} from '../../test/reddit-events-server.ts'
import { jsonError, redditRoutes, refusal } from '../../test/reddit-server.ts'
import { redditConversions } from './reddit-conversions.ts'

const sha = (text: string) => createHash('sha256').update(text).digest('hex')
const time = Date.now() - 60_000
const secrets = { conversionToken: redditConversionToken }
const settings = { pixelId: redditPixel }
const columns = ['event_name', 'event_time', 'action_source', 'email', 'event_id']
const lead = (n: number, name = 'Lead'): Cell[] => [name, time, 'website', sha(`${n}@example.com`), `e-${n}`]
const posts = /conversion_events$/

describe('Reddit Conversions, against a server that keeps to what is published of it', () => {
  let reddit: RedditEvents
  beforeEach(async () => {
    reddit = await startRedditEvents()
  })
  afterEach(() => reddit.close())
  const contextOf = (options: TestContextOptions = {}) =>
    testContext({ secrets, settings, routes: redditRoutes(reddit.url), columns, ...options })
  async function openWriter(options: TestContextOptions = {}) {
    const { deliver } = redditConversions.destination ?? {}
    assert.ok(deliver)
    return deliver.open(contextOf(options))
  }

  test('makes Reddit’s events of columns', async () => {
    const row: Record<string, Cell> = {
      ...{
        event_name: 'Purchase',
        event_time: new Date(time).toISOString(),
        action_source: 'web',
        event_id: 'order-1',
      },
      ...{ email: sha('janedoe@example.com').toUpperCase(), phone: sha('+493012345678'), external_id: sha('c-1') },
      ...{ ip_address: sha('203.0.113.7'), idfa: sha('IDFA'), aaid: sha('aaid'), uuid: '1677.uuid' },
      ...{ user_agent: 'Browser/1', screen_width: 1080, screen_height: '1920', value: '72.39', currency: 'eur' },
      ...{ event_source_url: 'https://shop.example.com/?rdt_cid=click-1', num_items: 2, limited_data_use: 'yes' },
      products: '[{"id":7,"name":"Shirt","quantity":"2","price":14.99,"colour":"red"}]',
      ...{ data_processing_country: 'US', data_processing_region: 'US-CA' },
    }
    const names = Object.keys(row)
    const own: Record<string, Cell> = {
      event_name: 'Tried on',
      event_time: Math.floor(time / 1000),
      click_id: 'click-2',
    }
    const rows = [row, { ...own, action_source: 'physical_store', event_source_url: 'https://shop.example.com/' }].map(
      (cells: Record<string, Cell>) => [...names, 'click_id'].map((name) => cells[name] ?? null),
    )
    const wide = [...names, 'click_id']
    const writer = await openWriter({ columns: wide })
    assert.deepEqual((await writer.deliver(batchOf(wide, rows))).rejected, [])
    const sent = reddit.received[0]?.json as { data: { events: Record<string, unknown>[] } } | undefined
    const [bought, tried] = sent?.data.events ?? []
    assert.deepEqual(bought, {
      event_at: time,
      action_source: 'WEBSITE',
      type: { tracking_type: 'PURCHASE' },
      click_id: 'click-1',
      event_source_url: 'https://shop.example.com/?rdt_cid=click-1',
      user: {
        ...{ email: sha('janedoe@example.com'), phone_number: sha('+493012345678'), external_id: sha('c-1') },
        ...{ ip_address: sha('203.0.113.7'), idfa: sha('IDFA'), aaid: sha('aaid'), uuid: '1677.uuid' },
        ...{ user_agent: 'Browser/1', screen_dimensions: { width: 1080, height: 1920 } },
        data_processing_options: { modes: ['LDU'], country: 'US', region: 'US-CA' },
      },
      metadata: {
        ...{ conversion_id: 'order-1', value: 72.39, currency: 'EUR', item_count: 2 },
        products: [{ id: '7', name: 'Shirt', quantity: 2, item_price: 14.99 }],
      },
    })
    const { metadata, ...rest } = tried ?? {}
    assert.match(String((metadata as Record<string, unknown>).conversion_id), /^[0-9a-f]{32}$/)
    assert.deepEqual(rest, {
      ...{ event_at: Math.floor(time / 1000) * 1000, action_source: 'PHYSICAL_STORE', click_id: 'click-2' },
      type: { tracking_type: 'CUSTOM', custom_event_name: 'Tried on' },
    })
  })

  test('rejects before sending what cannot be taken', async () => {
    const wide = [...columns, 'value', 'currency', 'limited_data_use', 'products', 'user_agent']
    const good: Cell[] = [...lead(1), null, null, null, null, null]
    const old = Date.now() - 8 * 86_400_000
    const bad: [Cell[], string][] = [
      [good.with(0, null), 'event_name'],
      [good.with(1, 'yesterday'), 'event_time'],
      [good.with(1, old), 'event_time'],
      [good.with(2, 'phone'), 'action_source'],
      [good.with(3, 'jane@example.com'), 'email'],
      [good.with(3, null).with(9, 'Browser/1'), 'email'],
      [good.with(5, 'much'), 'value'],
      [good.with(6, 'euro'), 'currency'],
      [good.with(7, 'perhaps'), 'limited_data_use'],
      [good.with(8, 'shirt'), 'products'],
    ]
    const { rejected = [] } = await (await openWriter({ columns: wide })).deliver(
      batchOf(wide, [...bad.map(([row]) => row), good]),
    )
    assert.deepEqual(
      rejected.map(({ index, field }) => [index, field]),
      bad.map(([, field], index) => [index, field]),
    )
    assert.equal(reddit.events.size, 1)
  })

  test('finds the event that sinks a request, and sends the others with the IDs that they had', async () => {
    const rows = Array.from({ length: 9 }, (_, n) => lead(n, n === 5 ? 'Refused' : 'Lead').with(4, null))
    const { rejected } = await (await openWriter()).deliver(batchOf(columns, rows))
    assert.deepEqual(
      rejected?.map(({ index }) => index),
      [5],
    )
    assert.equal(reddit.events.size, 8)
    await (await openWriter()).deliver(batchOf(columns, rows))
    assert.equal(reddit.events.size, 8)
  })

  test('says what Reddit’s failures mean, without its words', async () => {
    const batch = batchOf(columns, [lead(1)])
    const writer = await openWriter()
    const setting = { server: reddit, context: contextOf(), match: posts }
    const failures: [Failure, ErrorAction, string, number?][] = [
      [refusal(401), 'reauthenticate', 'invalid_credentials'],
      [refusal(403), 'reconfigure', 'permission_denied'],
      [refusal(404), 'reconfigure', 'object_not_found'],
      [{ status: 429, headers: { 'retry-after': '7' }, text: '' }, 'retry', 'rate_limited', 7_000],
      [{ status: 200, json: { data: {} } }, 'retry', 'malformed_response'],
      [
        { status: 200, json: { data: { message: 'Successfully processed 0 conversion events.' } } },
        'retry',
        'malformed_response',
      ],
      ...['null', '7', '[]', '{"data":7}', '<html>'].map((text): [Failure, ErrorAction, string] => [
        { status: 200, text },
        'retry',
        'malformed_response',
      ]),
    ]
    for (const [failure, action, code, afterMs] of failures) {
      await assertFailure(setting, writer, batch, failure, {
        action,
        code,
        ...(afterMs === undefined ? {} : { afterMs }),
      })
    }
    for (const refused of [jsonError, { status: 200, json: { success: false } }]) {
      reddit.failure(posts, refused)
      const { rejected = [] } = await writer.deliver(batch)
      assert.deepEqual(
        rejected.map(({ index }) => index),
        [0],
      )
      assert.doesNotMatch(rejected[0]?.reason ?? '', /jane|user_data/)
    }
    assert.deepEqual((await writer.deliver(batch)).rejected, [])
    const { code } = await connectorErrorOf(openWriter({ settings: { pixelId: '../me' } }), contextOf())
    assert.equal(code, 'invalid_setting')
  })

  test('checks the token with a request of no events', async () => {
    const { check } = redditConversions
    assert.ok(check)
    const run = async (options: TestContextOptions = {}) => (await check(contextOf(options))).map(({ ok }) => ok)
    assert.deepEqual(await run(), [true, true, true])
    assert.deepEqual(await run({ settings: {} }), [true, true, true])
    assert.deepEqual(await run({ settings: { pixelId: 'a2_other' } }), [true, true, false])
    assert.deepEqual(await run({ secrets: { conversionToken: 'other' } }), [true, false])
    assert.equal(reddit.events.size, 0)
  })
})

const testServer = await startRedditEvents()
after(() => testServer.close())

acceptDestination({
  connector: redditConversions,
  testServer: 'a server that keeps to what is published of Reddit',
  secrets,
  wrongSecrets: { conversionToken: 'expired-token' },
  settings,
  missing: { pixelId: 'a2_other' },
  context: { routes: redditRoutes(testServer.url) },
  columns: columns.slice(0, 4),
  rows: Array.from({ length: 12 }, (_, n) => lead(n).slice(0, 4)),
  badRows: [{ row: lead(1, 'Refused').slice(0, 4), reason: /does not take/ }],
  async readBack() {
    return [...testServer.events.values()].map(({ event_at, user }) => [
      ...['Lead', Number(event_at), 'website', String((user as { email: string }).email)],
    ])
  },
  reset: () => testServer.events.clear(),
  deduplicates: true,
  visible: 'at once',
  errors: [
    problemOf(
      testServer,
      posts,
      { status: 429, text: '' },
      { name: 'limits calls', action: 'retry', code: 'rate_limited' },
    ),
    problemOf(testServer, posts, { status: 500, text: '' }, { name: 'has an internal error', action: 'retry' }),
    problemOf(testServer, posts, 'reset after', { name: 'cuts the answer off', action: 'retry' }),
    problemOf(testServer, posts, refusal(401), { name: 'finds the token revoked', action: 'reauthenticate' }),
  ],
  hang: hangOf(testServer, posts),
})
