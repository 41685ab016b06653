import { ConnectorError, secret, select } from '@penstock/connector'
import { describedDestination } from '../described/described-destination.ts'
import { amplitudePlatform } from './platform.ts'

/** Events of Amplitude. */
export const amplitude = describedDestination({
  slug: 'amplitude',
  name: 'Amplitude',
  platform: amplitudePlatform,
  dataType: 'Audiences - CRM API',
  dataTypeCategory: 'audience activation',
  status: 'preview',
  description: 'Records events and properties of users in Amplitude.',
  actions: ['add', 'update'],
  notes:
    'Amplitude ignores an event that is sent again within 7 days, because each event has an ID. A request with a refused event is sent again without it. Amplitude has no request that tries a key, so a check only reaches the server.',
  tested:
    'Our own test server, which refuses what a description of the HTTP V2 API by others (API Evangelist) refuses; not Amplitude itself, which publishes none.',
  api: { version: 'HTTP V2', ends: 'No end is known.' },
  secrets: {
    region: select({
      label: 'Data center',
      description: 'Where the data of your project is stored',
      options: ['us', 'eu'],
      labels: { us: 'United States', eu: 'European Union' },
      default: 'us',
      binds: ['apiKey', 'secretKey'],
    }),
    apiKey: secret({ label: 'API key', description: 'API key of the project', required: true }),
    secretKey: secret({ label: 'Secret key', description: 'Secret key of the project; only needed to erase people' }),
  },
  server: ({ region, apiKey }) => ({
    url: region === 'eu' ? 'https://api.eu.amplitude.com' : 'https://api2.amplitude.com',
    authentication: 'none',
    // Removed from answers.
    apiToken: String(apiKey),
  }),
  given: ['apiKey'],
  operations: { 'record events': 'Record events' },
  erasure: {
    what: 'Deletes the events and properties of the user in this project, within 30 days. Amplitude tells the administrators by e-mail, and accepts new events of the user.',
    server({ region, apiKey, secretKey }) {
      if (!secretKey) {
        throw new ConnectorError(
          'invalid_credentials',
          'Amplitude erases people only with the secret key of the project; save it in the connector.',
        )
      }
      return {
        url: region === 'eu' ? 'https://analytics.eu.amplitude.com' : 'https://amplitude.com',
        authentication: 'user name and password',
        username: String(apiKey),
        password: String(secretKey),
      }
    },
    pace: { requests: 1, seconds: 1 },
    requests: {
      externalId: {
        path: '/api/2/deletions/users',
        body: { user_ids: ['{{ person }}'] },
        result: { refused: 400, reason: '{{ response.error }}' },
      },
    },
  },
  definition: {
    operations: {
      'record events': {
        path: '/2/httpapi',
        parameters: ['apiKey'],
        batch: { rows: 1_000, bytes: 900_000 },
        columns: {
          user_id: { type: 'text', identifies: true, description: 'Your ID of the person' },
          device_id: { type: 'text', identifies: true },
          event_type: {
            type: 'text',
            required: true,
            description: 'Name of the event; $identify sets only properties',
          },
          time: { type: 'time', unit: 'milliseconds' },
          insert_id: { type: 'text', description: 'ID of the event; without one, Penstock makes one' },
          session_id: 'whole number',
          event_properties: 'object',
          user_properties: 'object',
          groups: 'object',
          price: 'number',
          quantity: 'whole number',
          revenue: 'number',
          productId: 'text',
          revenueType: 'text',
          country: 'text',
          language: 'text',
          platform: 'text',
          app_version: 'text',
          ip: 'text',
        },
        row: { '...': '{{ row }}', insert_id: '{{ coalesce(row.insert_id, id) }}' },
        body: { api_key: '{{ parameter.apiKey }}', events: '{{ rows }}', options: { min_id_length: 1 } },
        result: {
          refused: 400,
          reason: '{{ response.error }}',
          // Lists of numbers of events, by what is wrong and by the field: events_with_invalid_fields.time[0].
          rows: { at: '*.*.*', index: 'entry', reason: '{{ response.error }}' },
        },
        // Amplitude refuses a wrong key by 400, too.
        errors: [{ status: 400, contains: 'Invalid API key', action: 'fail' }],
      },
    },
  },
})
