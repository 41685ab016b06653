import {
  type ActiveCampaignEvents,
  eventSecrets,
  startActiveCampaignEvents,
} from '../../test/activecampaign-events-server.ts'
import { testEventDestination } from '../../test/test-event-destination.ts'
import { activecampaignEvents } from './activecampaign-events.ts'

type Kept = { event: string; email: string; eventdata?: string }
const refused = { json: { success: 0, message: 'Invalid key for jane@example.com' } }

await testEventDestination<ActiveCampaignEvents>({
  connector: activecampaignEvents,
  testServer: 'a server that keeps to the published documentation of ActiveCampaign’s event tracking',
  start: startActiveCampaignEvents,
  origins: ['https://trackcmp.net'],
  secrets: eventSecrets,
  settings: {},
  posts: /^POST \/event$/,
  eventsIn: () => [],
  taken: ({ events }) => events,
  clear: ({ events }) => events.splice(0),
  row: (n) => ({ email: `${n}@example.com`, event_name: 'Bought', event_data: `Product ${n}` }),
  kept: ({ email, event, eventdata }: Kept) => [email, event, eventdata ?? null],
  refused: { email: 'stranger@elsewhere.example' },
  refusedBecause: /does not accept the event/,
  deduplicates: false,
  revoked: refused,
  examples: [],
  rejected: [
    [{ email: null }, 'email'],
    [{ event_name: null }, 'event_name'],
    [{ event_name: 'x'.repeat(256) }, 'event_name'],
  ],
  failures: [
    [refused, 'reauthenticate', 'invalid_credentials'],
    [{ status: 403, text: '' }, 'reauthenticate', 'invalid_credentials'],
    [{ status: 429, headers: { 'retry-after': '7' }, text: '' }, 'retry', 'rate_limited', 7_000],
    [{ status: 500, text: '<html>' }, 'retry', 'platform_error'],
  ],
  answers: [
    [
      'rejects the rows that ActiveCampaign does not accept, one by one',
      undefined,
      [[0, 'email'], 2],
      [{ email: null }, {}, { email: 'x@elsewhere.example' }, { event_data: null }],
    ],
  ],
})
