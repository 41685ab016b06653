import { testDescribedDestination } from '../../test/test-described-destination.ts'
import { klaviyo } from './klaviyo.ts'

const job = (status: string) => ({
  json: { data: { type: 'profile-bulk-import-job', id: 'j1', attributes: { status } } },
})
const profile = (attributes: object) => ({ type: 'profile', attributes })

testDescribedDestination({
  connector: klaviyo,
  secrets: { apiKey: 'pk_canary-of-klaviyo' },
  origin: 'https://a.klaviyo.com',
  headers: { authorization: 'Klaviyo-API-Key pk_canary-of-klaviyo', revision: '2026-07-15' },
  checks: 'GET /api/accounts',
  published: 'klaviyo',
  examples: [
    {
      title: 'imports profiles to a list, and waits for the errors of the job',
      operation: 'add to list',
      settings: { listId: 'Y6nRLr' },
      rows: [
        { email: 'a@example.com', first_name: 'Ann', properties: '{"plan":"gold"}', location: '{"city":"Bonn"}' },
        { email: 'b@example.com', first_name: null, properties: null, location: null },
      ],
      requests: [
        {
          path: '/api/profile-bulk-import-jobs',
          body: {
            data: {
              type: 'profile-bulk-import-job',
              attributes: {
                profiles: {
                  data: [
                    profile({
                      email: 'a@example.com',
                      first_name: 'Ann',
                      location: { city: 'Bonn' },
                      properties: { plan: 'gold' },
                    }),
                    profile({ email: 'b@example.com' }),
                  ],
                },
              },
              relationships: { lists: { data: [{ type: 'list', id: 'Y6nRLr' }] } },
            },
          },
        },
        { method: 'GET', path: '/api/profile-bulk-import-jobs/j1' },
        { method: 'GET', path: '/api/profile-bulk-import-jobs/j1/import-errors' },
      ],
      answers: [
        { status: 202, ...job('queued') },
        job('complete'),
        {
          json: {
            data: [
              {
                type: 'import-error',
                id: 'e1',
                attributes: {
                  code: 'invalid',
                  title: 'Invalid input.',
                  detail: 'Invalid email address',
                  source: { pointer: '/data/attributes/profiles/data/1/attributes/email' },
                },
              },
            ],
          },
        },
      ],
      rejected: [1],
      because: /Invalid email address/,
    },
    {
      title: 'imports profiles without a list',
      operation: 'update profiles',
      rows: [{ external_id: 'u1', first_name: 'Ann' }],
      requests: [
        {
          path: '/api/profile-bulk-import-jobs',
          body: {
            data: {
              type: 'profile-bulk-import-job',
              attributes: { profiles: { data: [profile({ external_id: 'u1', first_name: 'Ann' })] } },
            },
          },
        },
        { method: 'GET', path: '/api/profile-bulk-import-jobs/j1' },
        { method: 'GET', path: '/api/profile-bulk-import-jobs/j1/import-errors' },
      ],
      answers: [{ status: 202, ...job('queued') }, job('complete'), { json: { data: [] } }],
    },
    {
      title: 'records an event with an ID',
      operation: 'record events',
      rows: [
        {
          email: 'a@example.com',
          metric: 'Placed Order',
          value: 12.5,
          time: '2026-01-31T11:00:00Z',
          properties: '{"x":1}',
        },
      ],
      requests: [
        {
          path: '/api/events',
          body: {
            data: {
              type: 'event',
              attributes: {
                properties: { x: 1 },
                time: '2026-01-31T11:00:00.000Z',
                value: 12.5,
                unique_id: 'id',
                metric: { data: { type: 'metric', attributes: { name: 'Placed Order' } } },
                profile: { data: { type: 'profile', attributes: { email: 'a@example.com' } } },
              },
            },
          },
        },
      ],
      answers: [{ status: 202, text: '' }],
    },
    {
      title: 'rejects an event that Klaviyo does not take',
      operation: 'record events',
      rows: [{ email: 'nobody', metric: 'Placed Order', properties: null }],
      requests: [
        {
          path: '/api/events',
          body: {
            data: {
              type: 'event',
              attributes: {
                properties: {},
                unique_id: 'id',
                metric: { data: { type: 'metric', attributes: { name: 'Placed Order' } } },
                profile: { data: { type: 'profile', attributes: { email: 'nobody' } } },
              },
            },
          },
        },
      ],
      answers: [{ status: 400, json: { errors: [{ status: 400, code: 'invalid', detail: 'Invalid email address' }] } }],
      rejected: [0],
      because: /Invalid email address/,
    },
  ],
})
