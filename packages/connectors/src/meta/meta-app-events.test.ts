import { sha256 } from '../../test/digest.ts'
import { datasetId, type MetaEvent, type MetaServer, metaSecrets, problem, startMeta } from '../../test/meta-server.ts'
import { testEventDestination } from '../../test/test-event-destination.ts'
import { metaAppEvents } from './meta-app-events.ts'

const { clientId, clientSecret, accessToken: refreshToken } = metaSecrets
const secrets = { clientId, clientSecret, refreshToken }
const seconds = Math.floor(Date.now() / 1000) - 60
const idfa = '6d92078a-8246-4ba4-ae5b-76104861e7dc'
const email = sha256('jane@example.com')
const blank = (count: number) => new Array<string>(count).fill('')

await testEventDestination<MetaServer>({
  connector: metaAppEvents,
  testServer: 'a server that keeps to what is known of Meta',
  start: startMeta,
  origins: ['https://graph.facebook.com'],
  secrets,
  wrongSecrets: { ...secrets, refreshToken: 'expired-token' },
  settings: { datasetId, appPlatform: 'android' },
  missing: { datasetId: '1', appPlatform: 'ios' },
  posts: /events$/,
  eventsIn: (json) => (json as { data: unknown[] }).data,
  taken: ({ events }) => events.values(),
  clear: ({ events }) => events.clear(),
  row: (n) => ({ event_name: `Level ${n}`, event_time: seconds, madid: idfa, event_id: `e-${n}` }),
  kept: ({ event_name, event_time, event_id, user_data }: MetaEvent) => [
    event_name,
    event_time,
    (user_data as { madid: string }).madid,
    event_id,
  ],
  refused: { event_name: 'Refused' },
  refusedBecause: /because of its content/,
  deduplicates: true,
  revoked: problem(190),
  examples: [
    {
      title: 'an event of an app without a kind of place, by columns',
      row: {
        event_name: 'Purchase',
        app_platform: 'iOS',
        app_package_name: 'com.example.app',
        app_version: '4.2',
        os_version: '17.1',
        device_model: 'iPhone15,2',
        locale: 'en_US',
        advertiser_tracking_enabled: 'true',
        application_tracking_enabled: '1',
        value: '9.5',
        currency: 'eur',
      },
      event: {
        event_name: 'Purchase',
        event_time: seconds,
        event_id: 'e-1',
        action_source: 'app',
        user_data: { madid: idfa },
        custom_data: { value: 9.5, currency: 'EUR' },
        app_data: {
          advertiser_tracking_enabled: 1,
          application_tracking_enabled: 1,
          extinfo: ['i2', 'com.example.app', '4.2', '4.2', '17.1', 'iPhone15,2', 'en_US', ...blank(9)],
        },
      },
    },
    {
      title: 'an event of an app with the operating system of the settings, of which no consent is known',
      row: { event_name: 'Install', action_source: 'app', madid: null, email: email.toUpperCase() },
      event: {
        event_name: 'Install',
        event_time: seconds,
        event_id: 'e-1',
        action_source: 'app',
        user_data: { em: [email] },
        app_data: { advertiser_tracking_enabled: 0, application_tracking_enabled: 0, extinfo: ['a2', ...blank(15)] },
      },
    },
    {
      title: 'an event of a website',
      row: { event_name: 'Lead', action_source: 'website', madid: null, email },
      event: {
        event_name: 'Lead',
        event_time: seconds,
        event_id: 'e-1',
        action_source: 'website',
        user_data: { em: [email] },
      },
    },
  ],
  rejected: [
    [{ event_time: seconds - 8 * 86_400 }, 'event_time'],
    [{ madid: null }, 'email'],
  ],
  failures: [
    [problem(4), 'retry', 'rate_limited'],
    [problem(190), 'reauthenticate', 'invalid_credentials'],
    [problem(2635), 'fail', 'version_retired'],
  ],
  answers: [['searches the event that Meta refuses', problem(100, { error_subcode: 2804003 }), []]],
})
