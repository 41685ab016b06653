import assert from 'node:assert/strict'
import { after, afterEach, beforeEach, describe, test } from 'node:test'
import type { Cell, ErrorAction } from '@penstock/connector'
import { acceptDestination, type TestContextOptions, testContext } from '@penstock/connector/acceptance'
import {
  type MparticleServer,
  mparticleRoutes,
  mparticleSecrets as secrets,
  startMparticle,
} from '../../test/mparticle-server.ts'
import {
  assertFailure,
  batchOf,
  connectorErrorOf,
  type Failure,
  hangOf,
  problemOf,
} from '../../test/platform-server.ts'
import { mparticleEvents } from './mparticle-events.ts'

const now = Date.now()
const time = new Date(now - 60_000).toISOString()
const columns = ['event_name', 'timestamp_unixtime_ms', 'email']
const bulk = /bulkevents$/

describe('mParticle, against a server that follows its published documentation', () => {
  let server: MparticleServer

  beforeEach(async () => {
    server = await startMparticle()
  })
  afterEach(() => server.close())

  const contextOf = (options: TestContextOptions = {}) =>
    testContext({ secrets, columns, routes: mparticleRoutes(server.url), ...options })
  async function openWriter(options: TestContextOptions = {}) {
    const { deliver } = mparticleEvents.destination ?? {}
    assert.ok(deliver)
    return deliver.open(contextOf(options))
  }
  const event = (n: number | string, name: Cell = 'Purchase'): Cell[] => [name, time, `${n}@example.com`]

  test('sends an event as mParticle documents it', async () => {
    const row: Record<string, Cell> = {
      ...{ event_name: 'Purchase', custom_event_type: 'Transaction', timestamp_unixtime_ms: now - 1_000 },
      ...{ event_id: '77', event_num: 3, source_message_id: 'm-1', session_id: '12', session_uuid: 'u-1' },
      ...{ location: '{"latitude":53.3,"longitude":-6.2}', device_current_state: '{"battery_level":0.5}' },
      ...{ custom_attributes: '{"value":12.5,"currency":"EUR","none":null}', custom_flags: '{"a":true}' },
      ...{ customer_id: 'c-1', email: 'jane@example.com', phone: '+353871234567', other_id: 'o', mpid: '-7' },
      ...{ idfa: 'aaaa', gaid: 'bbbb', ip: '192.0.2.1', user_attributes: '{"tier":"gold"}' },
    }
    const wide = Object.keys(row)
    const writer = await openWriter({
      columns: wide,
      settings: { environment: 'development' },
      secrets: { ...secrets, region: 'EU1' },
    })
    assert.deepEqual((await writer.deliver(batchOf(wide, [Object.values(row)]))).rejected, [])
    assert.deepEqual(server.batches, [
      {
        ...{ schema_version: 2, environment: 'development', mpid: -7, ip: '192.0.2.1' },
        user_identities: { customer_id: 'c-1', email: 'jane@example.com', mobile_number: '+353871234567', other: 'o' },
        user_attributes: { tier: 'gold' },
        device_info: { ios_advertising_id: 'aaaa', android_advertising_id: 'bbbb' },
        events: [
          {
            event_type: 'custom_event',
            data: {
              ...{ event_name: 'Purchase', custom_event_type: 'transaction', timestamp_unixtime_ms: now - 1_000 },
              ...{ event_id: 77, event_num: 3, source_message_id: 'm-1', session_id: 12, session_uuid: 'u-1' },
              ...{ location: { latitude: 53.3, longitude: -6.2 }, device_current_state: { battery_level: 0.5 } },
              ...{ custom_attributes: { value: '12.5', currency: 'EUR' }, custom_flags: { a: 'true' } },
            },
          },
        ],
      },
    ])
  })

  test('takes a row of few columns, and gives it the same ID whenever it comes', async () => {
    for (let times = 0; times < 2; times++) await (await openWriter()).deliver(batchOf(columns, [event(1)]))
    const [first, second] = server.batches
    assert.deepEqual(first, second)
    const screens = ['event_type', 'event_name', 'timestamp_unixtime_ms', 'customer_id', 'event_id']
    await (await openWriter()).deliver(batchOf(screens, [['screen_view', 'Home', time, 'c', 'e-1']]))
    assert.deepEqual(server.batches[2]?.events, [
      {
        event_type: 'screen_view',
        data: { screen_name: 'Home', timestamp_unixtime_ms: now - 60_000, source_message_id: 'e-1' },
      },
    ])
  })

  test('names the rows that cannot be sent', async () => {
    const all = [...columns, 'event_type', 'custom_event_type', 'location', 'custom_attributes', 'event_num', 'mpid']
    const nothing = [null, null, null, null, null, null]
    const old = new Date(now - 40 * 86_400_000).toISOString()
    const rows: [Cell[], string | undefined][] = [
      [[null, time, 'a@example.com', ...nothing], 'event_name'],
      [['A', 'yesterday', 'a@example.com', ...nothing], 'timestamp_unixtime_ms'],
      [['A', old, 'a@example.com', ...nothing], 'timestamp_unixtime_ms'],
      [['A', time, null, ...nothing], 'customer_id'],
      [['A', time, 'a@example.com', 'crash', null, null, null, null, null], 'event_type'],
      [['A', time, 'a@example.com', null, 'x', null, null, null, null], 'custom_event_type'],
      [['A', time, 'a@example.com', null, null, '{"latitude":100}', null, null, null], 'location'],
      [['A', time, 'a@example.com', null, null, null, 'x', null, null], 'custom_attributes'],
      [['A', time, 'a@example.com', null, null, null, null, 'x', null], 'event_num'],
      [['A', time, 'a@example.com', null, null, null, null, null, 'x'], 'mpid'],
    ]
    const { rejected = [] } = await (await openWriter()).deliver(
      batchOf(all, [...rows.map(([one]) => one), ['A', time, 'a@example.com', ...nothing]]),
    )
    assert.deepEqual(
      rejected.map(({ index, field }) => [index, field]),
      rows.map(([, field], index) => [index, field]),
    )
    assert.equal(server.batches.length, 1)
  })

  test('finds the events that sink a request, and takes as many as a request may hold', async () => {
    const rows = Array.from({ length: 100 }, (_, n) => event(n, n % 60 === 9 ? 'Refused' : 'Purchase'))
    const { rejected = [] } = await (await openWriter()).deliver(batchOf(columns, rows))
    assert.deepEqual(
      rejected.map(({ index }) => index),
      [9, 69],
    )
    assert.equal(server.batches.length, 98)
  })

  test('maps mParticle’s answers to codes', async () => {
    const cases: [Failure, ErrorAction, string, number?][] = [
      [{ status: 429, headers: { 'retry-after': '7' }, text: '' }, 'retry', 'rate_limited', 7000],
      [{ status: 429, text: '' }, 'retry', 'rate_limited'],
      [{ status: 503, text: '' }, 'retry', 'platform_error'],
      [{ status: 500, text: '<html>' }, 'retry', 'platform_error'],
      [{ status: 200, text: '<html>Sign in</html>' }, 'retry', 'malformed_response'],
      ['reset', 'retry', 'connection_lost'],
      ['reset after', 'retry', 'connection_lost'],
      [{ status: 413, text: '' }, 'split', 'batch_too_large'],
      [{ status: 401, text: '' }, 'reauthenticate', 'invalid_credentials'],
      [{ status: 403, json: { errors: [] } }, 'reauthenticate', 'invalid_credentials'],
    ]
    const setting = { server, context: contextOf(), match: bulk }
    const writer = await openWriter()
    for (const [failure, action, code, afterMs] of cases) {
      const wanted = { action, code, ...(afterMs === undefined ? {} : { afterMs }) }
      await assertFailure(setting, writer, batchOf(columns, [event(1)]), failure, wanted)
    }
    assert.equal((await connectorErrorOf(openWriter({ secrets: {} }), contextOf())).code, 'invalid_credentials')
    const odd = openWriter({ secrets: { ...secrets, region: 'evil.example.com/' } })
    assert.equal((await connectorErrorOf(odd, contextOf())).code, 'invalid_setting')
  })
})

