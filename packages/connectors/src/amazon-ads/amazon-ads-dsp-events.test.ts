import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testContext } from '@penstock/connector/acceptance'
import {
  type AmazonServer,
  amazonAdvertiser,
  amazonRoutes,
  amazonSecrets,
  startAmazon,
} from '../../test/amazon-server.ts'
import { sha256 } from '../../test/digest.ts'
import { batchOf, connectorErrorOf, type Failure } from '../../test/platform-server.ts'
import { testEventDestination } from '../../test/test-event-destination.ts'
import { amazonAdsDspEvents } from './amazon-ads-dsp-events.ts'

const ms = Date.now() - 60_000
const seconds = Math.floor(ms / 1000)
const time = new Date(ms).toISOString()
const maid = 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6'
const jane = sha256('jane@example.com')
const { refreshToken: _, ...unsigned } = amazonSecrets
const joe = sha256('joe@example.com')

const said = (json: unknown): Failure => ({ status: 207, json })
const refuses = (code: string) => said({ error: [{ index: 0, errors: [{ code }] }] })
/** An answer to three events, of which the first is refused because of some errors. */
const blames = (errors: unknown): Failure =>
  said({ error: [{ index: 0, errors, message: 'jane' }], success: [{ index: 1 }, { index: 2 }] })

const row = (n: number) => ({
  advertiserId: amazonAdvertiser,
  eventType: 'OFF_AMAZON_PURCHASES',
  eventTime: time,
  eventValue: 9.5,
  currency: 'USD',
  email: sha256(`${n}@example.com`),
  eventId: `order-${n}`,
  countryCode: 'us',
  consentUserData: 'GRANTED',
})
/** The event that is sent for `row(1)`, without the fields that only purchases have. */
const event = {
  countryCode: 'US',
  eventTime: time,
  matchKeys: [{ type: 'EMAIL', values: [sha256('1@example.com')] }],
  eventId: 'order-1',
  consent: { amazonConsent: { amznUserData: 'GRANTED' } },
}
const eventDescription = (conversionType: string) => ({
  name: conversionType,
  conversionType,
  eventSource: 'WEBSITE',
  eventIngestionMethod: 'SERVER_TO_SERVER',
})
const bought = {
  ...event,
  eventDescription: eventDescription('OFF_AMAZON_PURCHASES'),
  value: 9.5,
  currencyCode: 'USD',
}
const lead = { ...event, eventDescription: eventDescription('LEAD') }

type Kept = {
  eventDescription: { conversionType: string }
  eventTime: string
  value: number
  currencyCode: string
  matchKeys: { values: string[] }[]
  eventId: string
  countryCode: string
  consent: { amazonConsent: { amznUserData: string } }
}

