import { sha256 } from '../../test/digest.ts'
import {
  fault,
  type MicrosoftServer,
  microsoftRoutes,
  microsoftSecrets,
  microsoftSettings,
  partial,
  startMicrosoft,
} from '../../test/microsoft-server.ts'
import type { Failure } from '../../test/platform-server.ts'
import { testEventDestination } from '../../test/test-event-destination.ts'
import { microsoftAdsEvents } from './microsoft-ads-events.ts'

const ms = Date.now() - 3_600_000
const iso = new Date(ms).toISOString()
const click = (n: number) => sha256(String(n)).slice(0, 32)
const [email, phone] = [sha256('test@contoso.com'), sha256('+12345678901')]
const { authType: _, appDeveloperToken: developerToken, ...app } = microsoftSecrets
const secrets = { ...app, developerToken }
const settings = { ...microsoftSettings, conversionName: 'Offline sale', currency: 'EUR' }
const errors = (...given: [index: number, code: number, name: string][]): Failure => ({ json: partial(...given) })

type Kept = { ConversionTime: string; MicrosoftClickId: string; ConversionValue: number }

await testEventDestination<MicrosoftServer>({
  connector: microsoftAdsEvents,
  testServer: 'a server that keeps to what is known of Microsoft',
  start: startMicrosoft,
  origins: Object.keys(microsoftRoutes('')),
  secrets,
  wrongSecrets: { ...secrets, refreshToken: 'revoked-token' },
  settings,
  missing: { ...settings, accountId: '9002' },
  posts: /OfflineConversions\/Apply$/,
  eventsIn: (json) => (json as { OfflineConversions: unknown[] }).OfflineConversions,
  taken: ({ conversions }) => conversions.values(),
  clear: ({ conversions }) => conversions.clear(),
  row: (n) => ({ event_time: iso, msclkid: click(n), value: n }),
  kept: ({ ConversionTime, MicrosoftClickId, ConversionValue }: Kept) => [
    ConversionTime,
    MicrosoftClickId,
    ConversionValue,
  ],
  refused: { msclkid: 'no click' },
  refusedBecause: /does not accept.*code 5604, OfflineConversionMicrosoftClickIdInvalid/,
  deduplicates: true,
  revoked: fault(401, 105),
  expireTokens: (server) => server.expireTokens(),
  reportsOnlyErrors: true,
  examples: [
    {
      title: 'every column',
      whole: true,
      row: {
        conversion_name: 'Offline sale',
        event_time: iso.replace('Z', '+00:00'),
        msclkid: click(1),
        email,
        phone,
        value: '49.90',
        currency: 'usd',
        external_attribution_credit: '0.5',
        external_attribution_model: 'Linear',
      },
      event: {
        MicrosoftClickId: click(1),
        HashedEmailAddress: email,
        HashedPhoneNumber: phone,
        ConversionName: 'Offline sale',
        ConversionTime: iso,
        ConversionValue: 49.9,
        ConversionCurrencyCode: 'USD',
        ExternalAttributionCredit: 0.5,
        ExternalAttributionModel: 'Linear',
      },
    },
    {
      title: 'an address alone, with the goal and the currency of the connection',
      whole: true,
      row: { event_time: String(Math.floor(ms / 1000)), email, value: 10 },
      event: {
        HashedEmailAddress: email,
        ConversionName: 'Offline sale',
        ConversionTime: new Date(Math.floor(ms / 1000) * 1000).toISOString(),
        ConversionValue: 10,
        ConversionCurrencyCode: 'EUR',
      },
    },
    {
      title: 'a click alone, of the value of the goal',
      whole: true,
      row: { event_time: ms, msclkid: click(3) },
      event: { MicrosoftClickId: click(3), ConversionName: 'Offline sale', ConversionTime: iso },
    },
    {
      title: 'a currency of its own for the value of the goal',
      row: { value: null, currency: 'usd' },
      event: {
        MicrosoftClickId: click(1),
        ConversionName: 'Offline sale',
        ConversionTime: iso,
        ConversionCurrencyCode: 'USD',
      },
    },
  ],
  rejected: [
    [{ event_time: ms - 91 * 86_400_000 }, 'event_time'],
    [{ event_time: 'yesterday' }, 'event_time'],
    [{ msclkid: null, email: 'jane@example.com' }, 'email'],
    [{ msclkid: null, phone: '+12345678901' }, 'phone'],
    [{ msclkid: null }, 'msclkid'],
    [{ value: '9,50' }, 'value'],
    [{ value: '-1' }, 'value'],
    [{ currency: 'Euro' }, 'currency'],
    [{ external_attribution_credit: '1.5' }, 'external_attribution_credit'],
    [{ external_attribution_credit: '0' }, 'external_attribution_credit'],
  ],
  failures: [
    [fault(400, 117), 'retry', 'rate_limited', 60_000],
    [{ status: 429, headers: { 'retry-after': '7' }, json: {} }, 'retry', 'rate_limited', 7000],
    [{ status: 429, text: '' }, 'retry', 'rate_limited'],
    [{ status: 502, text: '<html>' }, 'retry', 'platform_error'],
    [fault(500, 0), 'retry', 'platform_error'],
    [fault(200, 0), 'retry', 'platform_error'],
    [errors([0, 5612, 'OfflineConversionsApplyFailed']), 'retry', 'platform_error'],
    [{ json: { PartialErrors: 'none' } }, 'retry', 'malformed_response'],
    ['reset', 'retry', 'connection_lost'],
    ['reset after', 'retry', 'connection_lost'],
    [errors([-1, 4711, 'Strange']), 'split', 'invalid_batch'],
    [errors([1, 4711, 'Strange']), 'split', 'invalid_batch'],
    [errors([0, 5613, 'OfflineConversionPilotNotEnabledForCustomer']), 'reconfigure', 'account_restricted'],
    [fault(403, 106), 'reconfigure', 'permission_denied'],
    [fault(500, 109), 'reauthenticate', 'expired_credentials'],
    [fault(400, 5601, 'OperationErrors'), 'fail', 'request_refused'],
    // The connection names the goal, so no row is to blame.
    [errors([0, 5606, 'OfflineConversionNameInvalid']), 'reconfigure', 'invalid_setting'],
    [errors([0, 5615, 'OfflineConversionNotAcceptedForGoal']), 'retry', 'platform_unavailable', 1_800_000],
  ],
  answers: [
    [
      'names the rows that Microsoft does not accept, by their places in the request',
      undefined,
      [[0, 'event_time'], 2, [3, 'conversion_name'], 4],
      [
        { event_time: 'never' },
        {},
        { msclkid: 'no click' },
        { conversion_name: 'No such goal' },
        { conversion_name: 'Too new' },
        {},
      ],
    ],
  ],
  openings: [
    [{ settings: { ...settings, currency: 'Euro' } }, 'invalid_setting'],
    [{ settings: { ...settings, accountId: '' } }, 'invalid_setting'],
    [{ settings: { conversionName: 'x' } }, 'invalid_setting'],
    [{ settings: microsoftSettings, columns: ['event_time', 'msclkid'] }, 'invalid_setting'],
    [{ settings: microsoftSettings, columns: ['event_time', 'conversion_name'] }, undefined],
    [{ secrets: app }, 'invalid_setting'],
  ],
})
