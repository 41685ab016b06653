import { testDescribedDestination } from '../../test/test-described-destination.ts'
import { intercom } from './intercom.ts'

const refusal = (code: string, message: string) => ({ type: 'error.list', errors: [{ code, message }] })

testDescribedDestination({
  connector: intercom,
  secrets: { region: 'eu', accessToken: 'canary-of-intercom' },
  origin: 'https://api.eu.intercom.io',
  headers: { authorization: 'Bearer canary-of-intercom', 'intercom-version': '2.15' },
  checks: 'GET /me',
  published: 'intercom',
  examples: [
    {
      title: 'records events',
      operation: 'record events',
      rows: [{ event_name: 'order', created_at: '2026-01-31T11:00:00Z', user_id: 'u1', metadata: '{"total":"12.5"}' }],
      requests: [
        {
          path: '/events',
          body: { event_name: 'order', created_at: 1769857200, user_id: 'u1', metadata: { total: '12.5' } },
        },
      ],
      answers: [{ status: 202, text: '' }],
    },
    {
      title: 'updates companies',
      operation: 'update companies',
      rows: [{ company_id: 'c1', name: 'Example', size: 7 }],
      requests: [{ path: '/companies', body: { company_id: 'c1', name: 'Example', size: 7 } }],
      answers: [{ json: { type: 'company', id: 'x' } }],
    },
    {
      title: 'rejects a contact that Intercom knows already',
      operation: 'create contacts',
      rows: [{ external_id: 'u1', email: 'a@example.com', role: 'user', custom_attributes: '{"plan":"gold"}' }],
      requests: [
        {
          path: '/contacts',
          body: { external_id: 'u1', email: 'a@example.com', role: 'user', custom_attributes: { plan: 'gold' } },
        },
      ],
      answers: [{ status: 409, json: refusal('conflict', 'A contact matching those details already exists') }],
      rejected: [0],
      because: /already exists/,
    },
    {
      title: 'updates contacts',
      operation: 'update contacts',
      rows: [{ id: '5ba682d23d7cf92bef87bfd4', name: 'Ann' }],
      requests: [{ method: 'PUT', path: '/contacts/5ba682d23d7cf92bef87bfd4', body: { name: 'Ann' } }],
      answers: [{ json: { type: 'contact' } }],
    },
    {
      title: 'deletes contacts, also those who are not there',
      operation: 'delete contacts',
      rows: [{ id: 'c1' }, { id: 'c2' }],
      requests: [
        { method: 'DELETE', path: '/contacts/c1' },
        { method: 'DELETE', path: '/contacts/c2' },
      ],
      answers: [{ json: { deleted: true } }, { status: 404, json: refusal('not_found', 'User Not Found') }],
    },
  ],
})
