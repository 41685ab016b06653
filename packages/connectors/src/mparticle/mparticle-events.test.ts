import {
  type MparticleServer,
  mparticleRoutes,
  mparticleSecrets as secrets,
  startMparticle,
} from '../../test/mparticle-server.ts'
import { testEventDestination } from '../../test/test-event-destination.ts'
import { mparticleEvents } from './mparticle-events.ts'

const ms = Date.now() - 60_000
const iso = new Date(ms).toISOString()
const email = '1@example.com'

type Kept = {
  user_identities: { email: string }
  events: [{ data: { event_name: string; timestamp_unixtime_ms: number } }]
}

await testEventDestination<MparticleServer>({
  connector: mparticleEvents,
  testServer: 'a server that follows the published documentation of mParticle',
  start: startMparticle,
  origins: Object.keys(mparticleRoutes('')),
  secrets,
  wrongSecrets: { ...secrets, secret: 'another-secret' },
  settings: {},
  posts: /^POST \/v2\/bulkevents$/,
  eventsIn: (json) => json as unknown[],
  taken: ({ batches }) => batches,
  clear: ({ batches }) => {
    batches.length = 0
  },
  row: (n) => ({ event_name: 'Purchase', timestamp_unixtime_ms: ms, email: `${n}@example.com` }),
  kept: ({ user_identities: user, events: [{ data }] }: Kept) => [
    data.event_name,
    data.timestamp_unixtime_ms,
    user.email,
  ],
  refused: { event_name: 'Refused' },
  refusedBecause: /refuses the event.*status 400/,
  deduplicates: false,
  revoked: { status: 403, text: '' },
  examples: [
    {
      title: 'an event with everything, in another region',
      whole: true,
      secrets: { ...secrets, region: 'EU1' },
      settings: { environment: 'development' },
      row: {
        event_name: 'Purchase',
        custom_event_type: 'Transaction',
        timestamp_unixtime_ms: iso,
        event_id: '77',
        event_num: 3,
        source_message_id: 'm-1',
        session_id: '12',
        session_uuid: 'u-1',
        location: '{"latitude":53.3,"longitude":-6.2}',
        device_current_state: '{"battery_level":0.5}',
        custom_attributes: '{"value":12.5,"currency":"EUR","none":null}',
        custom_flags: '{"a":true}',
        customer_id: 'c-1',
        email,
        phone: '+353871234567',
        other_id: 'o',
        mpid: '-7',
        idfa: 'aaaa',
        gaid: 'bbbb',
        ip: '192.0.2.1',
        user_attributes: '{"tier":"gold"}',
      },
      event: {
        schema_version: 2,
        environment: 'development',
        mpid: -7,
        ip: '192.0.2.1',
        user_identities: { customer_id: 'c-1', email, mobile_number: '+353871234567', other: 'o' },
        user_attributes: { tier: 'gold' },
        device_info: { ios_advertising_id: 'aaaa', android_advertising_id: 'bbbb' },
        events: [
          {
            event_type: 'custom_event',
            data: {
              event_name: 'Purchase',
              custom_event_type: 'transaction',
              timestamp_unixtime_ms: ms,
              event_id: 77,
              event_num: 3,
              source_message_id: 'm-1',
              session_id: 12,
              session_uuid: 'u-1',
              location: { latitude: 53.3, longitude: -6.2 },
              device_current_state: { battery_level: 0.5 },
              custom_attributes: { value: '12.5', currency: 'EUR' },
              custom_flags: { a: 'true' },
            },
          },
        ],
      },
    },
    {
      title: 'an event of few columns, whose message has an ID that follows from its values',
      row: { event_id: '77', location: '{}' },
      event: (id) => ({
        schema_version: 2,
        environment: 'production',
        user_identities: { email },
        events: [
          {
            event_type: 'custom_event',
            data: {
              event_name: 'Purchase',
              custom_event_type: 'other',
              timestamp_unixtime_ms: ms,
              event_id: 77,
              source_message_id: id,
            },
          },
        ],
      }),
    },
    {
      title: 'a view of a screen, whose ID is that of the message, of a person with an ID of many digits',
      whole: true,
      row: {
        event_type: 'screen_view',
        event_name: 'Home',
        custom_event_type: 'no such type',
        timestamp_unixtime_ms: iso,
        event_id: 'e-1',
        mpid: '9007199254740993',
      },
      event: {
        schema_version: 2,
        environment: 'production',
        mpid: '9007199254740993',
        events: [
          {
            event_type: 'screen_view',
            data: { screen_name: 'Home', timestamp_unixtime_ms: ms, source_message_id: 'e-1' },
          },
        ],
      },
    },
    {
      title: 'the start of a session on a device, without a name',
      whole: true,
      row: {
        event_type: 'Session_Start',
        timestamp_unixtime_ms: ms,
        gaid: 'bbbb',
        event_id: 'e-1',
        source_message_id: 'm-1',
      },
      event: {
        schema_version: 2,
        environment: 'production',
        device_info: { android_advertising_id: 'bbbb' },
        events: [{ event_type: 'session_start', data: { timestamp_unixtime_ms: ms, source_message_id: 'm-1' } }],
      },
    },
  ],
  rejected: [
    [{ event_name: null }, 'event_name'],
    [{ event_name: '' }, 'event_name'],
    [{ timestamp_unixtime_ms: null }, 'timestamp_unixtime_ms'],
    [{ timestamp_unixtime_ms: 'yesterday' }, 'timestamp_unixtime_ms'],
    [{ timestamp_unixtime_ms: ms - 40 * 86_400_000 }, 'timestamp_unixtime_ms'],
    [{ email: null }, 'customer_id'],
    [{ event_type: 'crash' }, 'event_type'],
    [{ custom_event_type: 'x' }, 'custom_event_type'],
    [{ location: '{"latitude":100}' }, 'location'],
    [{ custom_attributes: 'x' }, 'custom_attributes'],
    [{ event_num: 'x' }, 'event_num'],
    [{ mpid: 'x' }, 'mpid'],
  ],
  failures: [
    [{ status: 429, headers: { 'retry-after': '7' }, text: '' }, 'retry', 'rate_limited', 7000],
    [{ status: 429, text: '' }, 'retry', 'rate_limited'],
    [{ status: 503, text: '' }, 'retry', 'platform_error'],
    [{ status: 500, text: '<html>' }, 'retry', 'platform_error'],
    ['reset', 'retry', 'connection_lost'],
    ['reset after', 'retry', 'connection_lost'],
    [{ status: 413, text: '' }, 'split', 'batch_too_large'],
    [{ status: 401, text: '' }, 'reauthenticate', 'invalid_credentials'],
    [{ status: 403, json: { errors: [] } }, 'reauthenticate', 'invalid_credentials'],
  ],
  answers: [
    [
      'finds the events that sink a request of the largest size',
      undefined,
      [9, 69],
      Array.from({ length: 100 }, (_, n) => (n % 60 === 9 ? { event_name: 'Refused' } : {})),
    ],
  ],
  openings: [
    [{ secrets: {} }, 'invalid_credentials'],
    [{ secrets: { ...secrets, region: 'evil.example.com/' } }, 'invalid_setting'],
  ],
  inspectsOpenings: true,
})
