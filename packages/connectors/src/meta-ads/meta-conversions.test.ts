import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import type { Cell } from '@penstock/connector'
import { type TestContextOptions, testContext } from '@penstock/connector/acceptance'
import { sha256 } from '../../test/digest.ts'
import { datasetId, type MetaEvent, type MetaServer, metaSecrets, problem, startMeta } from '../../test/meta-server.ts'
import { batchOf, connectorErrorOf } from '../../test/platform-server.ts'
import { testEventDestination } from '../../test/test-event-destination.ts'
import { metaConversions } from './meta-conversions.ts'

const { authType: _, ...secrets } = metaSecrets
const seconds = Math.floor(Date.now() / 1000) - 60
const daysAgo = (days: number) => seconds - days * 86_400
const email = sha256('jane@example.com')
const url = 'https://shop.example.com/thanks?fbclid=IwAR-2'

const given = {
  connector: metaConversions,
  testServer: 'a server that keeps to what is known of Meta',
  start: startMeta,
  origins: ['https://graph.facebook.com'],
  secrets,
  settings: { datasetId },
}
const contextOf = (meta: MetaServer, options: TestContextOptions = {}) =>
  testContext({ secrets, settings: given.settings, routes: { 'https://graph.facebook.com': meta.url }, ...options })

const lead = { event_name: 'Lead', event_time: seconds, action_source: 'system_generated', event_id: 'e' }
const made = { ...lead, partner_agent: 'penstock', user_data: { em: [email] } }
/** An example of a lead. */
const ofLead = (title: string, row: Record<string, Cell>, event: object) => ({
  title,
  whole: true,
  row: { ...lead, ...row },
  event: { ...made, ...event },
})
const install = { event_name: 'Install', action_source: 'app', email }
const blank = (count: number) => new Array<string>(count).fill('')
const extinfo = ['a2', 'com.example', ...blank(14)]
const app = (given: object) => ({
  event_name: 'Install',
  action_source: 'app',
  app_data: { advertiser_tracking_enabled: 0, application_tracking_enabled: 0, ...given },
})

