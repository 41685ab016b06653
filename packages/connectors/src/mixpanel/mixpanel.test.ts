import { testDescribedDestination } from '../../test/test-described-destination.ts'
import { mixpanel } from './mixpanel.ts'

const event = { event: 'order', distinct_id: 'u1', time: '2026-01-31T11:00:00Z', properties: null }
const sent = (properties: object = {}) => ({
  event: 'order',
  properties: { time: 1769857200000, distinct_id: 'u1', $insert_id: 'id', ...properties },
})

testDescribedDestination({
  connector: mixpanel,
  secrets: {
    region: 'eu',
    projectId: '7',
    projectToken: 'token',
    username: 'penstock',
    password: 'canary-of-mixpanel',
  },
  origin: 'https://api-eu.mixpanel.com',
  headers: { authorization: `Basic ${Buffer.from('penstock:canary-of-mixpanel').toString('base64')}` },
  published: 'mixpanel',
  examples: [
    {
      title: 'imports events with an ID, and does not send those again that are stored',
      operation: 'import events',
      rows: [{ ...event, properties: '{"total":12.5}' }, event],
      requests: [{ path: '/import', body: [sent({ total: 12.5 }), sent()] }],
      answers: [
        {
          status: 400,
          json: {
            code: 400,
            num_records_imported: 1,
            failed_records: [
              { index: 1, insert_id: 'x', field: 'properties.time', message: 'time is too far in the past' },
            ],
          },
        },
      ],
      rejected: [1],
      because: /too far in the past/,
    },
    {
      title: 'sets properties of profiles',
      operation: 'set profiles',
      rows: [{ distinct_id: 'u1', properties: '{"$email":"a@example.com"}' }],
      requests: [
        { path: '/engage', body: [{ $token: 'token', $distinct_id: 'u1', $set: { $email: 'a@example.com' } }] },
      ],
      answers: [{ json: { status: 1, error: null } }],
    },
    {
      title: 'deletes profiles',
      operation: 'delete profiles',
      rows: [{ distinct_id: 'u1' }],
      requests: [{ path: '/engage', body: [{ $token: 'token', $distinct_id: 'u1', $delete: '' }] }],
      answers: [{ json: { status: 1, error: null } }],
    },
  ],
})
