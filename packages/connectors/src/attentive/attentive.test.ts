import { testDescribedDestination } from '../../test/test-described-destination.ts'
import { attentive } from './attentive.ts'

const accepted = [{ status: 202, json: { message: 'Accepted', batchJobId: 'j1' } }]

testDescribedDestination({
  connector: attentive,
  secrets: { apiKey: 'canary-of-attentive' },
  origin: 'https://api.attentivemobile.com',
  headers: { authorization: 'Bearer canary-of-attentive' },
  checks: 'GET /v2/me',
  published: 'attentive',
  examples: [
    {
      title: 'adds people to a segment',
      operation: 'add to segment',
      settings: { segmentId: 'vip' },
      rows: [
        { phone: '+13115552368', email: null },
        { phone: null, email: 'a@example.com' },
      ],
      requests: [
        {
          path: '/v2/bulk/segments/members',
          body: { externalId: 'vip', members: [{ phone: '+13115552368' }, { email: 'a@example.com' }] },
        },
      ],
      answers: accepted,
    },
    {
      title: 'removes people from a segment, and finds the person that Attentive refuses',
      operation: 'remove from segment',
      settings: { segmentId: 'vip' },
      rows: [{ email: 'nobody' }],
      requests: [
        {
          method: 'DELETE',
          path: '/v2/bulk/segments/members',
          body: { externalId: 'vip', members: [{ email: 'nobody' }] },
        },
      ],
      answers: [{ status: 400, json: { message: 'Invalid email' } }],
      rejected: [0],
      because: /Invalid email/,
    },
    {
      title: 'updates attributes',
      operation: 'update attributes',
      rows: [{ clientUserId: 'u1', firstName: 'Ann', location: '{"city":"Bonn"}', custom: '{"plan":"gold"}' }],
      requests: [
        {
          path: '/v2/bulk/user/attributes',
          body: {
            users: [
              {
                identifiers: { clientUserId: 'u1' },
                attributes: { firstName: 'Ann', location: { city: 'Bonn' }, custom: { plan: 'gold' } },
              },
            ],
          },
        },
      ],
      answers: accepted,
    },
    {
      title: 'records events with an ID',
      operation: 'record events',
      rows: [{ clientUserId: 'u1', type: 'order', occurredAt: '2026-01-31T11:00:00Z', properties: '{"total":12.5}' }],
      requests: [
        {
          path: '/v1/events/custom',
          body: {
            type: 'order',
            occurredAt: '2026-01-31T11:00:00.000Z',
            externalEventId: 'id',
            properties: { total: 12.5 },
            user: { externalIdentifiers: { clientUserId: 'u1' } },
          },
        },
      ],
      answers: [{ text: '' }],
    },
    {
      title: 'requests the deletion of people',
      operation: 'delete people',
      rows: [{ email: 'a@example.com' }],
      requests: [{ path: '/v1/privacy/delete-request', body: { subjectEmail: 'a@example.com' } }],
      answers: [{ json: { id: 'd1', processed: false } }],
    },
    {
      title: 'removes the people who left the source from the segment',
      operation: 'add to segment',
      settings: { segmentId: 'vip', removeBy: 'email' },
      rows: [{ email: 'a@example.com' }],
      removed: [0],
      requests: [
        {
          method: 'DELETE',
          path: '/v2/bulk/segments/members',
          body: { externalId: 'vip', members: [{ email: 'a@example.com' }] },
        },
      ],
      answers: accepted,
    },
  ],
})