await testEventDestination<AmazonServer>({
  connector: amazonAdsDspEvents,
  testServer: 'a server that keeps to what is known of Amazon',
  start: startAmazon,
  origins: Object.keys(amazonRoutes('')),
  secrets: amazonSecrets,
  wrongSecrets: { ...amazonSecrets, refreshToken: 'Atzr|refresh-of-another' },
  settings: { region: 'EU' },
  posts: /^POST \/adsApi\/v1\/create\/events$/,
  eventsIn: (json) => (json as { events: unknown[] }).events,
  taken: ({ events }) => events.values(),
  clear: ({ events }) => events.clear(),
  row,
  kept: ({ eventDescription: { conversionType }, matchKeys: [key], ...one }: Kept) => [
    amazonAdvertiser,
    conversionType,
    one.eventTime,
    one.value,
    one.currencyCode,
    key?.values[0] ?? '',
    one.eventId,
    one.countryCode.toLowerCase(),
    one.consent.amazonConsent.amznUserData,
  ],
  refused: { currency: 'CHF' },
  refusedBecause: /^Amazon did not accept the event \(INVALID_ARGUMENT\); check \$\.currencyCode\.$/,
  deduplicates: true,
  revoked: { status: 401, json: {} },
  expireTokens: ({ tokens }) => tokens.expire(),
  examples: [
    {
      title: 'a purchase with everything',
      whole: true,
      settings: { dataSetName: ' Shop_Events' },
      row: {
        advertiserId: amazonAdvertiser,
        eventType: 'purchase',
        eventTime: '2026-01-31T12:00:00+01:00',
        eventValue: '142.526',
        currency: 'usd',
        eventId: 'e-1',
        eventName: 'Order',
        unitsSold: '2',
        email: jane.toUpperCase(),
        phone: sha256('15551234567'),
        firstName: sha256('john'),
        lastName: sha256('doe'),
        address: sha256('123mainstapt4'),
        city: sha256('sanfrancisco'),
        state: sha256('ca'),
        postalCode: sha256('90210'),
        maid: maid.toUpperCase(),
        rampId: 'Xi1234',
        matchId: 'loyal-1',
        countryCode: 'us',
        eventSource: 'physical store',
        eventAttributionSource: 'amazon_ad_tag',
        limitedDataUse: 'LDU',
        consentAdStorage: 'yes',
        consentUserData: 'granted',
        tcf: 'CP-tcf',
        gpp: 'DBA-gpp',
        ipAddress: '192.0.2.7',
        customData: '{"brand":"Acme","productId":12,"none":null}',
      },
      event: {
        eventDescription: {
          name: 'Order',
          conversionType: 'OFF_AMAZON_PURCHASES',
          eventSource: 'OFFLINE',
          eventIngestionMethod: 'AMAZON_AD_TAG',
          dataSetName: 'Shop_Events',
        },
        countryCode: 'US',
        eventTime: '2026-01-31T12:00:00+01:00',
        matchKeys: [
          { type: 'EMAIL', values: [jane] },
          { type: 'PHONE', values: [sha256('15551234567')] },
          { type: 'FIRST_NAME', values: [sha256('john')] },
          { type: 'LAST_NAME', values: [sha256('doe')] },
          { type: 'ADDRESS', values: [sha256('123mainstapt4')] },
          { type: 'CITY', values: [sha256('sanfrancisco')] },
          { type: 'STATE', values: [sha256('ca')] },
          { type: 'POSTAL', values: [sha256('90210')] },
          { type: 'MAID', values: [maid.toUpperCase()] },
          { type: 'RAMP_ID', values: ['Xi1234'] },
          { type: 'MATCH_ID', values: ['loyal-1'] },
        ],
        value: 142.53,
        currencyCode: 'USD',
        unitsSold: 2,
        eventId: 'e-1',
        dataProcessingOptions: { options: 'LIMITED_DATA_USE' },
        consent: {
          geo: { ipAddress: '192.0.2.7' },
          amazonConsent: { amznAdStorage: 'GRANTED', amznUserData: 'GRANTED' },
          tcf: 'CP-tcf',
          gpp: 'DBA-gpp',
        },
        customData: [
          { name: 'brand', dataType: 'STRING', value: 'Acme' },
          { name: 'productId', dataType: 'INTEGER', value: '12' },
        ],
      },
    },
    {
      title: 'a time in seconds, the country and the consent of the connection, and an ID that follows from its values',
      settings: { country: 'de', consentUserData: 'DENIED' },
      row: {
        eventType: 'generate_lead',
        eventTime: seconds,
        eventValue: 3,
        eventId: null,
        countryCode: null,
        consentUserData: 'consent_unknown',
      },
      event: (eventId) => ({
        ...lead,
        countryCode: 'DE',
        eventTime: new Date(seconds * 1000).toISOString().replace('.000Z', 'Z'),
        value: 3,
        eventId,
        consent: { amazonConsent: { amznUserData: 'DENIED' } },
      }),
    },
    {
      title: 'a lead without a value and a currency',
      row: { eventType: 'LEAD', eventValue: null, currency: null },
      event: lead,
    },
    {
      title: 'a lead with a value on a scale of your own, and without a currency and a number of items',
      row: { eventType: 'LEAD', eventValue: -3, currency: 'no currency', unitsSold: 'many' },
      event: { ...lead, value: -3 },
    },
    {
      title: 'an IP address in Europe, from which Amazon determines whether consent is needed',
      row: { consentUserData: null, ipAddress: '192.0.2.7' },
      event: { ...bought, consent: { geo: { ipAddress: '192.0.2.7' } } },
    },
    ...(
      [
        ['an e-mail address', ' Jane@Example.com', null, 'EMAIL', jane],
        ['the digest of an e-mail address', jane, null, 'EMAIL', jane],
        ['a phone number', '+1 (555) 123-4567', null, 'PHONE', sha256('15551234567')],
        ['the ID of a device', maid, null, 'MAID', maid],
        ['an ID of your own, which hinders nothing', 'customer 7', joe, 'EMAIL', joe],
        ['the ID of a device, if the person is named otherwise', maid, joe, 'EMAIL', joe],
      ] as const
    ).map(([title, userId, email, type, value]) => ({
      title: `in userId ${title}`,
      row: { userId, email },
      event: { ...bought, matchKeys: [{ type, values: [value] }] },
    })),
  ],
  rejected: [
    [{ advertiserId: 'ENTITY1' }, 'advertiserId'],
    [{ advertiserId: null }, 'advertiserId'],
    [{ eventType: 'no such type' }, 'eventType'],
    [{ eventType: null }, 'eventType'],
    [{ eventTime: 'yesterday' }, 'eventTime'],
    [{ eventTime: new Date(ms + 86_400_000).toISOString() }, 'eventTime'],
    [{ eventValue: '-1' }, 'eventValue'],
    [{ eventValue: '1,50' }, 'eventValue'],
    [{ eventValue: null }, 'eventValue'],
    [{ currency: 'Euro' }, 'currency'],
    [{ currency: null }, 'currency'],
    [{ email: 'jane@example.com' }, 'email'],
    [{ countryCode: null }, 'countryCode'],
    [{ countryCode: 'Germany' }, 'countryCode'],
    [{ consentUserData: null }, 'consentUserData'],
    [{ consentUserData: 'maybe' }, 'consentUserData'],
    [{ email: null, userId: 'customer 7' }, 'userId'],
    [{ email: null }, 'userId'],
    [{ customData: '[]' }, 'customData'],
    [{ customData: '{"a b":1}' }, 'customData'],
    [
      { customData: JSON.stringify(Object.fromEntries('abcdefghijklmn'.split('').map((name) => [name, 1]))) },
      'customData',
    ],
    [{ eventSource: 'TV' }, 'eventSource'],
    [{ eventAttributionSource: 'pixel' }, 'eventAttributionSource'],
  ],
  failures: [
    [{ status: 429 }, 'retry', 'rate_limited'],
    [{ status: 429, headers: { 'retry-after': '5' } }, 'retry', 'rate_limited', 5000],
    [{ status: 500, text: 'oops' }, 'retry', 'platform_error'],
    ['reset', 'retry', 'connection_lost'],
    [said([]), 'retry', 'malformed_response'],
    [said({}), 'retry', 'malformed_response'],
    [said({ success: {}, error: 'x' }), 'retry', 'malformed_response'],
    [said({ success: [{ index: 7 }] }), 'retry', 'malformed_response'],
    [said({ success: [{ index: '0' }] }), 'retry', 'malformed_response'],
    [said({ success: [{ index: 0 }, { index: 0 }] }), 'retry', 'malformed_response'],
    [said({ success: [{ index: 0 }], error: [{ index: 0 }] }), 'retry', 'malformed_response'],
    [said({ success: [null] }), 'retry', 'malformed_response'],
    [refuses('TOO_MANY_REQUESTS'), 'retry', 'rate_limited'],
    [refuses('INTERNAL_ERROR'), 'retry', 'platform_error'],
    [refuses('FORBIDDEN'), 'reconfigure', 'permission_denied'],
    [{ status: 403, json: {} }, 'reconfigure', 'permission_denied'],
    [{ status: 404, text: '' }, 'reconfigure', 'object_not_found'],
    [{ status: 413, text: '' }, 'split', 'batch_too_large'],
    [{ status: 302, text: '' }, 'fail', 'unexpected_response'],
  ],
  answers: [
    [
      'sends halves if Amazon refuses a request',
      { status: 400, json: { code: 'BAD_REQUEST' } },
      [1],
      [{}, { currency: 'CHF' }, {}],
    ],
    [
      'rejects rows by their places in the batch, although some are not sent',
      undefined,
      [[0, 'eventTime'], 1],
      [{ eventTime: 'x' }, { currency: 'CHF' }, {}],
    ],
    [
      'names the events of a request of the largest size that Amazon does not accept',
      undefined,
      [3, 499],
      Array.from({ length: 500 }, (_, n) => (n === 3 || n === 499 ? { currency: 'CHF' } : {})),
    ],
    ['survives an event that is refused without a reason', blames(null), [0]],
    ['survives reasons that are no list', blames('x'), [0]],
    ['survives reasons in an object', blames({ 0: 'A' }), [0]],
    ['survives reasons of any kind', blames([1, null, { code: {} }, { code: 'quotes jane@example.com' }]), [0]],
  ],
  openings: [
    [{ settings: { country: 'Germany' } }, 'invalid_setting'],
    [{ settings: { dataSetName: '1st' } }, 'invalid_setting'],
    [{ settings: {}, columns: ['email'] }, 'invalid_setting'],
    [{ settings: { country: 'US' }, columns: ['email'] }, undefined],
    [{ secrets: unsigned }, 'invalid_credentials'],
  ],
  inspectsOpenings: true,
})

test('sends the events of each advertiser in requests of their own, and repeats no words of Amazon', async () => {
  const server = await startAmazon()
  const context = testContext({
    secrets: amazonSecrets,
    routes: amazonRoutes(server.url),
    columns: Object.keys(row(1)),
  })
  const writer = await amazonAdsDspEvents.destination?.deliver?.open(context)
  const columns = Object.keys(row(1))
  const batch = batchOf(columns, [Object.values({ ...row(1), currency: 'CHF' }), Object.values(row(2))])
  const { rejected = [] } = (await writer?.deliver(batch)) ?? {}
  assert.equal(rejected.length, 1)
  assert.doesNotMatch(rejected[0]?.reason ?? '', /jane|quote/)
  const foreign = batchOf(columns, [Object.values(row(3)), Object.values({ ...row(4), advertiserId: '7' })])
  const error = await connectorErrorOf(writer?.deliver(foreign), context)
  assert.equal(error.code, 'permission_denied')
  assert.deepEqual(
    server.received
      .filter(({ path }) => path.endsWith('/events'))
      .map(({ headers }) => headers['amazon-ads-accountid']),
    [amazonAdvertiser, amazonAdvertiser, '7'],
  )
  await server.close()
})
