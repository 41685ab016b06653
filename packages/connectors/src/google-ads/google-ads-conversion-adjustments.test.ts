import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { testContext } from '@penstock/connector/acceptance'
import { sha256 } from '../../test/digest.ts'
import { discover, valuesOf } from '../../test/discover.ts'
import {
  callAction,
  type GoogleAdsServer,
  googleAdsCustomer,
  googleAdsFailure,
  googleAdsRefusal,
  googleAdsSecrets,
  startGoogleAds,
  webAction,
} from '../../test/google-ads-server.ts'
import { googleReportSignIn } from '../../test/google-reports.ts'
import { batchOf, connectorErrorOf } from '../../test/platform-server.ts'
import { testEventDestination } from '../../test/test-event-destination.ts'
import { googleAdsConversionAdjustments as connector } from './google-ads-conversion-adjustments.ts'

const secrets = googleAdsSecrets
const settings = { customerId: '123-456-7890', conversionActionId: webAction, adjustmentType: 'Retraction' }
const origins = ['https://googleads.googleapis.com', 'https://oauth2.googleapis.com']
const conversionAction = `customers/${googleAdsCustomer}/conversionActions/${webAction}`
const posts = /uploadConversionAdjustments$/
const time = '2026-11-20T10:00:00Z'
const email = sha256('jane@example.com')
const enhancement = { adjustment_type: 'enhancement', adjustment_time: null, email }
const partly = (...errors: readonly (readonly [number | undefined, string])[]) => ({
  json: { results: [{ orderId: '0' }, {}, {}], partialFailureError: googleAdsFailure(...errors) },
})

