import { testDescribedDestination } from '../../test/test-described-destination.ts'
import { customerIo } from './customer-io.ts'

testDescribedDestination({
  connector: customerIo,
  secrets: { region: 'eu', siteId: 'site', apiKey: 'canary-of-customer-io' },
  origin: 'https://track-eu.customer.io',
  headers: { authorization: `Basic ${Buffer.from('site:canary-of-customer-io').toString('base64')}` },
  checks: 'GET /api/v1/accounts/region',
  published: 'customer-io',
  examples: [
    {
      title: 'identifies people by one identifier each, and knows who was not taken',
      operation: 'update people',
      rows: [
        { id: 'u1', email: 'a@example.com', attributes: '{"plan":"gold"}' },
        { id: null, email: 'b@example.com', attributes: null },
      ],
      requests: [
        {
          path: '/api/v2/batch',
          body: {
            batch: [
              { type: 'person', action: 'identify', identifiers: { id: 'u1' }, attributes: { plan: 'gold' } },
              { type: 'person', action: 'identify', identifiers: { email: 'b@example.com' } },
            ],
          },
        },
      ],
      answers: [
        {
          status: 207,
          json: { errors: [{ batch_index: 1, reason: 'invalid', field: 'identifiers', message: 'no such person' }] },
        },
      ],
      rejected: [1],
      because: /no such person/,
    },
    {
      title: 'records events',
      operation: 'record events',
      rows: [{ id: 'u1', name: 'order', timestamp: '2026-01-31T11:00:00Z', attributes: '{"total":1}' }],
      requests: [
        {
          path: '/api/v2/batch',
          body: {
            batch: [
              {
                type: 'person',
                action: 'event',
                identifiers: { id: 'u1' },
                name: 'order',
                id: 'ulid',
                timestamp: 1769857200,
                attributes: { total: 1 },
              },
            ],
          },
        },
      ],
      answers: [{ json: {} }],
    },
    {
      title: 'adds people to a manual segment',
      operation: 'add to segment',
      settings: { segmentId: '7' },
      rows: [{ id: 'u1' }],
      requests: [{ path: '/api/v1/segments/7/add_customers', body: { ids: ['u1'] } }],
      answers: [{ json: {} }],
    },
    {
      title: 'removes people from a manual segment',
      operation: 'remove from segment',
      settings: { segmentId: '7' },
      rows: [{ id: 'u1' }, { id: 'u2' }],
      requests: [{ path: '/api/v1/segments/7/remove_customers', body: { ids: ['u1', 'u2'] } }],
      answers: [{ json: {} }],
    },
    {
      title: 'deletes people',
      operation: 'delete people',
      rows: [{ email: 'a@example.com' }],
      requests: [
        {
          path: '/api/v2/batch',
          body: { batch: [{ type: 'person', action: 'delete', identifiers: { email: 'a@example.com' } }] },
        },
      ],
      answers: [{ json: {} }],
    },
  ],
})
