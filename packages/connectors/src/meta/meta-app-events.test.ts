import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, afterEach, beforeEach, describe, test } from 'node:test'
import type { Cell } from '@penstock/connector'
import { acceptDestination, type TestContextOptions, testContext } from '@penstock/connector/acceptance'
import { datasetId, type MetaServer, metaSecrets, problem, startMeta } from '../../test/meta-server.ts'
import { assertFailure, batchOf, connectorErrorOf, hangOf, problemOf } from '../../test/platform-server.ts'
import { metaAppEvents } from './meta-app-events.ts'

const { clientId, clientSecret, accessToken: refreshToken } = metaSecrets
const secrets = { clientId, clientSecret, refreshToken }
const sha = (text: string) => createHash('sha256').update(text).digest('hex')
const seconds = Math.floor(Date.now() / 1000) - 60
const idfa = '6d92078a-8246-4ba4-ae5b-76104861e7dc'

describe('Meta app events, against a server that keeps to what is known of Meta', () => {
  let meta: MetaServer
  beforeEach(async () => {
    meta = await startMeta()
  })
  afterEach(() => meta.close())
  const contextOf = (options: TestContextOptions = {}) =>
    testContext({
      secrets,
      settings: { datasetId, appPlatform: 'android' },
      routes: { 'https://graph.facebook.com': meta.url },
      columns: [],
      ...options,
    })
  function openWriter(options: TestContextOptions = {}) {
    const { deliver } = metaAppEvents.destination ?? {}
    assert.ok(deliver)
    return deliver.open(contextOf(options))
  }

  test('makes events of an app of columns, and those of another kind of place where the row names one', async () => {
    const names = `event_name event_time event_id action_source madid email app_platform app_package_name app_version
      os_version device_model locale advertiser_tracking_enabled application_tracking_enabled value currency`.split(
      /\s+/,
    )
    const device = ['iOS', 'com.example.app', '4.2', '17.1', 'iPhone15,2', 'en_US', 'true', '1']
    const none = new Array<null>(8).fill(null)
    const rows: Cell[][] = [
      ['Purchase', seconds, 'a', null, idfa, null, ...device, '9.5', 'eur'],
      ['Install', seconds, 'b', 'app', null, sha('jane@example.com').toUpperCase(), ...none, null, null],
      ['Lead', seconds, 'c', 'website', null, sha('jane@example.com'), ...none, null, null],
    ]
    assert.deepEqual((await (await openWriter()).deliver(batchOf(names, rows))).rejected, [])
    const common = { event_time: seconds, user_data: { em: [sha('jane@example.com')] } }
    const blank = (count: number) => new Array<string>(count).fill('')
    assert.deepEqual(
      [...meta.events.values()],
      [
        {
          ...{ event_name: 'Purchase', event_time: seconds, event_id: 'a', action_source: 'app' },
          ...{ user_data: { madid: idfa }, custom_data: { value: 9.5, currency: 'EUR' } },
          app_data: {
            advertiser_tracking_enabled: 1,
            application_tracking_enabled: 1,
            extinfo: ['i2', 'com.example.app', '4.2', '4.2', '17.1', 'iPhone15,2', 'en_US', ...blank(9)],
          },
        },
        {
          ...{ ...common, event_name: 'Install', event_id: 'b', action_source: 'app' },
          app_data: {
            advertiser_tracking_enabled: 0,
            application_tracking_enabled: 0,
            extinfo: ['a2', ...blank(15)],
          },
        },
        { ...common, event_name: 'Lead', event_id: 'c', action_source: 'website' },
      ],
    )
  })

  test('splits a batch for an event that Meta refuses, and asks for another token where this one has ended', async () => {
    const names = ['event_name', 'event_time', 'madid']
    const batch = batchOf(names, [['Install', seconds, idfa]])
    const setting = { server: meta, context: contextOf(), match: /events$/ }
    const writer = await openWriter()
    const refused = problem(100, { error_subcode: 2804003 })
    await assertFailure(setting, writer, batch, refused, { action: 'split', code: 'invalid_batch' })
    await assertFailure(setting, writer, batch, problem(190), { action: 'reauthenticate', code: 'invalid_credentials' })
    await assertFailure(setting, writer, batch, problem(2635), { action: 'fail', code: 'version_retired' })
    assert.deepEqual((await writer.deliver(batch)).rejected, [])
  })

  test('inspects the dataset of a connection', async () => {
    const { inspect } = metaAppEvents.destination?.deliver ?? {}
    assert.ok(inspect)
    await inspect(contextOf())
    const { code } = await connectorErrorOf(inspect(contextOf({ settings: { datasetId: '1' } })), contextOf())
    assert.equal(code, 'object_not_found')
  })
})

const testServer = await startMeta()
after(() => testServer.close())

acceptDestination({
  connector: metaAppEvents,
  testServer: 'a server that keeps to what is known of Meta',
  secrets,
  wrongSecrets: { ...secrets, refreshToken: 'expired-token' },
  settings: { datasetId, appPlatform: 'ios' },
  missing: { datasetId: '1', appPlatform: 'ios' },
  context: { routes: { 'https://graph.facebook.com': testServer.url } },
  columns: ['event_name', 'event_time', 'action_source', 'madid'],
  rows: Array.from({ length: 12 }, (_, n) => [`Level ${n}`, seconds, 'app', idfa]),
  badRows: [
    { row: ['Old', seconds - 8 * 86_400, 'app', idfa], reason: /older than the 7 days/, field: 'event_time' },
    { row: ['Nobody', seconds, 'app', null], reason: /nothing by which/ },
  ],
  async readBack() {
    return [...testServer.events.values()].map(({ event_name, event_time, action_source, user_data }) => [
      ...[event_name, event_time, String(action_source)],
      String((user_data as { madid: string }).madid),
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
