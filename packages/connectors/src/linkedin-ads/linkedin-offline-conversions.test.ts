import { sha256 } from '../../test/digest.ts'
import {
  type LinkedInServer,
  linkedinRoutes,
  linkedinSecrets,
  refusal,
  startLinkedIn,
} from '../../test/linkedin-server.ts'
import type { Failure } from '../../test/platform-server.ts'
import { testEventDestination } from '../../test/test-event-destination.ts'
import { linkedinOfflineConversions } from './linkedin-offline-conversions.ts'

const ms = Date.now() - 3_600_000
const digest = sha256('mike@example.com')
const rule = 'urn:lla:llaPartnerConversion:'
const settings = { conversionRuleId: '104', adAccountId: '500' }
const said = (status: number, message: string): Failure => ({ status, json: { status, message } })
const results = (...elements: { status: number }[]): Failure => ({ json: { elements } })

type Kept = { conversionHappenedAt: number; eventId: string; user: { userIds: { idValue: string }[] } }

await testEventDestination<LinkedInServer>({
  connector: linkedinOfflineConversions,
  testServer: 'a server that keeps to what is known of LinkedIn',
  start: startLinkedIn,
  origins: Object.keys(linkedinRoutes('')),
  secrets: linkedinSecrets,
  wrongSecrets: { ...linkedinSecrets, refreshToken: 'revoked-token' },
  settings,
  missing: { conversionRuleId: '999', adAccountId: '501' },
  posts: /^POST \/rest\/conversionEvents$/,
  eventsIn: (json) => (json as { elements: unknown[] }).elements,
  taken: ({ conversions }) => conversions.values(),
  clear: ({ conversions }) => conversions.clear(),
  row: (n) => ({ event_time: ms, event_id: `event-${n}`, email: sha256(`${n}@example.com`) }),
  kept: ({ conversionHappenedAt, eventId, user }: Kept) => [
    conversionHappenedAt,
    eventId,
    user.userIds[0]?.idValue ?? '',
  ],
  refused: { event_id: 'refuse-1' },
  refusedBecause: /did not accept.*status 400, code INVALID_VALUE/,
  deduplicates: true,
  revoked: refusal(401, 'REVOKED_ACCESS_TOKEN', 65601),
  expireTokens: (server) => server.expireTokens(),
  examples: [
    {
      title: 'a person with everything, by a rule of its own',
      whole: true,
      row: {
        conversion_rule_id: `${rule}105`,
        event_time: new Date(ms).toISOString(),
        event_id: 'abc12345',
        value: '50.0',
        currency: 'usd',
        email: digest,
        li_fat_id: 'df5gf5-gh6t7-ph4j7h-fgf6n1',
        acxiom_id: 'acxiom-1',
        oracle_moat_id: 'moat-1',
        google_aid: 'aid-1',
        ip_address: '192.0.2.7',
        external_id: 'crm-1',
        first_name: 'mike',
        last_name: 'smith',
        title: 'software engineer',
        company: 'microsoft',
        country: 'us',
      },
      event: {
        conversion: `${rule}105`,
        conversionHappenedAt: ms,
        conversionValue: { currencyCode: 'USD', amount: '50.0' },
        eventId: 'abc12345',
        user: {
          userIds: [
            { idType: 'SHA256_EMAIL', idValue: digest },
            { idType: 'LINKEDIN_FIRST_PARTY_ADS_TRACKING_UUID', idValue: 'df5gf5-gh6t7-ph4j7h-fgf6n1' },
            { idType: 'ACXIOM_ID', idValue: 'acxiom-1' },
            { idType: 'ORACLE_MOAT_ID', idValue: 'moat-1' },
            { idType: 'GOOGLE_AID', idValue: 'aid-1' },
            { idType: 'PLAINTEXT_IP_ADDRESS', idValue: '192.0.2.7' },
          ],
          userInfo: {
            firstName: 'mike',
            lastName: 'smith',
            title: 'software engineer',
            companyName: 'microsoft',
            countryCode: 'US',
          },
          externalIds: ['crm-1'],
        },
      },
    },
    {
      title:
        'only both names, with the rule and the currency of the connection, and an ID that follows from its values',
      whole: true,
      settings: { currency: 'eur' },
      row: {
        event_time: String(Math.floor(ms / 1000)),
        value: 9.5,
        first_name: 'Ada',
        last_name: 'Byron',
        ip_address: '2001:db8::1',
      },
      event: (eventId) => ({
        conversion: `${rule}104`,
        conversionHappenedAt: Math.floor(ms / 1000) * 1000,
        conversionValue: { currencyCode: 'EUR', amount: '9.5' },
        eventId,
        user: { userIds: [], userInfo: { firstName: 'Ada', lastName: 'Byron' } },
      }),
    },
    {
      title: 'no name without the other, and no currency without a value',
      settings: { currency: 'EUR' },
      row: { conversion_rule_id: '105', first_name: 'Ada', title: 'Countess', country: 'gb', currency: 'USD' },
      event: {
        conversion: `${rule}105`,
        conversionHappenedAt: ms,
        eventId: 'event-1',
        user: { userIds: [{ idType: 'SHA256_EMAIL', idValue: sha256('1@example.com') }] },
      },
    },
  ],
  rejected: [
    [{ conversion_rule_id: 'abc' }, 'conversion_rule_id'],
    [{ event_time: ms - 91 * 86_400_000 }, 'event_time'],
    [{ event_time: ms + 7_200_000 }, 'event_time'],
    [{ event_time: '2026-01-31 12:00' }, 'event_time'],
    [{ value: '9,50', currency: 'EUR' }, 'value'],
    [{ value: '9.50' }, 'currency'],
    [{ value: '9.50', currency: 'Euro' }, 'currency'],
    [{ email: 'jane@example.com' }, 'email'],
    [{ email: null, li_fat_id: '' }, 'email'],
    [{ email: null, last_name: 'Byron', ip_address: '192.0.2.256' }, 'email'],
  ],
  failures: [
    [{ status: 429, json: { status: 429 } }, 'retry', 'rate_limited'],
    [{ status: 429, headers: { 'retry-after': '7' }, json: {} }, 'retry', 'rate_limited', 7000],
    [{ status: 500, json: { status: 500 } }, 'retry', 'platform_error'],
    [{ status: 503, text: '<html>' }, 'retry', 'platform_error'],
    [{ json: { elements: 'all' } }, 'retry', 'malformed_response'],
    [{ json: [[[]]] }, 'retry', 'malformed_response'],
    [results({ status: 429 }), 'retry', 'rate_limited'],
    [results({ status: 500 }), 'retry', 'platform_error'],
    [results({ status: 401 }), 'reauthenticate', 'invalid_credentials'],
    ['reset', 'retry', 'connection_lost'],
    ['reset after', 'retry', 'connection_lost'],
    [refusal(409, 'CONFLICT'), 'retry', 'conflict'],
    [refusal(403, 'ACCESS_DENIED', 100), 'reconfigure', 'permission_denied'],
    [refusal(426, 'NONEXISTENT_VERSION'), 'fail', 'version_retired'],
    [refusal(400, 'VERSION_DEPRECATED'), 'fail', 'version_retired'],
    [{ status: 413, text: '' }, 'split', 'batch_too_large'],
    [refusal(401, 'X', 65601), 'reauthenticate', 'invalid_credentials'],
    [refusal(401, 'REVOKED_ACCESS_TOKEN'), 'reauthenticate', 'invalid_credentials'],
    [refusal(401, 'X', 65600), 'reauthenticate', 'expired_credentials'],
    [said(400, 'Incorrect conversions information provided, indices [0]'), 'reconfigure', 'invalid_setting'],
  ],
  answers: [
    ['rejects the rows of which LinkedIn reports nothing', results({ status: 201 }), [1, 2]],
    ['rejects all rows if LinkedIn reports nothing of any', results(), [0, 1, 2]],
    [
      'leaves out the rows that LinkedIn blames, and sends the others again',
      said(422, 'Index: 0, ERROR :: /user :: jane@example.com\nIndex: 2, ERROR :: /eventId :: no\nERROR :: /x :: no\n'),
      [[0, 'event_time'], 1, 3],
      [{ event_time: 'never' }, {}, {}, {}],
    ],
    [
      'leaves out the rows of a rule that LinkedIn does not accept',
      undefined,
      [[1, 'conversion_rule_id']],
      [{}, { conversion_rule_id: '777' }, { conversion_rule_id: '105' }],
    ],
    ['sends halves if LinkedIn refuses a request without naming a row', said(422, 'no, Index: 99, ERROR :: x'), []],
  ],
  openings: [
    [{ settings: {}, columns: ['email'] }, 'invalid_setting'],
    [{ settings: { conversionRuleId: 'x' } }, 'invalid_setting'],
    [{ settings: { ...settings, currency: 'Euro' } }, 'invalid_setting'],
    [{ settings: {}, columns: ['conversion_rule_id'] }, undefined],
  ],
  checks: [
    {
      title: 'the role of the user',
      change: ({ roles }) => roles.set('urn:li:sponsoredAccount:500', 'VIEWER'),
      ok: false,
    },
  ],
})