await testEventDestination<MetaServer>({
  ...given,
  wrongSecrets: { ...secrets, accessToken: 'expired-token' },
  missing: { datasetId: '1' },
  posts: /events$/,
  // Each event with the keys of its request.
  eventsIn: (json) => {
    const { data, ...request } = json as { data: object[] }
    return data.map((event) => ({ ...request, ...event }))
  },
  taken: ({ events }) => events.values(),
  clear: ({ events }) => events.clear(),
  row: (n) => ({
    event_name: `Lead ${n}`,
    event_time: seconds,
    action_source: 'system_generated',
    email: sha256(`${n}@example.com`),
  }),
  kept: ({ event_name, event_time, action_source, user_data }: MetaEvent) => [
    event_name,
    event_time,
    String(action_source),
    (user_data as { em: string[] }).em[0] ?? null,
  ],
  refused: { event_name: 'Refused' },
  refusedBecause: /^Meta refuses what was sent because of its content \(error 100, subcode 2804048\)\.$/,
  deduplicates: true,
  revoked: problem(190),
  examples: [
    {
      title: 'columns over objects, digests in either case and with the suffix of Meta’s library, as a test',
      whole: true,
      settings: { testEventCode: 'TEST123' },
      row: {
        event_name: 'Purchase',
        event_time: seconds * 1000,
        action_source: 'website',
        event_id: 'order-1',
        event_source_url: url,
        referrer_url: 'https://shop.example.com/',
        email,
        phone: sha256('493012345678').toUpperCase(),
        first_name: sha256('jane'),
        last_name: sha256('doe'),
        date_of_birth: sha256('19800131'),
        gender: sha256('f'),
        city: sha256('berlin'),
        state: sha256('be'),
        zip: sha256('10115'),
        country: `${sha256('de')}.AQYBAQEA`,
        external_id: sha256('c-1'),
        client_ip_address: '203.0.113.7',
        client_user_agent: 'Browser/1',
        fbp: 'fb.1.1596403881668.1116446470',
        lead_id: '525645896321548',
        value: '9.50',
        currency: 'eur',
        order_id: 'o-1',
        content_ids: 'a;b',
        contents: '[{"id":"a","quantity":1,"item_price":9.5}]',
        num_items: '2',
        content_type: 'product',
        opt_out: 'true',
        data_processing_options: 'LDU',
        data_processing_options_country: '1',
        data_processing_options_state: '1000',
        custom_data: '{"colour":"red","value":1}',
      },
      event: {
        partner_agent: 'penstock',
        test_event_code: 'TEST123',
        event_name: 'Purchase',
        event_time: seconds,
        event_id: 'order-1',
        action_source: 'website',
        event_source_url: url,
        referrer_url: 'https://shop.example.com/',
        opt_out: true,
        user_data: {
          em: [email],
          ph: [sha256('493012345678')],
          ge: sha256('f'),
          db: sha256('19800131'),
          ln: sha256('doe'),
          fn: sha256('jane'),
          ct: sha256('berlin'),
          st: sha256('be'),
          zp: sha256('10115'),
          country: sha256('de'),
          external_id: [sha256('c-1')],
          client_ip_address: '203.0.113.7',
          client_user_agent: 'Browser/1',
          fbp: 'fb.1.1596403881668.1116446470',
          lead_id: 525645896321548,
          fbc: `fb.1.${seconds * 1000}.IwAR-2`,
        },
        custom_data: {
          colour: 'red',
          value: 9.5,
          currency: 'EUR',
          content_ids: ['a', 'b'],
          contents: [{ id: 'a', quantity: 1, item_price: 9.5 }],
          num_items: 2,
          order_id: 'o-1',
          content_type: 'product',
        },
        data_processing_options: ['LDU'],
        data_processing_options_country: 1,
        data_processing_options_state: 1000,
      },
    },
    ofLead(
      'a purchase in a shop two months ago, with a value that an object has as a text',
      {
        event_name: 'Purchase',
        event_time: new Date(daysAgo(60) * 1000).toISOString(),
        action_source: 'physical_store',
        email,
        custom_data: '{"value":"9.5","currency":"EUR"}',
      },
      {
        event_name: 'Purchase',
        event_time: daysAgo(60),
        action_source: 'physical_store',
        custom_data: { value: 9.5, currency: 'EUR' },
      },
    ),
    ofLead(
      'a limited use by Meta’s own list of options',
      { email, data_processing_options: '["LDU"]' },
      { data_processing_options: ['LDU'], data_processing_options_country: 0, data_processing_options_state: 0 },
    ),
    ofLead('a use that is not limited', { email, data_processing_options: '[]', opt_out: 'no' }, { opt_out: false }),
    ...'website email chat phone_call physical_store business_messaging other'.split(' ').map((kind) =>
      ofLead(
        `an event of the kind ${kind}`,
        { action_source: kind, app_platform: 'android', email },
        {
          action_source: kind,
        },
      ),
    ),
    ofLead('a call center', { action_source: 'Call_Center', email }, { action_source: 'phone_call' }),
    ofLead(
      'an app by columns',
      { ...install, app_platform: 'iOS', os_version: '17.1', advertiser_tracking_enabled: 'authorized' },
      app({ advertiser_tracking_enabled: 1, extinfo: ['i2', '', '', '', '17.1', ...blank(11)] }),
    ),
    ofLead(
      'an app by an object',
      { ...install, app_data: JSON.stringify({ advertiser_tracking_enabled: 1, extinfo, vendor_id: 'v' }) },
      app({ advertiser_tracking_enabled: 1, extinfo, vendor_id: 'v' }),
    ),
    ofLead(
      'an app by Meta’s list of 16 values',
      { ...install, advertiser_tracking_enabled: 'no', extinfo: JSON.stringify(extinfo) },
      app({ extinfo }),
    ),
    ...(
      [
        ['digests in an object, with the suffix', { user_data: `{"em":"${email.toUpperCase()}.BA"}` }, { em: [email] }],
        ['a column over an object', { user_data: `{"em":["${sha256('a')}"],"ph":[]}`, email }, { em: [email] }],
        ['an ID of yours in an object, as it is', { user_data: '{"external_id":"77"}' }, { external_id: ['77'] }],
        [
          'several IDs of yours, some of them digests',
          { external_id: sha256('c-1'), external_ids: `["c-2",7,"${sha256('c-1')}"]` },
          { external_id: [sha256('c-1'), sha256('c-2'), sha256('7')] },
        ],
        ['a list of IDs of yours alone', { external_ids: 'c-1;c-2' }, { external_id: [sha256('c-1'), sha256('c-2')] }],
        ['a partner in an object', { user_data: '{"partner_id":"p"}' }, { partner_id: 'p' }],
        ['a click', { click_id: 'IwAR-1' }, { fbc: `fb.1.${seconds * 1000}.IwAR-1` }],
        ['a click in Meta’s form', { click_id: 'IwAR-1', fbc: 'fb.1.1.x' }, { fbc: 'fb.1.1.x' }],
        ['a click to WhatsApp', { ctwa_clid: 'ARA-1' }, { ctwa_clid: 'ARA-1' }],
      ] as const
    ).map(([by, row, user_data]) => ofLead(`a person by ${by}`, row, { user_data })),
  ],
  rejected: [
    ...[daysAgo(8), seconds + 3600, seconds * 1_000_000, '2026-01-31 12:00:00', 'soon', null].map(
      (event_time) => [{ event_time }, 'event_time'] as const,
    ),
    [{ event_time: daysAgo(63), action_source: 'physical_store' }, 'event_time'],
    [{ event_name: '' }, 'event_name'],
    [{ action_source: 'billboard' }, 'action_source'],
    [{ action_source: 'app' }, 'app_platform'],
    [{ action_source: 'app', app_data: '{"extinfo":["a2"]}' }, 'app_data'],
    [
      { action_source: 'app', app_platform: 'android', advertiser_tracking_enabled: 'perhaps' },
      'advertiser_tracking_enabled',
    ],
    [{ email: null, user_data: '{"em":["jane@example.com"]}' }, 'user_data'],
    [{ user_data: `{"ph":"${sha256('1').slice(1)}"}` }, 'user_data'],
    [{ email: null, user_data: '{"em":[],"colour":"red"}' }, 'user_data'],
    [{ user_data: 'jane@example.com' }, 'user_data'],
    [{ custom_data: '[1]' }, 'custom_data'],
    [{ event_name: 'Purchase', custom_data: '{"value":9.5}' }, 'custom_data'],
    [{ event_name: 'Purchase' }, 'value'],
    [{ email: 'jane@example.com' }, 'email'],
    [{ email: null }, 'email'],
    [{ value: 'much' }, 'value'],
    [{ currency: 'euro' }, 'currency'],
    [{ opt_out: 'maybe' }, 'opt_out'],
    [{ data_processing_options: '["GDPR"]' }, 'data_processing_options'],
    [{ data_processing_options: 'perhaps' }, 'data_processing_options'],
    [{ contents: '[1]' }, 'contents'],
  ],
  failures: [
    [problem(4), 'retry', 'rate_limited'],
    [problem(190), 'reauthenticate', 'invalid_credentials'],
    [problem(100), 'fail', 'request_refused'],
    [problem(2635), 'fail', 'version_retired'],
    [{ status: 400, json: {} }, 'fail', 'unexpected_response'],
  ],
  answers: [2804001, 2804003, 2804048, 2804050].map(
    (error_subcode) =>
      [`searches the event that Meta refuses with ${error_subcode}`, problem(100, { error_subcode }), []] as const,
  ),
})

