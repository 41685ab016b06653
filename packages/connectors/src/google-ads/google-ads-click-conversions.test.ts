import assert from 'node:assert/strict'
import { after, afterEach, beforeEach, describe, test } from 'node:test'
import type { Cell } from '@penstock/connector'
import { acceptDestination, testContext } from '@penstock/connector/acceptance'
import { type DataManagerServer, googleSecrets, refusal, startDataManager } from '../../test/data-manager-server.ts'
import { sha256 } from '../../test/digest.ts'
import { batchOf, hangOf, problemOf } from '../../test/platform-server.ts'
import { googleAdsClickConversions as connector } from './google-ads-click-conversions.ts'

const settings = { customerId: '1234567890', conversionActionId: '1234', resultWaitSeconds: 0 }
const columns = ['event_time', 'transaction_id', 'gclid', 'email']
const row = (n: number): Cell[] => ['2026-11-20T10:00:00Z', `order-${n}`, `click-${n}`, sha256(`${n}@example.com`)]
const ingest = /events:ingest/
const routesTo = ({ url }: { url: string }) => ({
  'https://datamanager.googleapis.com': url,
  'https://oauth2.googleapis.com': url,
})

describe('Google Ads Click Conversions, by way of Google Data Manager', () => {
  let google: DataManagerServer

  beforeEach(async () => {
    google = await startDataManager()
  })
  afterEach(() => google.close())

  async function deliver(rows: Cell[][]) {
    const { deliver: destination } = connector.destination ?? {}
    assert.ok(destination)
    const writer = await destination.open(
      testContext({ secrets: googleSecrets, settings, columns, routes: routesTo(google) }),
    )
    return { writer, delivery: await writer.deliver(batchOf(columns, rows)) }
  }

  test('takes a conversion with contact data in place of a click, for enhanced conversions for leads', async () => {
    const { delivery } = await deliver([row(1), [...row(2).slice(0, 2), null, sha256('2@example.com')]])
    assert.deepEqual(delivery.rejected, [])
    assert.deepEqual(
      [...google.events.values()],
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
})

const testServer = await startDataManager()
after(() => testServer.close())

acceptDestination({
  connector,
  testServer: 'a server that keeps to what is known of Google',
  secrets: googleSecrets,
  wrongSecrets: { ...googleSecrets, refreshToken: 'revoked-token' },
  settings,
  missing: { ...settings, customerId: '42' },
  context: { routes: routesTo(testServer) },
  columns,
  rows: Array.from({ length: 12 }, (_, n) => row(n)),
  badRows: [
    { row: [...row(99).slice(0, 3), 'abc'], reason: /not a SHA-256/, field: 'email' },
    { row: [...row(98).slice(0, 2), null, null], reason: /no click ID/, field: 'email' },
    { row: ['20.11.2026', ...row(97).slice(1)], reason: /with its zone/, field: 'event_time' },
  ],
  async readBack() {
    return [...testServer.events.values()].map(({ eventTimestamp, transactionId, adIdentifiers, userData }) => [
      String(eventTimestamp),
      String(transactionId),
      (adIdentifiers as { gclid: string }).gclid,
      /[0-9a-f]{64}/.exec(JSON.stringify(userData))?.[0] ?? '',
    ])
  },
  reset: () => testServer.events.clear(),
  deduplicates: true,
  visible: 'at once',
  errors: [
    problemOf(testServer, ingest, refusal(429, 'RESOURCE_EXHAUSTED'), { name: 'limits calls', action: 'retry' }),
    problemOf(testServer, ingest, { status: 500, text: '' }, { name: 'has an internal error', action: 'retry' }),
    problemOf(testServer, ingest, 'reset', { name: 'breaks the connection', action: 'retry' }),
  ],
  hang: hangOf(testServer, ingest),
})
