import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, afterEach, beforeEach, describe, test } from 'node:test'
import type { Cell } from '@penstock/connector'
import { acceptDestination, type TestContextOptions, testContext } from '@penstock/connector/acceptance'
import { datasetId, type MetaServer, metaSecrets, problem, startMeta } from '../../test/meta-server.ts'
import { assertFailure, batchOf, connectorErrorOf, hangOf, problemOf } from '../../test/platform-server.ts'
import { metaConversions } from './meta-conversions.ts'

describe('Meta Conversions, against a server that keeps to what is known of Meta', () => {
  const columns = ['event_name', 'event_time', 'action_source', 'user_data', 'custom_data', 'event_id']
  const { authType: _, ...secrets } = metaSecrets
  const sha = (text: string) => createHash('sha256').update(text).digest('hex')
  const now = () => Math.floor(Date.now() / 1000)
  const daysAgo = (days: number) => now() - days * 86_400
  const person = (n: number) => JSON.stringify({ em: [sha(`${n}@example.com`)], client_user_agent: 'Browser/1' })
  const lead = (n: number, id: string | null = null, time: Cell = now()): Cell[] => [
    'Lead',
    time,
    'system_generated',
    person(n),
    null,
    id,
  ]
  let meta: MetaServer

  beforeEach(async () => {
    meta = await startMeta()
  })
  afterEach(() => meta.close())

  const contextOf = (options: TestContextOptions = {}) =>
    testContext({
      secrets,
      settings: { datasetId },
      routes: { 'https://graph.facebook.com': meta.url },
      columns,
      ...options,
    })
  async function openWriter(options: TestContextOptions = {}) {
    const { deliver } = metaConversions.destination ?? {}
    assert.ok(deliver)
    return deliver.open(contextOf(options))
  }

  test('sends events, and delivers twice without a second one', async () => {
    const shop = [
      'Purchase',
      new Date(daysAgo(60) * 1000).toISOString(),
      'physical_store',
      person(2),
      '{"value":9.5,"currency":"EUR"}',
      '',
    ]
    const call = ['Contact', String(now()), 'call_center', '{"external_id":"77"}', null, null]
    const batch = batchOf(columns, [lead(1, 'own-id'), shop, call])
    for (let times = 0; times < 2; times++) {
      const { rejected, held, bytes } = await (await openWriter()).deliver(batch)
      assert.deepEqual([rejected, held, bytes > 300], [[], undefined, true])
    }
    const events = [...meta.events.values()]
    assert.deepEqual(
      events.map(({ event_name, action_source }) => [event_name, action_source]),
      [
        ['Lead', 'system_generated'],
        ['Purchase', 'physical_store'],
        ['Contact', 'phone_call'],
      ],
    )
    assert.equal(events[0]?.event_id, 'own-id')
    assert.deepEqual(events[1]?.custom_data, { value: 9.5, currency: 'EUR' })
    await (await openWriter()).deliver({ ...batch, key: 'f'.repeat(32) })
    assert.equal(meta.events.size, 5, 'rows without an ID of their own are other events in another batch')
  })

  const sent = () => meta.received.filter(({ path }) => path.endsWith('/events')).map(({ json }) => json)

  test('makes Meta’s events of columns, with digests in either case and with the suffix of Meta’s library', async () => {
    const time = now() - 60
    const row: Record<string, Cell> = {
      ...{ event_name: 'Purchase', event_time: time * 1000, action_source: 'website', event_id: 'order-1' },
      ...{
        event_source_url: 'https://shop.example.com/thanks?fbclid=IwAR-2',
        referrer_url: 'https://shop.example.com/',
      },
      ...{ email: sha('jane@example.com'), phone: sha('493012345678').toUpperCase(), first_name: sha('jane') },
      ...{ last_name: sha('doe'), date_of_birth: sha('19800131'), gender: sha('f'), city: sha('berlin') },
      ...{ state: sha('be'), zip: sha('10115'), country: `${sha('de')}.AQYBAQEA`, external_id: sha('c-1') },
      ...{ client_ip_address: '203.0.113.7', client_user_agent: 'Browser/1', fbp: 'fb.1.1596403881668.1116446470' },
      ...{ lead_id: '525645896321548', value: '9.50', currency: 'eur', order_id: 'o-1', content_ids: 'a;b' },
      ...{ contents: '[{"id":"a","quantity":1,"item_price":9.5}]', num_items: '2', content_type: 'product' },
      ...{ opt_out: 'true', data_processing_options: 'LDU', data_processing_options_country: '1' },
      ...{ data_processing_options_state: '1000', custom_data: '{"colour":"red","value":1}' },
    }
    const batch = batchOf(Object.keys(row), [Object.values(row)])
    const context = { columns: Object.keys(row), settings: { datasetId, testEventCode: 'TEST123' } }
    assert.deepEqual((await (await openWriter(context)).deliver(batch)).rejected, [])
    assert.deepEqual(sent(), [
      {
        data: [
          {
            ...{ event_name: 'Purchase', event_time: time, event_id: 'order-1', action_source: 'website' },
            event_source_url: 'https://shop.example.com/thanks?fbclid=IwAR-2',
            referrer_url: 'https://shop.example.com/',
            opt_out: true,
            user_data: {
              ...{ em: [sha('jane@example.com')], ph: [sha('493012345678')], ge: sha('f'), db: sha('19800131') },
              ...{ ln: sha('doe'), fn: sha('jane'), ct: sha('berlin'), st: sha('be'), zp: sha('10115') },
              ...{ country: sha('de'), external_id: [sha('c-1')], client_ip_address: '203.0.113.7' },
              ...{ client_user_agent: 'Browser/1', fbp: 'fb.1.1596403881668.1116446470', lead_id: 525645896321548 },
              fbc: `fb.1.${time * 1000}.IwAR-2`,
            },
            custom_data: {
              ...{ colour: 'red', value: 9.5, currency: 'EUR', content_ids: ['a', 'b'] },
              ...{ contents: [{ id: 'a', quantity: 1, item_price: 9.5 }], num_items: 2 },
              ...{ order_id: 'o-1', content_type: 'product' },
            },
            data_processing_options: ['LDU'],
            data_processing_options_country: 1,
            data_processing_options_state: 1000,
          },
        ],
        partner_agent: 'penstock',
        test_event_code: 'TEST123',
      },
    ])
  })

  test('describes the app and the device of events of apps', async () => {
    const ofApp =
      'event_name event_time action_source madid app_platform os_version advertiser_tracking_enabled app_data extinfo'
    const extinfo = ['a2', 'com.example', ...new Array<string>(14).fill('')]
    const base: Cell[] = ['Install', now(), 'app', '38400000-8cf0-11bd-b23e-10b96e40000d']
    const rows: Cell[][] = [
      [...base, 'iOS', '17.1', 'authorized', null, null],
      [...base, null, null, null, JSON.stringify({ advertiser_tracking_enabled: 1, extinfo, vendor_id: 'v' }), null],
      [...base, null, null, 'no', null, JSON.stringify(extinfo)],
      [...base, null, null, null, '{"extinfo":["a2"]}', null],
      [...base, 'android', null, 'perhaps', null, null],
    ]
    const { rejected } = await (await openWriter()).deliver(batchOf(ofApp.split(' '), rows))
    assert.deepEqual(
      rejected?.map(({ index, field }) => [index, field]),
      [
        [3, 'app_data'],
        [4, 'advertiser_tracking_enabled'],
      ],
    )
    const apps = [...meta.events.values()].map(({ app_data }) => app_data)
    const ios = ['i2', '', '', '', '17.1', ...new Array<string>(11).fill('')]
    assert.deepEqual(apps, [
      { advertiser_tracking_enabled: 1, application_tracking_enabled: 0, extinfo: ios },
      { advertiser_tracking_enabled: 1, application_tracking_enabled: 0, extinfo, vendor_id: 'v' },
      { advertiser_tracking_enabled: 0, application_tracking_enabled: 0, extinfo },
    ])
  })

  test('takes events of every kind of place, and person data in any form that identifies a person', async () => {
    const sources = `website app email chat phone_call call_center physical_store system_generated business_messaging other`
    const ofAny = 'event_name event_time action_source app_platform user_data email click_id fbc ctwa_clid'.split(' ')
    const places = sources
      .split(' ')
      .map((source): Cell[] => ['Lead', now(), source, 'android', null, sha('a'), null, null, null])
    const time = now()
    const persons: [Cell[], unknown][] = [
      [[JSON.stringify({ em: `${sha('a').toUpperCase()}.BA` }), null, null, null, null], { em: sha('a') }],
      [[JSON.stringify({ em: [sha('a')], ph: [] }), sha('b'), null, null, null], { em: [sha('b')] }],
      [[null, null, 'IwAR-1', null, null], { fbc: `fb.1.${time * 1000}.IwAR-1` }],
      [[null, null, 'IwAR-1', 'fb.1.1.x', null], { fbc: 'fb.1.1.x' }],
      [[null, null, null, null, 'ARA-1'], { ctwa_clid: 'ARA-1' }],
    ]
    const rows = persons.map(([row]): Cell[] => ['Lead', time, 'chat', null, ...row])
    const { rejected } = await (await openWriter()).deliver(batchOf(ofAny, [...places, ...rows]))
    assert.deepEqual(rejected, [])
    const events = [...meta.events.values()]
    assert.deepEqual(
      [...new Set(events.slice(0, places.length).map(({ action_source }) => action_source))],
      sources.split(' ').filter((source) => source !== 'call_center'),
    )
    assert.deepEqual(
      events.slice(places.length).map(({ user_data }) => user_data),
      persons.map(([, user]) => user),
    )
    assert.ok(!('test_event_code' in (sent()[0] as object)))
  })

  test('rejects columns that Meta could not read', async () => {
    const ofBad = `event_name event_time action_source email value currency opt_out data_processing_options contents`
    const good: Cell[] = ['Lead', now(), 'website', sha('a'), null, null, null, null, null]
    const bad: [at: number, cell: Cell, field: string | undefined][] = [
      [3, 'jane@example.com', 'email'],
      [3, null, 'email'],
      [4, 'much', 'value'],
      [5, 'euro', 'currency'],
      [6, 'maybe', 'opt_out'],
      [7, '["GDPR"]', 'data_processing_options'],
      [7, 'perhaps', 'data_processing_options'],
      [8, '[1]', 'contents'],
      [0, 'Purchase', 'value'],
    ]
    const rows = bad.map(([at, cell]) => good.with(at, cell))
    const { rejected = [] } = await (await openWriter()).deliver(batchOf(ofBad.split(' '), rows))
    assert.deepEqual(
      rejected.map(({ index, field }) => [index, field]),
      bad.map(([, , field], index) => [index, field]),
    )
    assert.equal(meta.events.size, 0)
  })

  test('takes a batch of the largest size', async () => {
    const { rowsMax = 0 } = metaConversions.destination?.deliver?.batch({}) ?? {}
    const rows = Array.from({ length: rowsMax }, (_, n) => lead(n))
    assert.deepEqual((await (await openWriter()).deliver(batchOf(columns, rows))).rejected, [])
    assert.equal(meta.events.size, rowsMax)
  })

  test('recognises events again whose answer was lost', async () => {
    const batch = batchOf(columns, [lead(1), lead(2)])
    meta.failure(/events$/, 'reset after')
    assert.equal((await connectorErrorOf((await openWriter()).deliver(batch), contextOf())).action, 'retry')
    await (await openWriter()).deliver(batch)
    assert.equal(meta.events.size, 2)
  })

  test('rejects before sending whatever would make Meta refuse the whole batch', async () => {
    const rows: [Cell[], string][] = [
      [lead(1, null, daysAgo(8)), 'event_time'],
      [lead(1, null, now() + 3600), 'event_time'],
      [lead(1, null, now() * 1_000_000), 'event_time'],
      [lead(1, null, '2026-01-31 12:00:00'), 'event_time'],
      [lead(1, null, null), 'event_time'],
      [['Lead', daysAgo(63), 'physical_store', person(1), null, null], 'event_time'],
      [['', now(), 'physical_store', person(1), null, null], 'event_name'],
      [['Lead', now(), 'billboard', person(1), null, null], 'action_source'],
      [['Lead', now(), 'app', person(1), null, null], 'app_platform'],
      [['Lead', now(), 'system_generated', '{"em":["jane@example.com"]}', null, null], 'user_data'],
      [['Lead', now(), 'system_generated', JSON.stringify({ ph: sha('1').slice(1) }), null, null], 'user_data'],
      [['Lead', now(), 'system_generated', '{"em":[],"colour":"red"}', null, null], 'user_data'],
      [['Lead', now(), 'system_generated', 'jane@example.com', null, null], 'user_data'],
      [['Lead', now(), 'system_generated', person(1), '[1]', null], 'custom_data'],
      [['Purchase', now(), 'system_generated', person(1), '{"value":"9.5","currency":"EUR"}', null], 'custom_data'],
    ]
    const batch = batchOf(columns, [...rows.map(([row]) => row), lead(9)])
    const { rejected = [] } = await (await openWriter()).deliver(batch)
    assert.deepEqual(
      rejected.map(({ index, field }) => [index, field]),
      rows.map(([, field], index) => [index, field]),
    )
    for (const { reason } of rejected) assert.doesNotMatch(reason, /jane|example/)
    assert.equal(meta.events.size, 1)
    const nothing = await (await openWriter()).deliver(batchOf(columns, [lead(1, null, 'soon')]))
    assert.deepEqual([nothing.bytes, nothing.rejected?.length], [0, 1])
  })

  test('splits what Meta refuses as a whole, and rejects what it counts short', async () => {
    const setting = { server: meta, context: contextOf(), match: /events$/ }
    const writer = await openWriter()
    const batch = batchOf(columns, [lead(1), lead(2)])
    for (const subcode of [2804001, 2804003, 2804048, 2804050]) {
      const refused = problem(100, { error_subcode: subcode })
      await assertFailure(setting, writer, batch, refused, { action: 'split', code: 'invalid_batch' })
    }
    await assertFailure(setting, writer, batch, problem(4), { action: 'retry', code: 'rate_limited' })
    await assertFailure(setting, writer, batch, problem(190), { action: 'reauthenticate', code: 'invalid_credentials' })
    meta.failure(/events$/, { json: { events_received: 1, messages: [] } })
    assert.deepEqual(
      (await writer.deliver(batch)).rejected?.map(({ count }) => count),
      [1],
    )
  })

  test('refuses a dataset that is not there', async () => {
    const context = { settings: { datasetId: '1' } }
    const { action, code } = await connectorErrorOf(
      (await openWriter(context)).deliver(batchOf(columns, [lead(1)])),
      contextOf(),
    )
    assert.deepEqual([action, code], ['reconfigure', 'object_not_found'])
    assert.equal(
      (await connectorErrorOf(openWriter({ settings: { datasetId: '../me' } }), contextOf())).code,
      'invalid_setting',
    )
  })

  test('checks whether Meta is reached, the token accepted and the dataset seen', async () => {
    const { check } = metaConversions
    assert.ok(check)
    const run = async (options: TestContextOptions = {}) =>
      (await check(contextOf(options))).map(({ name, ok }) => `${name} ${ok}`)
    assert.deepEqual(await run(), ['connectivity true', 'authentication true', 'permissions true'])
    assert.deepEqual(await run({ settings: {} }), ['connectivity true', 'authentication true', 'permissions true'])
    assert.deepEqual(await run({ settings: { datasetId: '1' } }), [
      'connectivity true',
      'authentication true',
      'permissions false',
    ])
    assert.deepEqual(await run({ secrets: { ...secrets, accessToken: 'x' } }), [
      'connectivity true',
      'authentication false',
    ])
    meta.permissions.splice(0, 1)
    assert.deepEqual(await run(), ['connectivity true', 'authentication true', 'permissions false'])
  })
})

