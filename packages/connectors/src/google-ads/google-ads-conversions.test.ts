import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cell, Values } from '@penstock/connector'
import type { TestContextOptions } from '@penstock/connector/acceptance'
import { assertRejected } from '../../test/assert-rejected.ts'
import { because, type DataManagerServer, dataManagerFacts, digestIn, refusal } from '../../test/data-manager-server.ts'
import { sha256 } from '../../test/digest.ts'
import { assertPreviewed, batchOf, connectorErrorOf, deliverHalving } from '../../test/platform-server.ts'
import { testDestination } from '../../test/test-destination.ts'
import { googleAdsConversions as connector } from './google-ads-conversions.ts'

const settings = { customerId: '123-456-7890', conversionActionId: '1234', resultWaitSeconds: 0 }
const ingest = /events:ingest/
const columns = ['event_time', 'transaction_id', 'value', 'currency', 'gclid', 'email']
const row = (n: number | string): Cell[] => [
  '2026-11-20T10:00:00Z',
  `order-${n}`,
  '1.5',
  'EUR',
  null,
  sha256(`${n}@example.com`),
]

await testDestination<DataManagerServer>({
  ...dataManagerFacts,
  connector,
  settings,
  missing: { ...settings, conversionActionId: '42' },
  columns,
  posts: ingest,
  check: { denied: [{ settings: { ...settings, conversionActionId: '9' } }], left: ({ events }) => events.keys() },
  accepts: {
    columns,
    rows: Array.from({ length: 12 }, (_, n) => row(n)),
    badRows: [
      { row: row('x').map((cell, index) => (index === 1 ? 'refused-x' : cell)), reason: /INVALID_EVENT/ },
      { row: row('y').map((cell, index) => (index === 5 ? 'abc' : cell)), reason: /not a SHA-256/, field: 'email' },
    ],
    readBack: ({ events }) =>
      [...events.values()].map(({ eventTimestamp, transactionId, conversionValue, currency, userData }) => [
        String(eventTimestamp),
        String(transactionId),
        String(conversionValue),
        String(currency),
        null,
        digestIn(JSON.stringify(userData)),
      ]),
    reset: ({ events }) => events.clear(),
    problems: [
      [refusal(429, 'RESOURCE_EXHAUSTED'), 'limits calls', 'retry'],
      [refusal(503, 'UNAVAILABLE'), 'has an internal error', 'retry'],
      ['reset after', 'cuts the answer off', 'retry'],
      [refusal(403, 'PERMISSION_DENIED'), 'denies access', 'reconfigure'],
    ],
  },
  tests(scene) {
    const { contextOf, openWriter } = scene
    const deliver = (rows: Cell[][], names = columns, own: Values = settings) =>
      scene.deliver(rows, { settings: own, columns: names })
    const requests = () => scene.server.received.filter(({ path }) => ingest.test(path))
    const bodies = () => requests().map(({ json }) => json as Record<string, unknown>)
    /** The events of a request, as they were sent. */
    const eventsOf = (at = 0) => bodies()[at]?.events as Record<string, unknown>[]

    test('sends the events of Google’s own sample, from plain columns', async () => {
      const names = [
        'event_time',
        'transaction_id',
        'event_source',
        'value',
        'currency',
        'gclid',
        'email',
        'email_sha256',
        'phone',
        'consent_ad_user_data',
        'consent_ad_personalization',
      ]
      const rows: Cell[][] = [
        [
          '2026-11-05T23:10:12-05:00',
          'ABC1234567',
          'web',
          '5.31',
          'USD',
          null,
          sha256('dana@example.com'),
          sha256('danam@example.com'),
          null,
          null,
          null,
        ],
        [
          '2026-11-06T16:45:09.333Z',
          'DEF987654321',
          'in_store',
          1.99,
          'usd',
          'GCLID123',
          sha256('alexf@example.com'),
          null,
          sha256('+18005550100'),
          'granted',
          'denied',
        ],
      ]
      const consented = { ...settings, adUserDataConsent: 'Granted', managerAccountId: '999-888-7777' }
      const delivery = await deliver(rows, names, consented)
      assert.deepEqual(delivery.rejected, [])
      assert.deepEqual(bodies(), [
        {
          destinations: [
            {
              operatingAccount: { accountType: 'GOOGLE_ADS', accountId: '1234567890' },
              loginAccount: { accountType: 'GOOGLE_ADS', accountId: '9998887777' },
              productDestinationId: '1234',
            },
          ],
          events: [
            {
              transactionId: 'ABC1234567',
              eventTimestamp: '2026-11-06T04:10:12Z',
              userData: {
                userIdentifiers: [
                  { emailAddress: sha256('dana@example.com') },
                  { emailAddress: sha256('danam@example.com') },
                ],
              },
              conversionValue: 5.31,
              currency: 'USD',
              eventSource: 'WEB',
            },
            {
              transactionId: 'DEF987654321',
              eventTimestamp: '2026-11-06T16:45:09.333Z',
              adIdentifiers: { gclid: 'GCLID123' },
              userData: {
                userIdentifiers: [
                  { emailAddress: sha256('alexf@example.com') },
                  { phoneNumber: sha256('+18005550100') },
                ],
              },
              conversionValue: 1.99,
              currency: 'USD',
              eventSource: 'IN_STORE',
              consent: { adUserData: 'CONSENT_GRANTED', adPersonalization: 'CONSENT_DENIED' },
            },
          ],
          consent: { adUserData: 'CONSENT_GRANTED' },
          encoding: 'HEX',
        },
      ])
    })

    test('sends what else is known of an event, and each event to its conversion action', async () => {
      const names = [
        'event_time',
        'transaction_id',
        'gbraid',
        'wbraid',
        'first_name',
        'last_name',
        'country',
        'postal_code',
        'conversion_action_id',
        'user_agent',
        'ip_address',
        'customer_type',
        'customer_value',
        'cart_data',
        'custom_variables',
        'session_attributes',
      ]
      const full: Cell[] = [
        '1794000000',
        'T1',
        'GB',
        null,
        sha256('jane'),
        sha256('smith-jones'),
        'us',
        '94045',
        'customers/1234567890/conversionActions/5678',
        'Mozilla/5.0',
        '203.0.113.9',
        'new',
        'high',
        '{"merchantId": "77", "items": [{"merchantProductId": "s-1", "quantity": "2"}]}',
        '{"colour": "red"}',
        'attr',
      ]
      const bare: Cell[] = ['1794000000123', null, null, 'WB', ...Array.from({ length: 12 }, () => null)]
      await deliver([full, bare], names, { ...settings, eventSource: 'Phone' })
      const destinations = bodies().map((body) => (body.destinations as Record<string, unknown>[])[0])
      assert.deepEqual(
        destinations.map((destination) => destination?.productDestinationId),
        ['5678', '1234'],
      )
      assert.deepEqual(eventsOf(), [
        {
          transactionId: 'T1',
          eventTimestamp: '2026-11-06T21:20:00Z',
          adIdentifiers: { gbraid: 'GB', sessionAttributes: 'attr' },
          userData: {
            userIdentifiers: [
              {
                address: {
                  givenName: sha256('jane'),
                  familyName: sha256('smith-jones'),
                  regionCode: 'US',
                  postalCode: '94045',
                },
              },
            ],
          },
          eventSource: 'PHONE',
          eventDeviceInfo: { userAgent: 'Mozilla/5.0', ipAddress: '203.0.113.9' },
          userProperties: { customerType: 'NEW', customerValueBucket: 'HIGH' },
          cartData: { merchantId: '77', items: [{ merchantProductId: 's-1', quantity: '2' }] },
          customVariables: [{ variable: 'colour', value: 'red' }],
        },
      ])
      // Google counts a click and its time once, without an ID.
      assert.deepEqual(eventsOf(1), [
        { eventTimestamp: '2026-11-06T21:20:00.123Z', adIdentifiers: { wbraid: 'WB' }, eventSource: 'PHONE' },
      ])
    })

    test('counts an event once that comes twice, also without an ID of its own', async () => {
      const names = ['event_time', 'value', 'email']
      const rows: Cell[][] = [
        ['2026-11-20T10:00:00Z', '7', sha256('a@example.com')],
        ['2026-11-20T10:00:00Z', '8', sha256('a@example.com')],
      ]
      await deliver(rows, names)
      await deliver(rows, names)
      assert.equal(scene.server.events.size, 2)
      const ids = eventsOf().map(({ transactionId }) => transactionId)
      // The IDs are the same in every release. Otherwise, events that are sent again after an update would be counted twice.
      assert.deepEqual(ids, ['7943819aec2e193fda384c2db9075ffc', '55ae48c3a177e16df6e8e25f30c4ea4e'])
    })

    test('rejects before sending what would make Google refuse the whole request', async () => {
      const good = row(9)
      const changed = (at: number, value: Cell): Cell[] => good.map((cell, index) => (index === at ? value : cell))
      const rows: [Cell[], string | undefined][] = [
        [changed(0, null), 'event_time'],
        [changed(0, '2026-11-20 10:00:00'), 'event_time'],
        [changed(0, '2099-01-01T00:00:00Z'), 'event_time'],
        [changed(2, '1,5'), 'value'],
        [changed(3, 'euro'), 'currency'],
        [changed(5, 'jane@example.com'), 'email'],
        [changed(5, null), 'email'],
      ]
      const mixed = [...rows.map(([one]) => one), good]
      const delivery = await deliver(mixed)
      assertRejected(
        delivery.rejected,
        rows.map(([, field], index) => [index, field]),
      )
      await assertPreviewed(connector, contextOf(), batchOf(columns, mixed), delivery.rejected)
      assert.equal(scene.server.events.size, 1)
      assert.doesNotMatch(JSON.stringify(delivery.rejected), /jane|1,5|euro/)
      const wide = [...columns, 'conversion_action_id', 'cart_data', 'event_source']
      const others: Cell[][] = [
        [...good, 'Purchase', null, null],
        [...good, null, '[1]', null],
        [...good, null, null, 'cinema'],
      ]
      const more = await deliver(others, wide)
      assert.deepEqual(
        more.rejected?.map(({ field }) => field),
        ['conversion_action_id', 'cart_data', 'event_source'],
      )
      await assertPreviewed(connector, contextOf(), batchOf(wide, others), more.rejected)
    })

    test('takes out the events that Google blames, and names their rows with Google’s reason', async () => {
      const rows = Array.from({ length: 20 }, (_, n) => row(n))
      for (const at of [0, 7, 19]) rows[at] = row(at).map((cell, index) => (index === 1 ? `refused-${at}` : cell))
      rows[3] = row(3).map((cell, index) => (index === 3 ? 'XXX' : cell))
      scene.server.blame.most = 2
      const delivery = await deliver(rows)
      assert.deepEqual(
        delivery.rejected?.map(({ index, reason }) => [index, reason]),
        [
          [0, 'Google does not accept this event: it is not valid (INVALID_EVENT).'],
          [3, 'Google does not accept this event: Google does not know the currency (INVALID_CURRENCY_CODE).'],
          [7, 'Google does not accept this event: it is not valid (INVALID_EVENT).'],
          [19, 'Google does not accept this event: it is not valid (INVALID_EVENT).'],
        ],
      )
      assert.equal(scene.server.events.size, 16)
      assert.equal(requests().length, 3)
    })

    test('2,000 rows are one request, and 2,000 that Google refuses because of the account too', async () => {
      const { rowsMax = 0 } = connector.destination?.deliver?.batch(settings) ?? {}
      const rows = Array.from({ length: rowsMax }, (_, n) => row(n))
      assert.deepEqual((await deliver(rows)).rejected, [])
      assert.equal(scene.server.events.size, 2_000)
      scene.server.refusing.reply = because('INVALID_CONVERSION_ACTION_ID', 'events.events[0]')
      const before = requests().length
      const error = await connectorErrorOf(deliverHalving(await openWriter(), columns, rows), contextOf())
      assert.equal(error.code, 'object_not_found')
      assert.equal(requests().length - before, 1)
    })

    test('says what is missing before anything is sent', async () => {
      const cases: [TestContextOptions, string, RegExp][] = [
        [{ settings: { conversionActionId: '1' } }, 'invalid_setting', /Customer ID/],
        [{ settings: { customerId: '1234567890' } }, 'invalid_setting', /Conversion action ID/],
        [{ settings: { ...settings, conversionActionId: 'Purchase' } }, 'invalid_setting', /Conversion action ID/],
        [{ settings: { ...settings, customerId: 'acme' } }, 'invalid_setting', /Customer ID/],
        [{ secrets: {} }, 'invalid_credentials', /refresh token/],
      ]
      for (const [options, code, message] of cases) {
        const error = await connectorErrorOf(openWriter(options), contextOf())
        assert.equal(error.code, code)
        assert.match(error.message, message)
      }
      await openWriter({ settings: { customerId: '1234567890' }, columns: [...columns, 'conversion_action_id'] })
      assert.equal(requests().length, 0)
    })

    test('checks by an event that Google only looks at', async () => {
      const { check } = connector
      for (const own of [settings, {}, { ...settings, conversionActionId: '9' }])
        await check?.(contextOf({ settings: own }))
      assert.equal(scene.server.events.size, 0)
      assert.deepEqual(
        bodies().map(({ validateOnly }) => validateOnly),
        [true, true],
      )
    })
  },
})
