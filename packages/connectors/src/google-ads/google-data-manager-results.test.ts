import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Cell, Delivery } from '@penstock/connector'
import { because, dataManagerFacts } from '../../test/data-manager-server.ts'
import { sha256 } from '../../test/digest.ts'
import { batchOf, connectorErrorOf, deliverHalving, type Reply } from '../../test/platform-server.ts'
import { destinationScene } from '../../test/test-destination.ts'
import { refusalsMax } from '../platform-api/rows/refusals.ts'
import { googleDataManagerAudiences as connector } from './google-data-manager-audiences.ts'

const columns = ['segment_name', 'action', 'email', 'consent_ad_user_data', 'consent_ad_personalization']
const settings = {
  accountType: 'Google Ads',
  advertiserId: '1234567890',
  audienceType: 'Contact Information',
  dataSourceType: 'FIRST_PARTY',
  adUserDataConsent: 'Granted',
  adPersonalizationConsent: 'Unspecified',
  resultWaitSeconds: 0,
}
const row = (n: number | string, action = 'add', ...consents: Cell[]): Cell[] => [
  'Loyal',
  action,
  sha256(`${n}@example.com`),
  consents[0] ?? null,
  consents[1] ?? null,
]
const rowsOf = (count: number, from = 0) => Array.from({ length: count }, (_, n) => row(from + n))
const member = (n: number | string) =>
  JSON.stringify({ userData: { userIdentifiers: [{ emailAddress: sha256(`${n}@example.com`) }] } })