const testServer = await startMparticle()
after(() => testServer.close())

acceptDestination({
  connector: mparticleEvents,
  testServer: 'a server that follows the published documentation of mParticle',
  secrets,
  wrongSecrets: { ...secrets, secret: 'another-secret' },
  settings: {},
  context: { routes: mparticleRoutes(testServer.url) },
  columns,
  rows: Array.from({ length: 12 }, (_, n) => ['Purchase', time, `${n}@example.com`]),
  badRows: [
    { row: ['', time, 'jane@example.com'], reason: /missing/, field: 'event_name' },
    { row: ['Refused', time, 'jane@example.com'], reason: /refuses/ },
  ],
  async readBack() {
    return testServer.batches.map(({ user_identities: user }) => ['Purchase', time, (user as { email: string }).email])
  },
  reset() {
    testServer.batches.length = 0
  },
  deduplicates: false,
  visible: 'at once',
  errors: [
    problemOf(testServer, bulk, { status: 429, text: '' }, { name: 'limits calls', action: 'retry' }),
    problemOf(testServer, bulk, { status: 500, text: '' }, { name: 'has an internal error', action: 'retry' }),
    problemOf(testServer, bulk, { status: 403, text: '' }, { name: 'revokes the key', action: 'reauthenticate' }),
  ],
  hang: hangOf(testServer, bulk),
})