describe('Meta Conversions, beside its events', () => {
  let meta: MetaServer
  beforeEach(async () => {
    meta = await startMeta()
  })
  afterEach(() => meta.close())
  async function deliver(batch: ReturnType<typeof batchOf>, options?: TestContextOptions) {
    const { deliver } = metaConversions.destination ?? {}
    assert.ok(deliver)
    return (await deliver.open(contextOf(meta, options))).deliver(batch)
  }
  const batch = batchOf(['event_name', 'event_time', 'action_source', 'email'], [['Lead', seconds, 'chat', email]])

  test('warns before a transfer if events of websites have no user agent or no URL', async () => {
    const names = [
      'event_name',
      'event_time',
      'action_source',
      'email',
      'client_user_agent',
      'event_source_url',
      'user_data',
    ]
    const event = (source: string, ...cells: Cell[]): Cell[] => ['Lead', seconds, source, email, ...cells]
    const shown = async (rows: Cell[][], columns = names) =>
      ((await metaConversions.destination?.deliver?.inspect?.({ ...contextOf(meta, { columns }), rows })) ?? []).map(
        ({ code, column, message }) => [code, column, /^\d+ of \d+/.exec(message)?.[0]],
      )
    const complete = [
      event('website', 'Browser/1', url, null),
      event('Website', null, url, '{"client_user_agent":"Browser/1"}'),
      event('physical_store', null, null, null),
    ]
    assert.deepEqual(await shown(complete), [])
    assert.deepEqual(await shown([...complete, event('website', null, url, null), event('website', null, '', null)]), [
      ['expected_value_missing', 'client_user_agent', '2 of 4'],
      ['expected_value_missing', 'event_source_url', '1 of 4'],
    ])
    assert.deepEqual(await shown([event('website')], names.slice(0, 4)), [
      ['expected_value_missing', undefined, '1 of 1'],
      ['expected_value_missing', undefined, '1 of 1'],
    ])
    assert.equal(meta.events.size, 0)
  })

  test('counts rows without an ID once in a batch that comes again, and again in another batch', async () => {
    await deliver(batch)
    await deliver(batch)
    assert.equal(meta.events.size, 1)
    await deliver({ ...batch, key: 'f'.repeat(32) })
    assert.equal(meta.events.size, 2)
  })

  test('rejects what Meta counts short', async () => {
    meta.failure(/events$/, { json: { events_received: 0, messages: [] } })
    assert.deepEqual(
      (await deliver(batch)).rejected?.map(({ count }) => count),
      [1],
    )
  })

  test('refuses a dataset that is not there, and one that is no ID', async () => {
    const codeOf = async (datasetId: string) =>
      (await connectorErrorOf(deliver(batch, { settings: { datasetId } }), contextOf(meta))).code
    assert.equal(await codeOf('1'), 'object_not_found')
    assert.equal(await codeOf('../me'), 'invalid_setting')
  })

  test('checks that the token may manage ads', async () => {
    meta.permissions.splice(0, 1)
    const steps = await metaConversions.check?.(contextOf(meta))
    assert.deepEqual(
      steps?.map(({ ok }) => ok),
      [true, true, false],
    )
  })
})
