import { testDescribedDestination } from '../../test/test-described-destination.ts'
import { sendgrid } from './sendgrid-contacts.ts'

const listId = 'c7e1a6f0-1f0e-4c1b-9f63-0c7f5b2f7a11'
const waits = { method: 'GET', path: '/v3/marketing/contacts/imports/j1' }
const ended = (results: object) => ({ json: { id: 'j1', status: 'errored', results } })

testDescribedDestination({
  connector: sendgrid,
  secrets: { apiKey: 'SG.canary-of-sendgrid' },
  origin: 'https://api.sendgrid.com',
  headers: { authorization: 'Bearer SG.canary-of-sendgrid' },
  checks: 'GET /v3/marketing/contacts/count',
  published: 'sendgrid',
  beyond: { 'contacts.*.custom_fields': 'The document has one custom field as an example' },
  examples: [
    {
      title: 'counts the contacts that the job did not take',
      operation: 'update contacts',
      rows: [
        { email: 'a@example.com', custom_fields: '{"e1_T":"gold"}' },
        { email: 'nobody', custom_fields: null },
      ],
      requests: [
        {
          method: 'PUT',
          path: '/v3/marketing/contacts',
          body: { contacts: [{ email: 'a@example.com', custom_fields: { e1_T: 'gold' } }, { email: 'nobody' }] },
        },
        waits,
      ],
      answers: [{ status: 202, json: { job_id: 'j1' } }, ended({ requested_count: 2, errored_count: 1 })],
      rejected: [{ count: 1 }],
    },
    {
      title: 'adds contacts to a list',
      operation: 'add to list',
      settings: { listId },
      rows: [{ email: 'a@example.com' }],
      requests: [
        {
          method: 'PUT',
          path: '/v3/marketing/contacts',
          body: { list_ids: [listId], contacts: [{ email: 'a@example.com' }] },
        },
        waits,
      ],
      answers: [{ status: 202, json: { job_id: 'j1' } }, ended({ requested_count: 1 })],
    },
    {
      title: 'removes contacts from a list',
      operation: 'remove from list',
      settings: { listId },
      rows: [{ id: 'c1' }, { id: 'c2' }],
      requests: [{ method: 'DELETE', path: `/v3/marketing/lists/${listId}/contacts`, query: 'contact_ids=c1,c2' }],
      answers: [{ status: 202, json: { job_id: 'j1' } }],
    },
    {
      title: 'deletes contacts by their IDs, and never all of them',
      operation: 'delete contacts',
      rows: [{ id: 'c1' }],
      requests: [{ method: 'DELETE', path: '/v3/marketing/contacts', query: 'ids=c1' }],
      answers: [{ status: 202, json: { job_id: 'j1' } }],
    },
  ],
})
