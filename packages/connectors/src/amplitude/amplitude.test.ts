import { testDescribedDestination } from '../../test/test-described-destination.ts'
import { amplitude } from './amplitude.ts'

const body = (...events: object[]) => ({ api_key: 'canary-of-amplitude', events, options: { min_id_length: 1 } })
const good = {
  user_id: 'u1',
  event_type: 'order',
  insert_id: 'id',
  time: 1769857200000,
  event_properties: { total: 12.5 },
}

testDescribedDestination({
  connector: amplitude,
  secrets: { region: 'eu', apiKey: 'canary-of-amplitude' },
  origin: 'https://api.eu.amplitude.com',
  headers: {},
  published: 'amplitude',
  examples: [
    {
      title: 'sends a request again without the events that Amplitude names by field and number',
      operation: 'record events',
      rows: [
        { user_id: 'u1', event_type: 'order', time: '2026-01-31T11:00:00Z', event_properties: '{"total":12.5}' },
        { user_id: 'u2', event_type: '$identify', time: null, event_properties: null },
      ],
      requests: [
        { path: '/2/httpapi', body: body(good, { user_id: 'u2', event_type: '$identify', insert_id: 'id' }) },
        { path: '/2/httpapi', body: body(good) },
      ],
      answers: [
        {
          status: 400,
          json: {
            code: 400,
            error: 'Invalid field values on some events',
            events_with_invalid_fields: { user_id: [1] },
          },
        },
        { json: { code: 200, events_ingested: 1 } },
      ],
      rejected: [1],
      because: /Invalid field values/,
    },
  ],
})
