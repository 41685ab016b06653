import {
  journeyKey,
  type MarketingCloudServer,
  marketingCloudRoutes,
  marketingCloudSecrets,
  startMarketingCloud,
} from '../../test/marketing-cloud-server.ts'
import { testEventDestination } from '../../test/test-event-destination.ts'
import { salesforceMarketingCloudJourneys } from './salesforce-marketing-cloud-journeys.ts'

type Kept = { ContactKey: string; EventDefinitionKey: string; Data: { Tier: string } }

await testEventDestination<MarketingCloudServer>({
  connector: salesforceMarketingCloudJourneys,
  testServer: 'a server that keeps to Salesforce’s published documentation',
  start: startMarketingCloud,
  origins: Object.keys(marketingCloudRoutes('')),
  secrets: marketingCloudSecrets,
  wrongSecrets: { ...marketingCloudSecrets, clientSecret: 'of another client' },
  settings: { eventDefinitionKey: journeyKey },
  posts: /interaction\/v1\/events$/,
  eventsIn: (json) => [json],
  taken: ({ entries }) => entries,
  clear: ({ entries }) => entries.splice(0),
  row: (n) => ({ contact_key: `c-${n}`, event_definition_key: journeyKey, data: `{"Tier":"${n}"}` }),
  kept: ({ ContactKey, EventDefinitionKey, Data }: Kept) => [ContactKey, EventDefinitionKey, JSON.stringify(Data)],
  refused: { event_definition_key: 'APIEvent-none' },
  refusedBecause: /does not accept the event/,
  deduplicates: false,
  revoked: { status: 401, json: { message: 'Not Authorized' } },
  expireTokens: (server) => server.expireTokens(),
  examples: [
    {
      title: 'a contact with attributes, by the event of the connection',
      whole: true,
      row: { contact_key: '0042', data: '{"Email":"a@example.com","Points":5}', event_id: 'not sent' },
      event: { ContactKey: '0042', EventDefinitionKey: journeyKey, Data: { Email: 'a@example.com', Points: 5 } },
    },
    {
      title: 'a contact without attributes',
      row: { data: null },
      event: { ContactKey: 'c-1', EventDefinitionKey: journeyKey },
    },
  ],
  rejected: [
    [{ contact_key: null }, 'contact_key'],
    [{ data: 'Gold' }, 'data'],
  ],
  failures: [
    [{ status: 403, json: {} }, 'reconfigure', 'permission_denied'],
    [{ status: 400, json: { errorcode: 10006 } }, 'retry', 'platform_error'],
    [{ status: 429, headers: { 'retry-after': '7' }, json: { errorcode: 50100 } }, 'retry', 'rate_limited', 7_000],
    [{ status: 500, text: '<html>' }, 'retry', 'platform_error'],
    [{ status: 201, json: { eventInstanceId: '' } }, 'retry', 'malformed_response'],
  ],
  openings: [
    [{ settings: {}, columns: ['contact_key'] }, 'invalid_setting'],
    [{ settings: {}, columns: ['contact_key', 'event_definition_key'] }, undefined],
  ],
  checks: [
    {
      title: 'a subdomain that is none',
      change: () => undefined,
      secrets: { ...marketingCloudSecrets, subdomain: 'https://x.example' },
      ok: false,
      message: /Subdomain/,
    },
  ],
})