const testServer = await startMeta()
after(() => testServer.close())
const { authType: _, ...testServerSecrets } = metaSecrets
const timestamp = Math.floor(Date.now() / 1000) - 60
const user = JSON.stringify({ em: [createHash('sha256').update('jane@example.com').digest('hex')] })
const made = (n: number): Cell[] => [`Lead ${n}`, timestamp, 'system_generated', user]

acceptDestination({
  connector: metaConversions,
  testServer: 'a server that keeps to what is known of Meta',
  secrets: testServerSecrets,
  wrongSecrets: { ...testServerSecrets, accessToken: 'expired-token' },
  settings: { datasetId },
  missing: { datasetId: '1' },
  context: { routes: { 'https://graph.facebook.com': testServer.url } },
  columns: ['event_name', 'event_time', 'action_source', 'user_data'],
  rows: Array.from({ length: 12 }, (_, n) => made(n)),
  badRows: [
    {
      row: ['Old', timestamp - 8 * 86_400, 'system_generated', user],
      reason: /older than the 7 days/,
      field: 'event_time',
    },
    {
      row: ['Open', timestamp, 'system_generated', '{"em":"jane@example.com"}'],
      reason: /not a SHA-256/,
      field: 'user_data',
    },
  ],
  async readBack() {
    return [...testServer.events.values()].map(({ event_name, event_time, action_source, user_data }) => [
      event_name,
      event_time,
      String(action_source),
      JSON.stringify(user_data),
    ])
  },
  reset: () => testServer.events.clear(),
  deduplicates: true,
  visible: 'at once',
  errors: [
    problemOf(testServer, /events$/, problem(4), { name: 'limits calls', action: 'retry', code: 'rate_limited' }),
    problemOf(testServer, /events$/, { status: 500, text: '' }, { name: 'has an internal error', action: 'retry' }),
    problemOf(testServer, /events$/, 'reset after', { name: 'cuts the answer off', action: 'retry' }),
    problemOf(testServer, /events$/, problem(190), { name: 'finds the token expired', action: 'reauthenticate' }),
  ],
  hang: hangOf(testServer, /events$/),
})
