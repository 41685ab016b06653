import { testDescribedDestination } from '../../test/test-described-destination.ts'
import { iterable } from './iterable.ts'

testDescribedDestination({
  connector: iterable,
  secrets: { apiKey: 'canary-of-iterable' },
  origin: 'https://api.iterable.com',
  headers: { 'api-key': 'canary-of-iterable' },
  checks: 'GET /api/lists',
  published: 'iterable',
  beyond: { channelUnsubscribe: 'Iterable’s reference; Segment’s destination of Iterable sends it' },
  examples: [
    {
      title: 'knows who was not taken by the address or the ID that is repeated',
      operation: 'update people',
      rows: [
        { email: 'A@example.com', userId: null, dataFields: '{"plan":"gold"}' },
        { email: null, userId: 'u2', dataFields: null },
        { email: 'c@example.com', userId: null, dataFields: null },
      ],
      requests: [
        {
          path: '/api/users/bulkUpdate',
          body: {
            users: [
              { email: 'A@example.com', dataFields: { plan: 'gold' } },
              { userId: 'u2' },
              { email: 'c@example.com' },
            ],
          },
        },
      ],
      answers: [
        {
          json: {
            successCount: 1,
            failCount: 2,
            failedUpdates: { invalidEmails: ['a@example.com'], notFoundUserIds: ['u2'], forgottenEmails: [] },
          },
        },
      ],
      rejected: [0, 1],
    },
    {
      title: 'records events with an ID',
      operation: 'record events',
      rows: [{ userId: 'u1', eventName: 'order', createdAt: 1769857200, dataFields: '{"total":1}' }],
      requests: [
        {
          path: '/api/events/trackBulk',
          body: {
            events: [{ userId: 'u1', eventName: 'order', id: 'id', createdAt: 1769857200, dataFields: { total: 1 } }],
          },
        },
      ],
      answers: [{ json: { successCount: 1, failCount: 0, failedUpdates: {} } }],
    },
    {
      title: 'adds people to a list',
      operation: 'add to list',
      settings: { listId: '42' },
      rows: [{ userId: 'u1', dataFields: '{"plan":"gold"}' }],
      requests: [
        {
          path: '/api/lists/subscribe',
          body: { listId: 42, subscribers: [{ userId: 'u1', dataFields: { plan: 'gold' } }] },
        },
      ],
      answers: [{ json: { successCount: 1, failCount: 0 } }],
    },
    {
      title: 'removes people from a list, and never from a channel',
      operation: 'remove from list',
      settings: { listId: '42' },
      rows: [{ email: 'a@example.com' }],
      requests: [
        {
          path: '/api/lists/unsubscribe',
          body: { listId: 42, subscribers: [{ email: 'a@example.com' }], channelUnsubscribe: false },
        },
      ],
      answers: [{ json: { successCount: 1, failCount: 0 } }],
    },
    {
      title: 'removes the people who left the source from the list',
      operation: 'add to list',
      settings: { listId: '42', removeBy: 'userId' },
      rows: [{ userId: 'u1' }, { userId: 'u2' }, { userId: 'u3' }, { userId: 'u2' }],
      removed: [1, 2],
      requests: [
        { path: '/api/lists/subscribe', body: { listId: 42, subscribers: [{ userId: 'u1' }, { userId: 'u2' }] } },
        {
          path: '/api/lists/unsubscribe',
          body: { listId: 42, subscribers: [{ userId: 'u3' }], channelUnsubscribe: false },
        },
      ],
      answers: [
        { json: { successCount: 2, failCount: 0 } },
        { json: { failCount: 1, failedUpdates: { notFoundUserIds: ['u3'] } } },
      ],
      rejected: [2],
    },
  ],
})