await testEventDestination<GoogleAdsServer>({
  connector,
  testServer: 'a server that keeps to the protocol buffers of the Google Ads API',
  start: startGoogleAds,
  origins,
  secrets,
  wrongSecrets: { ...secrets, refreshToken: 'revoked-token' },
  settings,
  missing: { ...settings, conversionActionId: '42' },
  posts,
  eventsIn: (json) => (json as { conversionAdjustments: unknown[] }).conversionAdjustments,
  taken: ({ adjustments }) => adjustments,
  clear: ({ adjustments }) => adjustments.splice(0),
  row: (n) => ({ adjustment_time: time, order_id: `order-${n}` }),
  kept: ({ orderId }: { orderId: string }) => [time, orderId],
  refused: { order_id: 'unknown' },
  refusedBecause: /no conversion with this identifier \(CONVERSION_NOT_FOUND\)/,
  deduplicates: true,
  revoked: googleReportSignIn.revoked,
  examples: [
    {
      title: 'a retraction by the order ID, without what only other adjustments have',
      row: { adjustment_type: 'Retraction', gclid: 'click', conversion_time: time, value: 'x', email: 'x' },
      event: {
        adjustmentType: 'RETRACTION',
        conversionAction,
        adjustmentDateTime: '2026-11-20 10:00:00+00:00',
        orderId: 'order-1',
      },
    },
    {
      title: 'a restatement to nothing by the click ID, at a time of another zone, of another conversion action',
      whole: true,
      settings: { conversionActionId: '42' },
      row: {
        adjustment_type: 'restatement',
        adjustment_time: '2026-11-20T12:00:00.500+02:00',
        gclid: 'click',
        conversion_time: Date.parse('2026-11-19T10:00:00Z') / 1000,
        value: 0,
        currency: 'eur',
        conversion_action_id: conversionAction,
      },
      event: {
        adjustmentType: 'RESTATEMENT',
        conversionAction,
        adjustmentDateTime: '2026-11-20 10:00:00+00:00',
        gclidDateTimePair: { gclid: 'click', conversionDateTime: '2026-11-19 10:00:00+00:00' },
        restatementValue: { adjustedValue: 0, currencyCode: 'EUR' },
      },
    },
    {
      title: 'an enhancement with all identifiers of a person',
      row: {
        ...enhancement,
        phone: sha256('+493012345678'),
        first_name: sha256('jane'),
        last_name: sha256('doe'),
        country: 'de',
        postal_code: '10115',
        user_agent: 'Browser/1',
        gclid: 'click',
        conversion_time: time,
        value: 3,
      },
      event: {
        adjustmentType: 'ENHANCEMENT',
        conversionAction,
        orderId: 'order-1',
        gclidDateTimePair: { gclid: 'click', conversionDateTime: '2026-11-20 10:00:00+00:00' },
        userIdentifiers: [
          { hashedEmail: email },
          { hashedPhoneNumber: sha256('+493012345678') },
          {
            addressInfo: {
              hashedFirstName: sha256('jane'),
              hashedLastName: sha256('doe'),
              countryCode: 'DE',
              postalCode: '10115',
            },
          },
        ],
        userAgent: 'Browser/1',
      },
    },
  ],
  rejected: [
    [{ adjustment_type: 'refund' }, 'adjustment_type'],
    [{ adjustment_time: null }, 'adjustment_time'],
    [{ adjustment_time: '2026-11-20 10:00' }, 'adjustment_time'],
    [{ conversion_time: '2026-11-21T10:00:00Z', gclid: 'click', order_id: null }, 'adjustment_time'],
    [{ order_id: null }, 'order_id'],
    [{ order_id: null, gclid: 'click' }, 'order_id'],
    [{ adjustment_type: 'restatement' }, 'value'],
    [{ adjustment_type: 'restatement', value: 'much' }, 'value'],
    [{ adjustment_type: 'restatement', value: 1, currency: 'euro' }, 'currency'],
    [{ ...enhancement, order_id: null, gclid: 'click', conversion_time: time }, 'order_id'],
    [{ ...enhancement, email: null }, 'email'],
    [{ ...enhancement, email: 'jane@example.com' }, 'email'],
    [{ conversion_action_id: 'Purchase' }, 'conversion_action_id'],
  ],
  answers: [
    ['rejects the row that an answer names', partly([1, 'CONVERSION_EXPIRED'], [2, 'NEW_ERROR']), [[1, 'order_id'], 2]],
    ['rejects rows without a result, for the error that names none', partly([undefined, 'NEW_ERROR']), [1, 2]],
    ['rejects rows that are not confirmed', { json: { results: [{ orderId: '0' }] } }, [1, 2]],
    [
      'counts what is recorded already as accepted',
      partly([1, 'CONVERSION_ALREADY_RETRACTED'], [2, 'ORDER_ID_CONTAINS_PII']),
      [[2, 'order_id']],
    ],
    [
      'does not count a restatement of a retracted conversion',
      partly([1, 'CONVERSION_ALREADY_RETRACTED'], [2, 'RESTATEMENT_ALREADY_EXISTS']),
      [[1, 'order_id']],
      [{}, { adjustment_type: 'restatement', value: 1 }, { adjustment_type: 'restatement', value: 1 }],
    ],
    [
      'blames a conversion action of the row',
      undefined,
      [[1, 'conversion_action_id']],
      [{}, { conversion_action_id: '42' }],
    ],
  ],
  failures: [
    [googleAdsRefusal(403, 'USER_PERMISSION_DENIED'), 'reconfigure', 'permission_denied'],
    [googleAdsRefusal(403, 'CLOUD_PROJECT_NOT_APPROVED_FOR_PRODUCTION'), 'reauthenticate', 'invalid_credentials'],
    [googleAdsRefusal(400, 'UNKNOWN'), 'fail', 'request_refused'],
    [googleAdsRefusal(429, 'RESOURCE_EXHAUSTED'), 'retry', 'rate_limited'],
    [partly([0, 'INTERNAL_ERROR']), 'retry', 'platform_error'],
    [partly([0, 'CUSTOMER_NOT_ACCEPTED_CUSTOMER_DATA_TERMS']), 'reconfigure', 'terms_not_accepted'],
    [partly([0, 'NO_CONVERSION_ACTION_FOUND']), 'reconfigure', 'object_not_found'],
    [partly([0, 'INVALID_CONVERSION_ACTION_TYPE']), 'reconfigure', 'invalid_setting'],
  ],
  openings: [
    [{ settings: { ...settings, customerId: 'mine' } }, 'invalid_setting'],
    [{ settings: { customerId: googleAdsCustomer, conversionActionId: webAction } }, 'invalid_setting'],
    [
      {
        settings: { customerId: googleAdsCustomer },
        columns: ['adjustment_type', 'conversion_action_id', 'order_id'],
      },
      undefined,
    ],
  ],
  expireTokens: ({ tokens }) => tokens.clear(),
  checks: [
    {
      title: 'the type of the conversion action',
      change: () => {},
      settings: { ...settings, conversionActionId: callAction },
      ok: false,
      message: /INVALID_CONVERSION_ACTION_TYPE/,
    },
    {
      title: 'the account',
      change: () => {},
      settings: { ...settings, customerId: '42' },
      ok: false,
      message: /may read this account/,
    },
    {
      title: 'without minding that no conversion is adjusted',
      change: ({ refuse }) => refuse('CONVERSION_NOT_FOUND'),
      ok: true,
    },
  ],
})

describe('Google Ads Conversion Adjustments', () => {
  test('lists the conversion actions of the account that can be adjusted', async () => {
    const server = await startGoogleAds()
    const routes = Object.fromEntries(origins.map((origin) => [origin, server.url]))
    const find = (chosen: object) =>
      discover(connector, secrets, 'conversionActionId', { role: 'destination', settings: { ...chosen }, routes })
    try {
      assert.deepEqual(valuesOf(await find({ customerId: '123-456-7890' })), [webAction])
      assert.equal((await connectorErrorOf(find({}), { secrets })).code, 'invalid_setting')
    } finally {
      await server.close()
    }
  })

  test('signs in through the manager account, without a developer token', async () => {
    const server = await startGoogleAds()
    const routes = Object.fromEntries(origins.map((origin) => [origin, server.url]))
    const columns = ['adjustment_time', 'order_id']
    try {
      const own = { ...settings, managerAccountId: '999-888-7777' }
      const writer = await connector.destination?.deliver?.open(
        testContext({ secrets, settings: own, columns, routes }),
      )
      await writer?.deliver(batchOf(columns, [[time, 'order-1']]))
      const { headers = {} } = server.received.at(-1) ?? {}
      assert.equal(headers['login-customer-id'], '9998887777')
      assert.ok(!('developer-token' in headers))
    } finally {
      await server.close()
    }
  })
})
