import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { connectors, presetOf } from '@penstock/connectors'
import { eventStreamConnectorId, outcomesConnectorId, streamConnectorIds } from '@penstock/wire'
import { connectorBySlug } from './harness/fixtures.ts'
import { assertInvariants } from './harness/invariants.ts'
import { addStreamWithKey } from './harness/streams.ts'
import { type Fixture, postgresql, startFixture } from './harness/transfers.ts'
import { until } from './harness/until.ts'

/** Event streams for one sender: its signature, its bodies and its columns. */

let fixture: Fixture
before(async () => {
  fixture = await startFixture()
  await fixture.startWorker()
})
after(async () => {
  await assertInvariants(fixture.service.database.pool)
  await fixture.close()
})

type Stream = { readonly id: string; readonly key: string }
const post = ({ id, key }: Stream, body: unknown, headers: Record<string, string> = {}) =>
  fixture.service.send({
    method: 'POST',
    path: `/events/${id}?writeKey=${key}`,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
const add = (slug: string, settings: Record<string, string>) =>
  addStreamWithKey(fixture.caller, fixture.accountId, settings, connectorBySlug(slug))
/** The rows that a connection moves to a table with these columns, each with its type. */
async function rowsOf(slug: string, table: string, columns: Readonly<Record<string, string>>, settings = {}) {
  const all = Object.entries(columns).map(([name, type]) => `"${name}" ${type}`)
  await fixture.target.query(`create table ${table} (at bigint, ${all.join(', ')})`)
  const mapping = JSON.stringify({
    at: '_number',
    ...Object.fromEntries(Object.keys(columns).map((name) => [name, name])),
  })
  const { id } = connectorBySlug(slug)
  const connection = await fixture.connect({ id }, settings, postgresql, { table, mapping })
  const transfer = await fixture.ended(connection, (await fixture.start(connection)).id)
  assert.equal(transfer.status, 'succeeded', JSON.stringify(transfer.error))
  return (await fixture.target.query(`select * from ${table} order by at`)).rows.map(({ at, ...row }) => row)
}

const hmac = (hash: string, secret: string, text: string) => createHmac(hash, secret).update(text).digest('hex')

test('clients know every connector that receives events', () => {
  const receiving = connectors.filter(({ readsEvents, id }) => readsEvents && id !== outcomesConnectorId)
  assert.deepEqual(receiving.map(({ id }) => id).sort(), [...streamConnectorIds].sort())
  assert.deepEqual(
    receiving.filter(({ id }) => presetOf(id) === undefined).map(({ id }) => id),
    [eventStreamConnectorId],
  )
})

describe('Radar', () => {
  const token = 'radar-webhook-token'
  const signed = (id: string) => ({ 'x-radar-signing-id': id, 'x-radar-signature': hmac('sha1', token, id) })
  const event = (id: string, more: object = {}) => ({
    _id: id,
    type: 'user.entered_geofence',
    createdAt: '2026-11-30T13:44:10.535Z',
    live: true,
    geofence: { _id: '56db1f4613012711002229f4', tag: 'store', externalId: '123', metadata: { parking: false } },
    location: { type: 'Point', coordinates: [-73.977797, 40.783826] },
    locationAccuracy: 5,
    confidence: 3,
    ...more,
  })
  const user = { userId: '1', deviceId: 'C305F2DB-56DC-404F-B6C1-BC52F0B680D8', metadata: { customId: 'abc' } }

  test('sends one event or several, each of which is stored once, with longitude and latitude in columns', async () => {
    const stream = await add('radar-geo-events', { signingSecret: token })
    const one = await post(stream, { event: event('e1'), user }, signed('m1'))
    assert.deepEqual(one.response, { accepted: 1, duplicates: 0, refused: [] })
    const body = { events: [event('e1'), event('e2', { type: 'user.exited_geofence', duration: 12.5 })], user }
    assert.deepEqual((await post(stream, body, signed('m2'))).response, { accepted: 1, duplicates: 1, refused: [] })
    const strange = event('e3', { location: { coordinates: ['west', null] }, user: { userId: '2' } })
    assert.deepEqual((await post(stream, { events: [strange], user }, signed('m3'))).status, 200)
    const rows = await rowsOf('radar-geo-events', 'visits', {
      _id: 'text',
      type: 'text',
      createdAt: 'timestamptz',
      live: 'boolean',
      'user.userId': 'text',
      longitude: 'float8',
      latitude: 'float8',
      locationAccuracy: 'float8',
      confidence: 'int',
      duration: 'float8',
      'geofence.tag': 'text',
      'geofence.metadata.parking': 'boolean',
      'trip._id': 'text',
    })
    const createdAt = new Date('2026-11-30T13:44:10.535Z')
    const place = { longitude: -73.977797, latitude: 40.783826, locationAccuracy: 5, confidence: 3 }
    const expected = {
      createdAt,
      live: true,
      'geofence.tag': 'store',
      'geofence.metadata.parking': false,
      'trip._id': null,
    }
    assert.deepEqual(rows, [
      { _id: 'e1', type: 'user.entered_geofence', 'user.userId': '1', duration: null, ...place, ...expected },
      { _id: 'e2', type: 'user.exited_geofence', 'user.userId': '1', duration: 12.5, ...place, ...expected },
      {
        _id: 'e3',
        type: 'user.entered_geofence',
        'user.userId': '2',
        duration: null,
        ...place,
        longitude: null,
        latitude: null,
        ...expected,
      },
    ])
  })

  test('must sign, and is listed with all streams', async () => {
    const { caller, accountId } = fixture
    const stream = await add('radar-geo-events', { signingSecret: token })
    const refused = await post(
      stream,
      { event: event('e9'), user },
      { ...signed('m9'), 'x-radar-signature': hmac('sha1', 'x', 'm9') },
    )
    assert.deepEqual([refused.status, refused.details[0]?.field], [401, 'signature'])
    assert.equal((await post(stream, { event: event('e9'), user })).status, 401)
    const listed = async (streams: boolean) =>
      (await caller.expect(caller.call('listConnectorConfigurations', { accountId, query: { streams } }))).map(
        ({ configurationId }) => configurationId,
      )
    assert((await listed(true)).includes(stream.id))
    assert(!(await listed(false)).includes(stream.id))
    const reasons = async () =>
      (await caller.expect(caller.call('getStreamEvents', { accountId, id: stream.id }))).refusals.map(
        ({ reason }) => reason,
      )
    assert.deepEqual(
      await until('the refusals are noted', async () => ((await reasons()).length > 0 ? reasons() : undefined)),
      ['bad_signature'],
    )
    const found = await caller.expect(
      caller.call('discoverValues', {
        accountId,
        id: connectorBySlug('radar-geo-events').id,
        body: { field: 'columns' },
      }),
    )
    const names = found.items.map(({ value }) => value)
    assert(names.includes('longitude') && names.includes('trip.status') && !names.includes('location.coordinates'))
  })
})

test('leads of Meta come in messages with several entries, each of which is stored once', async () => {
  const secret = 'meta-app-secret'
  const stream = await add('meta-lead-forms', { signingSecret: secret, verifyToken: 'chosen-by-me' })
  const { id, key } = stream
  const handshake = await fixture.service.send({
    method: 'GET',
    path: `/events/${id}?writeKey=${key}&hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=chosen-by-me`,
  })
  assert.deepEqual([handshake.status, handshake.text], [200, '1158201444'])
  const change = (lead: string) => ({ field: 'leadgen', value: { leadgen_id: lead, form_id: '7', page_id: '1' } })
  const body = {
    object: 'page',
    entry: [
      { id: '1', time: 1_790_000_000, changes: [change('444'), change('445')] },
      { id: '1', time: 1_790_000_001, changes: [change('446')] },
    ],
  }
  const sign = (sent: object) => ({ 'x-hub-signature-256': `sha256=${hmac('sha256', secret, JSON.stringify(sent))}` })
  assert.deepEqual((await post(stream, body, sign(body))).response, { accepted: 3, duplicates: 0, refused: [] })
  assert.deepEqual((await post(stream, body, sign(body))).response, { accepted: 0, duplicates: 3, refused: [] })
  const rows = await rowsOf('meta-lead-forms', 'leads', {
    'value.leadgen_id': 'text',
    'value.form_id': 'text',
    time: 'bigint',
  })
  assert.deepEqual(
    rows.map((row) => [row['value.leadgen_id'], row['value.form_id'], Number(row.time)]),
    [
      ['444', '7', 1_790_000_000],
      ['445', '7', 1_790_000_000],
      ['446', '7', 1_790_000_001],
    ],
  )
})

test('leads of Google Ads are kept without the key of the webhook', async () => {
  const stream = await add('google-ads-lead-forms', { signingSecret: 'google-key-1' })
  const lead = {
    lead_id: 'L1',
    campaign_id: 12345678901,
    google_key: 'google-key-1',
    is_test: true,
    user_column_data: [{ column_id: 'EMAIL' }],
  }
  assert.deepEqual((await post(stream, lead)).response, { accepted: 1, duplicates: 0, refused: [] })
  assert.deepEqual((await post(stream, lead)).response, { accepted: 0, duplicates: 1, refused: [] })
  assert.equal((await post(stream, { ...lead, google_key: 'other' })).status, 401)
  const { google_key: _, ...kept } = lead
  const rows = await rowsOf('google-ads-lead-forms', 'form_leads', { _event: 'jsonb' }, { shape: 'event' })
  assert.deepEqual(rows, [{ _event: kept }])
  const any = await add('event-stream', { sender: 'google-ads-leads', signingSecret: 'google-key-1' })
  assert.deepEqual((await post(any, lead)).response, { accepted: 1, duplicates: 0, refused: [] })
  const ofAny = await rowsOf('event-stream', 'any_leads', { _event: 'jsonb' }, { shape: 'event' })
  assert.deepEqual(ofAny, [{ _event: kept }])
})

test('AppsFlyer repeats its token, and has no ID of an event', async () => {
  const token = 'push-token_1'
  const stream = await add('appsflyer-push-api', { signingSecret: token })
  const event = {
    app_id: 'id123456789',
    event_name: 'af_purchase',
    event_time: '2026-11-30 08:09:00.123',
    event_value: '{"af_revenue":"12.50","af_currency":"EUR"}',
    event_revenue: '12.50',
    appsflyer_id: '1234567890123-1234567',
    campaign_type: 'organic',
    is_primary_attribution: true,
  }
  const authorization = { authorization: token }
  assert.deepEqual((await post(stream, event, authorization)).response, { accepted: 1, duplicates: 0, refused: [] })
  assert.deepEqual((await post(stream, event, authorization)).response, { accepted: 1, duplicates: 0, refused: [] })
  assert.equal((await post(stream, event, { authorization: 'another' })).status, 401)
  assert.equal((await post(stream, event)).status, 401)
  const rows = await rowsOf('appsflyer-push-api', 'app_events', {
    event_name: 'text',
    event_time: 'timestamp',
    event_revenue: 'numeric',
    media_source: 'text',
    is_primary_attribution: 'boolean',
  })
  const expected = {
    event_name: 'af_purchase',
    event_time: new Date('2026-11-30T08:09:00.123'),
    event_revenue: '12.50',
    media_source: null,
    is_primary_attribution: true,
  }
  assert.deepEqual(rows, [expected, expected])
})

test('Branch does not sign, and has IDs with more digits than a double', async () => {
  const stream = await add('branch-webhooks', {})
  // Two IDs that a double cannot tell apart.
  const event = (id: string) =>
    `{"id":${id},"name":"open","timestamp":1790000000123,"user_data":{"os":"IOS","idfa":"F5"},"last_attributed_touch_data":{"~id":467391383381228204,"~campaign":"december_test","+via_features":["QUICK_LINKS"]}}`
  const send = (id: string, key = stream.key) =>
    fixture.service.send({
      method: 'POST',
      path: `/events/${stream.id}?writeKey=${key}`,
      headers: { 'content-type': 'application/json', 'user-agent': 'Branch Metrics API' },
      body: event(id),
    })
  assert.deepEqual((await send('467391383381228201')).response, { accepted: 1, duplicates: 0, refused: [] })
  assert.deepEqual((await send('467391383381228202')).response, { accepted: 1, duplicates: 0, refused: [] })
  assert.deepEqual((await send('467391383381228201')).response, { accepted: 0, duplicates: 1, refused: [] })
  assert.equal((await send('467391383381228203', `${stream.key}x`)).status, 401)
  const rows = await rowsOf('branch-webhooks', 'branch_events', {
    id: 'bigint',
    name: 'text',
    'user_data.os': 'text',
    'last_attributed_touch_data.~id': 'bigint',
    'last_attributed_touch_data.~campaign': 'text',
    content_items: 'jsonb',
  })
  assert.deepEqual(
    rows,
    ['467391383381228201', '467391383381228202'].map((id) => ({
      id,
      name: 'open',
      'user_data.os': 'IOS',
      'last_attributed_touch_data.~id': '467391383381228204',
      'last_attributed_touch_data.~campaign': 'december_test',
      content_items: null,
    })),
  )
})

test('LinkedIn sends the IDs of leads, signed, and checks the address', async () => {
  const secret = 'linkedin-client-secret'
  const { id, key } = await add('linkedin-lead-forms', { signingSecret: secret })
  const code = '890e4665-4dfe-4ab1-b689-ed553bceeed0'
  const checked = await fixture.service.send({
    method: 'GET',
    path: `/events/${id}?writeKey=${key}&challengeCode=${code}`,
  })
  assert.deepEqual(JSON.parse(checked.text), { challengeCode: code, challengeResponse: hmac('sha256', secret, code) })
  const lead = (action: string) => ({
    type: 'LEAD_ACTION',
    leadGenFormResponse: 'urn:li:leadGenFormResponse:6233f4ac-6c0f-4a8b-8f8e-2b3e2f0a1b2c-4',
    owner: { sponsoredAccount: 'urn:li:sponsoredAccount:522529623' },
    associatedEntity: { event: 'urn:li:event:7' },
    leadGenForm: 'urn:li:versionedLeadGenForm:(urn:li:leadGenForm:3162,1)',
    leadType: 'SPONSORED',
    leadAction: action,
    occurredAt: 1_790_000_000_123,
  })
  const send = (body: object, by = secret) =>
    post({ id, key }, body, { 'x-li-signature': hmac('sha256', by, `hmacsha256=${JSON.stringify(body)}`) })
  assert.deepEqual((await send(lead('CREATED'))).response, { accepted: 1, duplicates: 0, refused: [] })
  assert.deepEqual((await send(lead('CREATED'))).response, { accepted: 0, duplicates: 1, refused: [] })
  assert.deepEqual((await send(lead('DELETED'))).response, { accepted: 1, duplicates: 0, refused: [] })
  assert.equal((await send(lead('CREATED'), 'another')).status, 401)
  const rows = await rowsOf('linkedin-lead-forms', 'linkedin_leads', {
    leadGenFormResponse: 'text',
    leadAction: 'text',
    occurredAt: 'bigint',
    'owner.sponsoredAccount': 'text',
    'associatedEntity.event': 'text',
  })
  assert.deepEqual(
    rows,
    ['CREATED', 'DELETED'].map((leadAction) => ({
      leadGenFormResponse: lead('').leadGenFormResponse,
      leadAction,
      occurredAt: '1790000000123',
      'owner.sponsoredAccount': 'urn:li:sponsoredAccount:522529623',
      'associatedEntity.event': 'urn:li:event:7',
    })),
  )
})

test('TikTok sends leads with a column for each answer, and signs the escaped text', async () => {
  const secret = 'tiktok-app-secret'
  const stream = await add('tiktok-lead-forms', { signingSecret: secret })
  // Two IDs that a double cannot tell apart.
  const entry = (id: string, changes: readonly (readonly [string, string])[]) =>
    `{"id":${id},"page_id":6873052183063953666,"page_name":"","campaign_name":"Käse","create_time":1614239152,"changes":${JSON.stringify(
      changes.map(([field, value]) => ({ field, value })),
    )},"advertiser_id":7,"library_id":0,"lead_source":"INSTANT_FORM"}`
  const answers = [
    ['gender', 'Female'],
    ['phone_number', '15088888888'],
    ['email', 'test_email_address@mail.com'],
    ['name', 'Zoë 😀'],
  ] as const
  const twice = [
    ['name', 'Ada'],
    ['name', 'Lovelace'],
  ] as const
  const body = `{"object":1,"entry":[${entry('7126711421177430274', answers)},${entry('7126711421177430275', twice)}],"time":1614334356}`
  const escaped = body.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
  const send = (text: string, signed: string) =>
    fixture.service.send({
      method: 'POST',
      path: `/events/${stream.id}?writeKey=${stream.key}`,
      headers: { 'content-type': 'application/json', 'x-open-signature': hmac('sha256', secret, signed) },
      body: text,
    })
  assert.deepEqual((await send(body, escaped)).response, { accepted: 2, duplicates: 0, refused: [] })
  assert.deepEqual((await send(escaped, escaped)).response, { accepted: 0, duplicates: 2, refused: [] })
  assert.deepEqual((await send(body, body)).response, { accepted: 0, duplicates: 2, refused: [] })
  assert.equal((await send(body, `${escaped} `)).status, 401)
  const rows = await rowsOf('tiktok-lead-forms', 'tiktok_leads', {
    id: 'bigint',
    'changes.email': 'text',
    'changes.name': 'text',
    'changes.gender': 'text',
    changes: 'jsonb',
    page_id: 'bigint',
    campaign_name: 'text',
    time: 'bigint',
  })
  const same = { page_id: '6873052183063953666', campaign_name: 'Käse', time: '1614334356' }
  const email = 'test_email_address@mail.com'
  assert.deepEqual(rows, [
    {
      id: '7126711421177430274',
      'changes.email': email,
      'changes.name': 'Zoë 😀',
      'changes.gender': 'Female',
      changes: null,
      ...same,
    },
    {
      id: '7126711421177430275',
      'changes.email': null,
      'changes.name': null,
      'changes.gender': null,
      changes: twice.map(([field, value]) => ({ field, value })),
      ...same,
    },
  ])
})

test('Adjust calls the callback address of a stream, with its placeholders filled', async () => {
  const { caller, accountId } = fixture
  const { id, key } = await add('adjust-callbacks', {})
  const { callbackAddress, address } = await caller.expect(caller.call('getStream', { accountId, id }))
  assert.ok(callbackAddress?.startsWith(`${address}/pixel.gif?writeKey=YOUR_WRITE_KEY&`))
  const placeholders = [...(callbackAddress ?? '').matchAll(/&(\w+)=\{(\w+)\}/g)]
  assert.ok(placeholders.length > 15 && placeholders.every(([, name, placeholder]) => name === placeholder))
  // As in Adjust's help center. Placeholders without a value are omitted. A person added city.
  const values: Record<string, string> = {
    activity_kind: 'event',
    event_name: 'purchase_100_coins',
    adid: '18546f6171f67e29d1cb983322ad1329',
    tracker_name: 'Network1::Christmas::Reindeers::320x70_en',
    created_at: '1404214665',
    revenue: '2.56',
    city: 'Zürich',
  }
  const call = (writeKey: string) => {
    const { pathname, search } = new URL(`${callbackAddress}&city={city}`)
    const filled = search
      .replace('YOUR_WRITE_KEY', writeKey)
      .replaceAll(/(?:%7B|\{)(\w+)(?:%7D|\})/g, (_, name) => encodeURIComponent(values[name] ?? ''))
    return fixture.service.send({ method: 'GET', path: `${pathname}${filled}` })
  }
  assert.equal((await call(key)).status, 200)
  assert.equal((await call(`${key}x`)).status, 401)
  const columns = Object.fromEntries([...Object.keys(values), 'idfa'].map((name) => [name, 'text']))
  assert.deepEqual(await rowsOf('adjust-callbacks', 'adjust_events', columns), [{ ...values, idfa: null }])
  const any = await add('event-stream', {})
  assert.equal((await caller.expect(caller.call('getStream', { accountId, id: any.id }))).callbackAddress, null)
})

describe('mParticle, as a partner', () => {
  const apiKey = 'key-of-the-customer'
  let stream: Stream
  before(async () => {
    stream = await add('mparticle-audience', { signingSecret: apiKey })
  })
  const messageId = (n: number) => `1317071d-3342-4e1e-a691-${String(n).padStart(12, '0')}`
  const message = (type: string, n: number, more: object = {}, key: string | undefined = apiKey) => ({
    type,
    id: messageId(n),
    timestamp_ms: 1_714_592_744_065,
    firehose_version: '3.2.0',
    account: { account_id: 123456, account_settings: { region: 'EU', ...(key !== undefined && { apiKey: key }) } },
    ...more,
  })
  const send = async (body: object) => {
    const { status, text } = await post(stream, body)
    return { status, body: JSON.parse(text) }
  }
  const counts = async () => {
    const of = { accountId: fixture.accountId, id: stream.id }
    const { accepted, duplicates } = await fixture.caller.expect(fixture.caller.call('getStream', of))
    return { accepted, duplicates }
  }
  const emailOf = (person: string) => ({ type: 'email', encoding: 'raw', value: `${person}@example.com` })
  const audience = (id: number, action: string, more = {}) => ({
    audience_id: id,
    audience_name: `Audience ${id}`,
    audience_subscription_settings: { suppression: 'false' },
    action,
    ...more,
  })
  const profile = (person: string, ...audiences: object[]) => ({
    user_identities: [
      emailOf(person),
      { type: 'customer', encoding: 'md5', value: '4739c5c11d833bb199c16ff95a92b267' },
    ],
    device_identities: [{ type: 'ios_advertising_id', encoding: 'raw', value: '66b728c2-f9a4-4d87-82ef-ce07414fe3f7' }],
    audiences,
    mpid: '12345',
  })

  test('gets its registration without a key, and the answers to its probes', async () => {
    const { account: _, ...asked } = message('module_registration_request', 1)
    const registered = await send(asked)
    const { type, id, firehose_version, timestamp_ms, name, permissions } = registered.body
    assert.deepEqual([registered.status, type, id], [200, 'module_registration_response', messageId(1)])
    assert.deepEqual([firehose_version, name, permissions.allow_access_mpid], ['3.2.0', 'Penstock', true])
    assert.ok(Math.abs(timestamp_ms - Date.now()) < 600_000)
    for (const side of ['event_processing_registration', 'audience_processing_registration']) {
      assert.deepEqual(
        registered.body[side].account_settings.map((setting: { id: string }) => setting.id),
        ['apiKey'],
      )
    }
    const { status, body } = await send(message('event_processing_request', 2, { events: [] }))
    const { timestamp_ms: timeMs, ...answer } = body
    assert.deepEqual(
      [status, answer, typeof timeMs],
      [200, { type: 'event_processing_response', id: messageId(2), firehose_version: '3.2.0' }, 'number'],
    )
    const probe = await send(message('audience_membership_change_request', 3))
    assert.deepEqual(
      [probe.status, probe.body.type, probe.body.suspend_subscription],
      [200, 'audience_membership_change_response', false],
    )
    assert.deepEqual(await counts(), { accepted: 0, duplicates: 0 })
  })

  test('is refused without the key of the customer, and with a message of another type', async () => {
    for (const key of ['another', '', undefined]) {
      const refused = await send(
        message('event_processing_request', 4, { events: [{ type: 'screen_view' }] }, key ?? ''),
      )
      assert.equal(refused.status, 401)
    }
    const { account: _, ...without } = message('event_processing_request', 4, { events: [{ type: 'screen_view' }] })
    assert.equal((await send(without)).status, 401)
    assert.equal((await send(message('dsr_processing_request', 5))).status, 400)
    assert.deepEqual(await counts(), { accepted: 0, duplicates: 0 })
  })

  test('sends memberships and events, each stored once and without the key', async () => {
    const changed = message('audience_membership_change_request', 6, {
      user_profiles: [
        profile(
          'ada',
          audience(456, 'add'),
          audience(789, 'attribute_update', { user_attributes: [{ key: 'Churned', action: 'delete' }] }),
          audience(654, 'delete'),
        ),
        profile('bob', audience(456, 'add')),
        profile('cyd'),
      ],
    })
    assert.deepEqual((await send(changed)).body.type, 'audience_membership_change_response')
    assert.deepEqual((await send(changed)).status, 200)
    const event = { type: 'custom_event', timestamp_ms: 1_714_592_744_066, custom_event_type: 'other' }
    const happened = (n: number) =>
      message('event_processing_request', n, {
        user_identities: [emailOf('ada')],
        events: [
          { ...event, id: '9daa09f0-0c61-4b46-a16a-272c8cdd47e8', name: 'seen', attributes: { colour: 'red' } },
          { ...event, id: 'e91037c0-c693-49a7-a4f8-5683218ac810', name: 'bought' },
        ],
      })
    assert.deepEqual((await send(happened(7))).body.type, 'event_processing_response')
    // Events have their own IDs.
    await send(happened(8))
    const subscribed = await send(message('audience_subscription_request', 9, audience(456, 'add')))
    assert.deepEqual(subscribed.body.type, 'audience_subscription_response')
    assert.deepEqual(await counts(), { accepted: 7, duplicates: 6 })

    const columns = {
      type: 'text',
      audience_id: 'bigint',
      action: 'text',
      mpid: 'text',
      'user_identities.email.value': 'text',
      'user_identities.customer.encoding': 'text',
      'audience_subscription_settings.suppression': 'text',
      'account.account_id': 'bigint',
      name: 'text',
      'attributes.colour': 'text',
      user_attributes: 'jsonb',
    }
    const rows = await rowsOf('mparticle-audience', 'mparticle_events', columns)
    const none = Object.fromEntries(Object.keys(columns).map((name) => [name, null]))
    const about = (person: string) => ({ 'user_identities.email.value': `${person}@example.com` })
    const member = (person: string, id: string, action: string, more = {}) => ({
      ...none,
      type: 'audience_membership_change_request',
      audience_id: id,
      action,
      mpid: '12345',
      ...about(person),
      'user_identities.customer.encoding': 'md5',
      'audience_subscription_settings.suppression': 'false',
      'account.account_id': '123456',
      ...more,
    })
    const seen = { ...none, type: 'custom_event', ...about('ada'), 'account.account_id': '123456' }
    const subscription = {
      ...none,
      type: 'audience_subscription_request',
      audience_id: '456',
      action: 'add',
      'audience_subscription_settings.suppression': 'false',
      'account.account_id': '123456',
    }
    assert.deepEqual(rows, [
      member('ada', '456', 'add'),
      member('ada', '789', 'attribute_update', { user_attributes: [{ key: 'Churned', action: 'delete' }] }),
      member('ada', '654', 'delete'),
      member('bob', '456', 'add'),
      { ...seen, name: 'seen', 'attributes.colour': 'red' },
      { ...seen, name: 'bought' },
      subscription,
    ])
    const whole = await rowsOf('mparticle-audience', 'mparticle_whole', { _event: 'jsonb' }, { shape: 'event' })
    assert.doesNotMatch(JSON.stringify(whole), /key-of-the-customer|apiKey/)
    assert.match(JSON.stringify(whole), /"region":"EU"/)
  })

  test('sends many profiles at once', async () => {
    const before = await counts()
    const many = Array.from({ length: 2_000 }, (_, n) => profile(`person-${n}`, audience(1, 'add')))
    const { status } = await send(message('audience_membership_change_request', 10, { user_profiles: many }))
    assert.equal(status, 200)
    assert.equal((await counts()).accepted, before.accepted + 2_000)
  })
})
