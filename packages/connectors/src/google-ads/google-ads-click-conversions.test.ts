import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cell } from '@penstock/connector'
import { type DataManagerServer, dataManagerFacts, digestIn, refusal } from '../../test/data-manager-server.ts'
import { sha256 } from '../../test/digest.ts'
import { testDestination } from '../../test/test-destination.ts'
import { googleAdsClickConversions as connector } from './google-ads-click-conversions.ts'

const settings = { customerId: '1234567890', conversionActionId: '1234', resultWaitSeconds: 0 }
const columns = ['event_time', 'transaction_id', 'gclid', 'email']
const row = (n: number): Cell[] => ['2026-11-20T10:00:00Z', `order-${n}`, `click-${n}`, sha256(`${n}@example.com`)]

await testDestination<DataManagerServer>({
  ...dataManagerFacts,
  connector,
  settings,
  missing: { ...settings, customerId: '42' },
  columns,
  posts: /events:ingest/,
  accepts: {
    columns,
    rows: Array.from({ length: 12 }, (_, n) => row(n)),
    badRows: [
      { row: [...row(99).slice(0, 3), 'abc'], reason: /not a SHA-256/, field: 'email' },
      { row: [...row(98).slice(0, 2), null, null], reason: /no click ID/, field: 'email' },
      { row: ['20.11.2026', ...row(97).slice(1)], reason: /with its zone/, field: 'event_time' },
    ],
    readBack: ({ events }) =>
      [...events.values()].map(({ eventTimestamp, transactionId, adIdentifiers, userData }) => [
        String(eventTimestamp),
        String(transactionId),
        (adIdentifiers as { gclid: string }).gclid,
        digestIn(JSON.stringify(userData)),
      ]),
    reset: ({ events }) => events.clear(),
    problems: [
      [refusal(429, 'RESOURCE_EXHAUSTED'), 'limits calls', 'retry'],
      [{ status: 500, text: '' }, 'has an internal error', 'retry'],
      ['reset', 'breaks the connection', 'retry'],
    ],
  },
  tests(scene) {
    test('takes a conversion with contact data in place of a click, for enhanced conversions for leads', async () => {
      const { rejected } = await scene.deliver([row(1), [...row(2).slice(0, 2), null, sha256('2@example.com')]])
      assert.deepEqual(rejected, [])
      assert.deepEqual(
        [...scene.server.events.values()],
        [
          {
            transactionId: 'order-1',
            eventTimestamp: '2026-11-20T10:00:00Z',
            adIdentifiers: { gclid: 'click-1' },
            userData: { userIdentifiers: [{ emailAddress: sha256('1@example.com') }] },
            eventSource: 'WEB',
          },
          {
            transactionId: 'order-2',
            eventTimestamp: '2026-11-20T10:00:00Z',
            userData: { userIdentifiers: [{ emailAddress: sha256('2@example.com') }] },
            eventSource: 'WEB',
          },
        ],
      )
    })
  },
})