describe('Google Data Manager Audiences: what becomes of requests', () => {
  const scene = destinationScene({ ...dataManagerFacts, connector, settings, columns, posts: /audienceMembers/ })
  const { contextOf, openWriter } = scene
  const changes = () => scene.server.received.filter(({ path }) => /audienceMembers:(ingest|remove)$/.test(path))

  test('10,000 rows that Google refuses because of the account are one request, and no row is rejected', async () => {
    const replies: [Reply, string][] = [
      [because('EU_POLITICAL_ADVERTISING_DECLARATION_REQUIRED'), 'terms_not_accepted'],
      [because('USER_LIST_TYPE_NOT_SUPPORTED_FOR_ACCOUNT'), 'invalid_setting'],
      [because('REASON_OF_NEXT_YEAR'), 'request_refused'],
    ]
    for (const [reply, code] of replies) {
      scene.server.refusing.reply = reply
      const before = changes().length
      const connectorError = await connectorErrorOf(
        deliverHalving(await openWriter(), columns, rowsOf(10_000)),
        contextOf(),
      )
      assert.equal(connectorError.code, code)
      assert.equal(changes().length - before, 1, code)
      assert.doesNotMatch(connectorError.message, /INVALID_ARGUMENT/)
    }
  })

  test('10,000 rows that Google refuses all alike are given up after a bounded number of requests', async () => {
    // An error of members, but Google does not name any of them.
    scene.server.refusing.reply = because('INVALID_SHA256_FORMAT', 'audience_members')
    const connectorError = await connectorErrorOf(
      deliverHalving(await openWriter(), columns, rowsOf(10_000)),
      contextOf(),
    )
    assert.deepEqual([connectorError.action, connectorError.code], ['fail', 'everything_refused'])
    assert.match(connectorError.message, /INVALID_SHA256_FORMAT/)
    assert.equal(changes().length, refusalsMax)
  })

  test('counts as rejected what Google says later that it did not use, and never more than it was sent', async () => {
    const writer = await openWriter()
    scene.server.statuses.set('request-1', {
      requestStatus: 'PARTIAL_SUCCESS',
      errorCounts: [
        { recordCount: '3', reason: 'PROCESSING_ERROR_REASON_DENIED_CONSENT' },
        { recordCount: '1', reason: 'PROCESSING_ERROR_REASON_OF_NEXT_YEAR' },
      ],
    })
    scene.server.statuses.set('request-2', { requestStatus: 'FAILED' })
    assert.equal((await writer.deliver(batchOf(columns, rowsOf(10)))).held, true)
    await writer.deliver(batchOf(columns, rowsOf(5, 10), 2))
    const flushed: Delivery | undefined = await writer.flush?.()
    const { rejected = [] } = flushed ?? {}
    assert.deepEqual(
      rejected.map(({ count, index }) => [count, index]),
      [
        [3, undefined],
        [1, undefined],
        [5, undefined],
      ],
    )
    assert.match(
      rejected[0]?.reason ?? '',
      /denied the use of personal data for ads \(PROCESSING_ERROR_REASON_DENIED_CONSENT\)/,
    )
    assert.equal(await writer.flush?.(), undefined)
  })

  test('confirms batches whose results are not known in time, and asks about a request no longer than it may', async () => {
    const writer = await openWriter()
    scene.server.statuses.set('request-1', { requestStatus: 'PROCESSING' })
    await writer.deliver(batchOf(columns, rowsOf(10)))
    const flushed = await writer.flush?.()
    assert.deepEqual(flushed?.rejected, [])
    assert.equal(flushed?.held, undefined)
    assert.deepEqual(flushed?.deliveryState, { requests: ['request-1'] })
    const asked = scene.server.received.filter(({ path }) => path.endsWith('requestStatus:retrieve'))
    assert.deepEqual(
      asked.map(({ query }) => query.get('requestId')),
      ['request-1'],
    )
  })

  test('holds ten batches at most, and counts with the tenth what is known of them', async () => {
    const writer = await openWriter()
    scene.server.statuses.set('request-2', {
      requestStatus: 'PARTIAL_SUCCESS',
      errorCounts: [{ recordCount: '2', reason: 'PROCESSING_ERROR_REASON_NO_CONSENT' }],
    })
    const held: (boolean | undefined)[] = []
    let last: Delivery | undefined
    for (let n = 1; n <= 11; n++) {
      last = await writer.deliver(batchOf(columns, rowsOf(3, n * 3), n))
      held.push(last.held)
      if (n === 10)
        assert.deepEqual(
          last.rejected?.map(({ count }) => count),
          [2],
        )
    }
    assert.deepEqual(held, [...Array.from({ length: 9 }, () => true), undefined, true])
  })

  test('a result that cannot be read changes nothing', async () => {
    const writer = await openWriter()
    await writer.deliver(batchOf(columns, rowsOf(2)))
    scene.server.failure(/requestStatus/, { status: 503, text: '' })
    assert.deepEqual((await writer.flush?.())?.rejected, [])
  })

  test('sends the consent of a person where its row says one, completed by the connection', async () => {
    const writer = await openWriter()
    const rows = [row(1), row(2, 'add', 'denied'), row(3, 'add', null, 'granted'), row(4, 'remove', 'denied', 'denied')]
    await writer.deliver(batchOf(columns, rows))
    const [ingest, remove] = changes().map(({ json }) => json as Record<string, Record<string, unknown>[]>)
    assert.deepEqual(
      ingest?.audienceMembers?.map(({ consent }) => consent),
      [
        undefined,
        { adUserData: 'CONSENT_DENIED', adPersonalization: 'CONSENT_STATUS_UNSPECIFIED' },
        { adUserData: 'CONSENT_GRANTED', adPersonalization: 'CONSENT_GRANTED' },
      ],
    )
    assert.deepEqual(ingest?.consent, { adUserData: 'CONSENT_GRANTED' })
    assert.deepEqual(
      remove?.audienceMembers?.map(({ consent }) => consent),
      [undefined],
    )
    // One person is one member, whatever the consent: the last row counts.
    await writer.deliver(batchOf(columns, [row(5, 'add', 'denied'), row(5, 'remove')], 2))
    assert.ok(!scene.server.lists[0]?.members.has(member(5)))
  })

  describe('with “Replace existing audience”', () => {
    const replacing = { settings: { ...settings, replaceExistingAudience: true } }
    const members = () => [...(scene.server.lists[0]?.members ?? [])].sort()

    /** Time passes at Google without a wait here. */
    const pass = (seconds: number) => {
      scene.server.clock.now += seconds * 1000
    }

    test('puts the rows of a transfer in the place of the earlier members, by Google’s own clock', async () => {
      assert.equal(connector.destination?.deliver?.replaces?.(replacing.settings), true)
      const first = await openWriter(replacing)
      await first.deliver(batchOf(columns, [row(1), row(2)]))
      await first.flush?.()
      await first.finish?.()
      assert.deepEqual(members(), [member(1), member(2)].sort())
      pass(60)
      // Our clock is far ahead of Google's, and that changes nothing.
      const second = await openWriter({ ...replacing, startedTime: '2030-01-01T00:00:00.000Z' })
      await second.deliver(batchOf(columns, [row(2), row(3)]))
      pass(60)
      await second.deliver(batchOf(columns, [row(4)], 2))
      assert.deepEqual(members(), [member(1), member(2), member(3), member(4)].sort(), 'the list is never empty')
      await second.flush?.()
      await second.finish?.()
      assert.deepEqual(members(), [member(2), member(3), member(4)].sort())
    })

    test('finishes in another process by its delivery states, and twice without harm', async () => {
      const first = await openWriter(replacing)
      await first.deliver(batchOf(columns, [row(1)]))
      await first.flush?.()
      await first.finish?.()
      pass(60)
      const second = await openWriter(replacing)
      await second.deliver(batchOf(columns, [row(2)]))
      const deliveryState = (await second.flush?.())?.deliveryState
      assert.ok(deliveryState !== undefined)
      pass(60)
      for (let time = 0; time < 2; time++)
        await (await openWriter({ ...replacing, deliveryStates: [deliveryState] })).finish?.()
      assert.deepEqual(members(), [member(2)])
    })

    test('removes no member where no member could be added, or the transfer fails', async () => {
      const first = await openWriter()
      await first.deliver(batchOf(columns, [row(1)]))
      pass(60)
      const second = await openWriter(replacing)
      const { rejected } = await second.deliver(batchOf(columns, [['Loyal', 'add', 'not hashed', null, null]]))
      assert.equal(rejected?.length, 1)
      await second.flush?.()
      await second.finish?.()
      const third = await openWriter(replacing)
      await third.deliver(batchOf(columns, [row(2)]))
      await third.abort?.()
      assert.deepEqual(members(), [member(1), member(2)].sort())
    })
  })
})
