import { testDescribedDestination } from '../../test/test-described-destination.ts'
import { braze } from './braze.ts'

testDescribedDestination({
  connector: braze,
  secrets: { restEndpoint: 'https://rest.iad-01.braze.com', apiKey: 'canary-of-the-braze-key' },
  origin: 'https://rest.iad-01.braze.com',
  headers: { authorization: 'Bearer canary-of-the-braze-key' },
  published: 'braze',
  examples: [
    {
      title: 'puts custom attributes beside the others, and knows who was not taken by number',
      operation: 'update people',
      rows: [
        { external_id: 'u1', email: 'a@example.com', first_name: 'Ann', attributes: '{"plan":"gold","visits":3}' },
        { external_id: 'u2', email: null, first_name: 'Bob', attributes: null },
      ],
      requests: [
        {
          path: '/users/track',
          body: {
            attributes: [
              { plan: 'gold', visits: 3, external_id: 'u1', email: 'a@example.com', first_name: 'Ann' },
              { external_id: 'u2', first_name: 'Bob' },
            ],
          },
        },
      ],
      answers: [
        {
          status: 201,
          json: {
            message: 'success',
            attributes_processed: 1,
            errors: [{ type: 'BLACKLISTED_EXTERNAL_USER_ID', input_array: 'attributes', index: 1 }],
          },
        },
      ],
      rejected: [1],
      because: /BLACKLISTED_EXTERNAL_USER_ID/,
    },
    {
      title: 'counts a row that Braze does not name',
      operation: 'update people',
      rows: [{ external_id: 'u1' }, { external_id: 'u2' }],
      requests: [{ path: '/users/track', body: { attributes: [{ external_id: 'u1' }, { external_id: 'u2' }] } }],
      answers: [
        { status: 201, json: { message: 'success', errors: [{ type: 'something', input_array: 'attributes' }] } },
      ],
      rejected: [{ count: 1 }],
    },
    {
      title: 'deletes 50 people in a request',
      operation: 'delete people',
      rows: Array.from({ length: 51 }, (_, index) => ({ external_id: `u${index}` })),
      requests: [
        { path: '/users/delete', body: { external_ids: Array.from({ length: 50 }, (_, index) => `u${index}`) } },
        { path: '/users/delete', body: { external_ids: ['u50'] } },
      ],
      answers: [{ json: { deleted: 50, message: 'success' } }],
    },
    {
      title: 'records events with their time in UTC',
      operation: 'record events',
      rows: [
        { email: 'a@example.com', name: 'order', time: '2026-01-31T12:00:00+01:00', properties: '{"total":12.5}' },
      ],
      requests: [
        {
          path: '/users/track',
          body: {
            events: [
              { email: 'a@example.com', name: 'order', time: '2026-01-31T11:00:00.000Z', properties: { total: 12.5 } },
            ],
          },
        },
      ],
      answers: [{ status: 201, json: { message: 'success', events_processed: 1 } }],
    },
    {
      title: 'records purchases',
      operation: 'record purchases',
      rows: [
        {
          external_id: 'u1',
          product_id: 'p',
          currency: 'eur',
          price: '9.99',
          quantity: 2,
          time: '2026-01-31T11:00:00Z',
        },
      ],
      requests: [
        {
          path: '/users/track',
          body: {
            purchases: [
              {
                external_id: 'u1',
                product_id: 'p',
                currency: 'EUR',
                price: 9.99,
                quantity: 2,
                time: '2026-01-31T11:00:00.000Z',
              },
            ],
          },
        },
      ],
      answers: [{ status: 201, json: { message: 'success' } }],
    },
    {
      title: 'deletes the people who left the source, if the connection says so',
      operation: 'update people',
      settings: { deletes: true },
      rows: [{ external_id: 'u1' }, { external_id: 'u2' }],
      removed: [1],
      requests: [
        { path: '/users/track', body: { attributes: [{ external_id: 'u1' }] } },
        { path: '/users/delete', body: { external_ids: ['u2'] } },
      ],
      answers: [{ status: 201, json: { message: 'success' } }],
    },
  ],
})
