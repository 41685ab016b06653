import { testDescribedDestination } from '../../test/test-described-destination.ts'
import { marketo } from './marketo.ts'

const done = (...result: object[]) => ({ json: { requestId: 'r', success: true, result } })
const field = 'Leads have the fields that describe2.json lists'

testDescribedDestination({
  connector: marketo,
  secrets: { munchkinId: '123-ABC-456', clientId: 'penstock', clientSecret: 'canary-of-marketo' },
  origin: 'https://123-ABC-456.mktorest.com',
  token: { path: '/identity/oauth/token', token: 'token-of-marketo' },
  headers: { authorization: 'Bearer token-of-marketo' },
  checks: 'GET /rest/v1/leads/describe2.json',
  published: 'marketo',
  beyond: { 'input.*.email': field, 'input.*.firstName': field, 'input.*.score': field },
  examples: [
    {
      title: 'has a result for each lead, in their order',
      operation: 'update leads',
      settings: { lookupField: 'email' },
      rows: [
        { email: 'a@example.com', firstName: 'Ann', fields: '{"score":7}' },
        { email: 'nobody', firstName: null, fields: null },
      ],
      requests: [
        {
          path: '/rest/v1/leads.json',
          body: {
            action: 'createOrUpdate',
            lookupField: 'email',
            input: [{ score: 7, email: 'a@example.com', firstName: 'Ann' }, { email: 'nobody' }],
          },
        },
      ],
      answers: [
        done(
          { id: 1, status: 'created' },
          { status: 'skipped', reasons: [{ code: '1003', message: 'Invalid email' }] },
        ),
      ],
      rejected: [1],
      because: /Invalid email/,
    },
    {
      title: 'adds leads to a list',
      operation: 'add to list',
      settings: { listId: '7' },
      rows: [{ id: 1 }],
      requests: [{ path: '/rest/v1/lists/7/leads.json', body: { input: [{ id: 1 }] } }],
      answers: [done({ id: 1, status: 'added' })],
    },
    {
      title: 'removes leads from a list',
      operation: 'remove from list',
      settings: { listId: '7' },
      rows: [{ id: 1 }, { id: 2 }],
      requests: [
        { method: 'DELETE', path: '/rest/v1/lists/7/leads.json', query: 'id=1', body: { input: [{ id: 1 }] } },
        { method: 'DELETE', path: '/rest/v1/lists/7/leads.json', query: 'id=2', body: { input: [{ id: 2 }] } },
      ],
      answers: [
        done({ id: 1, status: 'removed' }),
        done({ id: 2, status: 'skipped', reasons: [{ message: 'Not in list' }] }),
      ],
      rejected: [1],
      because: /Not in list/,
    },
    {
      title: 'deletes leads',
      operation: 'delete leads',
      rows: [{ id: 1 }],
      requests: [{ path: '/rest/v1/leads/delete.json', body: { input: [{ id: 1 }] } }],
      answers: [done({ id: 1, status: 'deleted' })],
    },
  ],
})
