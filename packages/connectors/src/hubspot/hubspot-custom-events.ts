import { secret } from '@penstock/connector'
import { describedDestination } from '../described/described-destination.ts'
import { hubspot } from './platform.ts'

/** Custom events of HubSpot. */
export const hubspotCustomEvents = describedDestination({
  slug: 'hubspot-custom-events',
  name: 'HubSpot custom events',
  platform: hubspot,
  dataType: 'Audiences - CRM API',
  dataTypeCategory: 'audience activation',
  status: 'preview',
  description: 'Records events of contacts and other objects in HubSpot.',
  actions: ['add'],
  notes:
    'The event must be defined in HubSpot, with its properties. HubSpot needs an Enterprise edition for custom events. If HubSpot refuses a request, its events are sent in halves until the refused events are alone. HubSpot can count an event twice if a transfer is interrupted.',
  tested: 'Our own test server, which refuses what HubSpot’s OpenAPI document refuses; not HubSpot itself.',
  api: { version: '2026-09', ends: 'HubSpot supports a version for about 18 months.' },
  secrets: {
    accessToken: secret({
      label: 'Access token',
      description: 'Token of a private app with the scope analytics.behavioral_events.send',
      required: true,
    }),
  },
  server: ({ accessToken }) => ({
    url: 'https://api.hubapi.com',
    authentication: 'bearer token',
    apiToken: String(accessToken),
  }),
  operations: { 'record events': 'Record events' },
  definition: {
    check: { path: '/events/custom/2026-09/event-definitions', query: { limit: '1' } },
    operations: {
      'record events': {
        path: '/events/custom/2026-09/send/batch',
        batch: { rows: 500, bytes: 2_000_000 },
        columns: {
          eventName: { type: 'text', required: true, description: 'Internal name, such as pe12345_order' },
          email: { type: 'text', identifies: true, description: 'Address of a contact' },
          objectId: { type: 'text', identifies: true, description: 'ID of a contact or another object' },
          utk: { type: 'text', identifies: true, description: 'Value of the cookie hubspotutk' },
          occurredAt: { type: 'time', unit: 'utc' },
          properties: { type: 'object', description: 'Values of properties, as texts' },
          uuid: { type: 'text', description: 'ID of the event; without one, Penstock makes one' },
        },
        row: {
          '...': '{{ row }}',
          // HubSpot needs the key.
          properties: { '...': '{{ row.properties }}' },
          uuid: '{{ coalesce(row.uuid, id) }}',
        },
        body: { inputs: '{{ rows }}' },
        result: { refused: 400, reason: '{{ response.message }}' },
      },
    },
  },
})
