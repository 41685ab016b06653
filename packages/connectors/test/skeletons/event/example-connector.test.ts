import { sha256 } from '../../digest.ts'
import { testEventDestination } from '../../test-event-destination.ts'
import { exampleConnector } from './example-connector.ts'
import { type ExampleConnectorServer, startExampleConnector } from './example-connector-server.ts'

const seconds = Math.floor(Date.now() / 1000) - 60

await testEventDestination<ExampleConnectorServer>({
  connector: exampleConnector,
  testServer: 'a server that keeps to the published documentation',
  start: startExampleConnector,
  origins: ['https://api.example.com'],
  secrets: { accessToken: 'the-access-token' },
  wrongSecrets: { accessToken: 'expired' },
  settings: { dataSetId: '12345' },
  missing: { dataSetId: '1' },
  posts: /events$/,
  eventsIn: (json) => (json as { events: unknown[] }).events,
  taken: ({ events }) => events.values(),
  clear: ({ events }) => events.clear(),
  row: (n) => ({ event_name: 'Lead', event_time: seconds, email: sha256(`${n}@example.com`), event_id: `e-${n}` }),
  kept: ({ name, time, user, id }: { name: string; time: number; user: { email: string }; id: string }) => [
    name,
    time,
    user.email,
    id,
  ],
  refused: { event_name: 'Refused' },
  refusedBecause: /does not accept/,
  deduplicates: true,
  revoked: { status: 401, json: {} },
  examples: [
    {
      title: 'every column',
      row: { event_id: 'order-1', value: '12.50', currency: 'eur' },
      event: {
        name: 'Lead',
        time: seconds,
        id: 'order-1',
        user: { email: sha256('1@example.com') },
        value: 12.5,
        currency: 'EUR',
      },
    },
  ],
  rejected: [
    [{ event_time: 'yesterday' }, 'event_time'],
    [{ email: 'jane@example.com' }, 'email'],
    [{ value: '-1' }, 'value'],
    [{ currency: 'euro' }, 'currency'],
  ],
  failures: [
    [{ status: 403, json: {} }, 'reconfigure', 'permission_denied'],
    [{ status: 404, json: {} }, 'reconfigure', 'object_not_found'],
    [{ status: 429, headers: { 'retry-after': '7' }, text: '' }, 'retry', 'rate_limited', 7_000],
  ],
})
