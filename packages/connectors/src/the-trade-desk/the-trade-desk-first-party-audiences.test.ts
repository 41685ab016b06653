import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import type { Cell } from '@penstock/connector'
import { assertRejected } from '../../test/assert-rejected.ts'
import { assertPreviewed, batchOf, connectorErrorOf } from '../../test/platform-server.ts'
import { type FailureCase, testDestination } from '../../test/test-destination.ts'
import { startTradeDesk, type TradeDeskServer, tradeDeskSecrets, tradeDeskToken } from '../../test/trade-desk-server.ts'
import { dataCenters } from './data-api.ts'
import { theTradeDeskFirstPartyAudiences as connector } from './the-trade-desk-first-party-audiences.ts'

const columns = ['segment_name', 'action', 'TDID', 'UID2', 'DAID']
const guid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
const uid2 = 'ku4mBX7Z3qJTXWyLFB1INzkyR2WZGW4ANSJUiW21iI8='
const row = (n: number, action = 'add'): Cell[] => ['Loyal', action, guid(n), '', null]
/** An identifier that The Trade Desk does not know. */
const unmapped = guid(999_999)

await testDestination<TradeDeskServer>({
  connector,
  testServer: 'a server that keeps to what is known of The Trade Desk',
  start: async () => {
    const server = await startTradeDesk()
    server.unmapped.add(unmapped)
    return server
  },
  routes: (url) => ({ 'https://usw-data.adsrvr.org': url, 'https://euw-data.adsrvr.org': url }),
  secrets: tradeDeskSecrets,
  wrongSecrets: { ...tradeDeskSecrets, advertiserSecretKey: 'wrong-secret-key' },
  settings: {},
  columns,
  posts: /advertiser/,
  check: {
    denied: [{ secrets: { ...tradeDeskSecrets, advertiserId: 'adv2' } }],
    unknown: [{ ...tradeDeskSecrets, advertiserSecretKey: 'wrong' }],
    left: ({ memberships }) => memberships.keys(),
  },
  accepts: {
    settings: { dataCenter: 'US West', membershipDays: 90 },
    columns: columns.slice(0, 3),
    rows: Array.from({ length: 12 }, (_, n) => ['Loyal', 'add', guid(n)]),
    badRows: [
      { row: ['Loyal', 'add', unmapped], reason: /UserNotMapped/, field: 'TDID' },
      { row: ['Loyal', 'add', 'abc'], reason: /8-4-4-4-12/, field: 'TDID' },
    ],
    readBack: ({ memberships }) => [...memberships.keys()].map((key) => ['Loyal', 'add', key.split(':')[1] ?? '']),
    reset: ({ memberships }) => memberships.clear(),
    problems: [
      [{ status: 429, headers: { 'retry-after': '7' } }, 'limits calls', 'retry', { afterMs: 7000 }],
      [{ status: 500 }, 'has an internal error', 'retry'],
      ['reset after', 'cuts the answer off', 'retry'],
      [{ status: 401 }, 'finds the key changed', 'reauthenticate'],
    ],
  },
  tests(scene) {
    const { contextOf, openWriter } = scene
    test('signs the bytes as The Trade Desk expects it', async () => {
      // A published pair of a body and its signature.
      assert.equal(
        createHmac('sha1', 'secret').update('{"data":"example"}').digest('base64'),
        'rvxETQ7kIU5Cko3GddD2AeFpz8E=',
      )
      await (await openWriter()).deliver(batchOf(columns, [['Käufer 🛒', 'add', guid(1), null, null]]))
      const [sent] = scene.server.received
      const expected = createHmac('sha1', tradeDeskSecrets.advertiserSecretKey)
        .update(sent?.text ?? '')
        .digest('base64')
      assert.equal(sent?.headers.ttdsignature, expected)
      assert.deepEqual([...scene.server.memberships], [[`TDID:${guid(1)}:Käufer 🛒`, 129_600]])
    })

    test('adds and removes every identifier of a row, for as many days as set, and delivers twice without harm', async () => {
      const all: Cell[] = ['Loyal', 'add', guid(1), uid2, guid(2)]
      const batch = batchOf(columns, [all, row(3), row(4), row(4, 'remove'), row(5, 'remove'), row(5)])
      const settings = { dataCenter: 'Europe', membershipDays: 30 }
      for (let times = 0; times < 2; times++) {
        assert.deepEqual((await (await openWriter({ settings })).deliver(batch)).rejected, [])
      }
      const ids = [`TDID:${guid(1)}`, `UID2:${uid2}`, `DAID:${guid(2)}`, `TDID:${guid(3)}`, `TDID:${guid(5)}`]
      assert.deepEqual([...scene.server.memberships].sort(), ids.map((id) => [`${id}:Loyal`, 43_200]).sort())
      await (await openWriter({ settings })).deliver(batchOf(columns, [row(1, 'remove'), row(3, 'remove')]))
      assert.equal(scene.server.memberships.size, 3)
      assert.equal(scene.server.received[0]?.headers.host, 'euw-data.adsrvr.org')
    })

    test('sends a token beside the signature where the connector has one', async () => {
      const batch = batchOf(columns, [row(1)])
      await (await openWriter()).deliver(batch)
      await (await openWriter({ secrets: { ...tradeDeskSecrets, apiToken: tradeDeskToken } })).deliver(batch)
      assert.deepEqual(
        scene.server.received.map(({ headers }) => headers['ttd-auth']),
        [undefined, tradeDeskToken],
      )
      const secrets = { ...tradeDeskSecrets, apiToken: 'another-token' }
      const refused = await connectorErrorOf((await openWriter({ secrets })).deliver(batch), contextOf({ secrets }))
      assert.deepEqual([refused.action, refused.code], ['reauthenticate', 'invalid_credentials'])
    })

    test('sends identifiers of every kind, exactly', async () => {
      const ids = {
        TDID: guid(1),
        UID2: uid2,
        DAID: guid(2),
        RampID: `XY${'a'.repeat(47)}`,
        EUID: uid2,
        UID2Token: 'A4AAA'.repeat(30),
        EUIDToken: 'A4AAB'.repeat(30),
        ID5: 'ID5*abcdefghijklmnop_1.2~',
        NetID: 'H9jk3LmN0pQrStUv',
        FirstID: '01HZX5W8Q2V7R4T6Y8U0I3O5P7',
      }
      const columns = ['segment_name', 'action', ...Object.keys(ids)]
      const batch = batchOf(columns, [['Loyal', 'add', ...Object.values(ids)]])
      assert.deepEqual((await (await openWriter({ columns })).deliver(batch)).rejected, [])
      assert.deepEqual(scene.server.received[0]?.json, {
        AdvertiserId: tradeDeskSecrets.advertiserId,
        Items: Object.entries(ids).map(([type, id]) => ({
          [type]: id,
          Data: [{ Name: 'Loyal', TtlInMinutes: 129_600 }],
        })),
      })
      assert.deepEqual(
        connector.destination?.records && Object.keys(connector.destination.records).slice(2),
        Object.keys(ids),
      )
      const wrong = Object.keys(ids).map((_, at): Cell[] => [
        'Loyal',
        'add',
        ...Object.keys(ids).map((_, other) => (at === other ? 'jane@example.com' : null)),
      ])
      const wrongBatch = batchOf(columns, wrong)
      const { rejected } = await (await openWriter({ columns })).deliver(wrongBatch)
      assert.deepEqual(
        rejected?.map(({ field }) => field),
        Object.keys(ids),
      )
      await assertPreviewed(connector, contextOf(), wrongBatch, rejected)
    })

    test('takes a batch of the largest size', async () => {
      const rowsMax = await scene.largest((n): Cell[] => ['x'.repeat(250), 'add', guid(n), uid2, guid(n)])
      assert.equal(scene.server.memberships.size, 2 * rowsMax + 1)
    })

    test('rejects before sending what cannot be taken, raw addresses above all', async () => {
      const rows: [Cell[], string | undefined][] = [
        [['', 'add', guid(1), null, null], 'segment_name'],
        [['x'.repeat(257), 'add', guid(1), null, null], 'segment_name'],
        [['Loyal', 'replace', guid(1), null, null], 'action'],
        [['Loyal', 'add', '', null, ''], 'TDID'],
        [['Loyal', 'add', 'abc', null, null], 'TDID'],
        [['Loyal', 'add', null, 'jane@example.com', null], 'UID2'],
        [['Loyal', 'add', guid(1), null, '+12025550100'], 'DAID'],
      ]
      const batch = batchOf(columns, [...rows.map(([one]) => one), row(9)])
      const { rejected = [] } = await (await openWriter()).deliver(batch)
      assertRejected(
        rejected,
        rows.map(([, field], index) => [index, field]),
      )
      assert.equal(scene.server.memberships.size, 1)
      await assertPreviewed(connector, contextOf(), batch, rejected)
    })

    test('rejects the rows of lines that were not taken, and only counts what it cannot attribute', async () => {
      scene.server.unmapped.add(guid(2)).add(guid(3))
      const both: Cell[] = ['Loyal', 'add', guid(3), uid2, null]
      const batch = batchOf(columns, [row(1), row(2), both, row(2, 'remove')])
      const { rejected } = await (await openWriter()).deliver(batch)
      assertRejected(
        rejected,
        [1, 2, 3].map((index) => [index, 'TDID']),
      )
      assert.match(rejected?.[0]?.reason ?? '', /does not know the identifier \(UserNotMapped\)\.$/)
      // Rudder's recorded answer is the third. The numbers count from 1, as The Trade Desk's own SDK reads them.
      for (const by of ['number', 'message'] as const) {
        scene.server.lines.by = by
        const named = await (await openWriter()).deliver(batch)
        assert.deepEqual(named.rejected, rejected, by)
      }
      scene.server.lines.by = 'nothing'
      const counted = await (await openWriter()).deliver(batch)
      assert.deepEqual(
        counted.rejected?.map(({ index, count }) => [index, count]),
        [[undefined, 2]],
      )
    })

    test('maps each status to a code', async () => {
      const cases: FailureCase[] = [
        [{ status: 429, headers: { 'retry-after': '2' } }, 'retry', 'rate_limited', 2000],
        [{ status: 503, headers: { 'retry-after': '4' }, text: 'busy' }, 'retry', 'platform_error', 4000],
        [{ status: 500, text: 'oops' }, 'retry', 'platform_error'],
        [{ status: 200, json: [] }, 'retry', 'malformed_response'],
        ['reset', 'retry', 'connection_lost'],
        [{ status: 401, json: { ErrorCode: 'InvalidToken' } }, 'reauthenticate', 'invalid_credentials'],
        [{ status: 403, text: 'TargetingDataLimitReached' }, 'reconfigure', 'permission_denied'],
        [{ status: 404, text: 'EndpointNotConfigured' }, 'reconfigure', 'object_not_found'],
        [{ status: 400, text: 'SerializationFailed' }, 'split', 'invalid_batch'],
        [{ status: 413, text: 'MaxRequestSizeExceeded' }, 'split', 'batch_too_large'],
        [{ status: 302, text: '' }, 'fail', 'unexpected_response'],
      ]
      await scene.fails(cases, [row(1)])
      assert.equal(scene.server.memberships.size, 0)
    })

    test('offers every data center that it can send to', () => {
      const options = connector.destination?.fields?.dataCenter?.options
      assert.deepEqual(options, Object.keys(dataCenters))
    })
  },
})
