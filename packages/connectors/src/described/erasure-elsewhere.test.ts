import type { PersonIdentifier } from '@penstock/connector'
import { basic, bearer, type ErasureExamples, email, externalId, phone, testErasure } from '../../test/test-erasure.ts'
import { activecampaign } from '../activecampaign/activecampaign.ts'
import { amplitude } from '../amplitude/amplitude.ts'
import { hubspotCrm } from '../hubspot/hubspot-crm.ts'
import { marketo } from '../marketo/marketo.ts'
import { mixpanel } from '../mixpanel/mixpanel.ts'
import { mparticleEvents } from '../mparticle/mparticle-events.ts'
import { sendgrid } from '../sendgrid/sendgrid-contacts.ts'

/** As `erasure.test.ts`: platforms that erase at another server, with other credentials, or after a search. */

const sendgridSearch = (type: string, value: string) => ({
  path: `/v3/marketing/contacts/search/identifiers/${type}`,
  body: { identifiers: [value] },
})
const sendgridDelete = { method: 'DELETE', path: '/v3/marketing/contacts', query: 'ids=i1' }
const marketoRequests = [
  {
    method: 'GET',
    path: '/rest/v1/leads.json',
    query: 'filterType=email&filterValues=Jane@example.com&fields=id,email',
  },
  { path: '/rest/v1/leads/delete.json', body: { input: [{ id: 7 }] } },
]
const marketoFound = { json: { success: true, result: [{ id: 7, email: 'jane@example.com' }] } }
const raw = ({ value }: PersonIdentifier) => ({ value, encoding: 'raw' })
const mparticleRequest = (person: object) => ({
  path: '/v3/requests/',
  body: {
    regulation: 'gdpr',
    subject_request_id: 'id',
    subject_request_type: 'erasure',
    submitted_time: 'now',
    api_version: '3.0',
    ...person,
  },
})
const hubspotDelete = {
  path: '/crm/objects/2026-03/contacts/gdpr-delete',
  body: { objectId: email.value, idProperty: 'email' },
}
const amplitudeDelete = { path: '/api/2/deletions/users', body: { user_ids: ['u1'] } }

const platforms: readonly ErasureExamples[] = [
  {
    connector: sendgrid,
    secrets: { apiKey: 'SG.canary-of-sendgrid' },
    origin: 'https://api.sendgrid.com',
    headers: bearer('SG.canary-of-sendgrid'),
    published: 'sendgrid',
    examples: [
      {
        person: email,
        requests: [sendgridSearch('email', email.value), sendgridDelete],
        answers: [
          {
            json: {
              result: {
                'jane@example.com': {
                  contact: { id: 'i1', email: 'j@example.com', alternate_emails: ['jane@example.com'] },
                },
                other: { contact: { id: 'i2', email: 'other@example.com' } },
                none: { error: 'contact not found' },
              },
            },
          },
          { status: 202, json: { job_id: 'j1' } },
        ],
        outcome: 'requested',
      },
      {
        person: phone,
        requests: [sendgridSearch('phone_number_id', phone.value)],
        answers: [{ status: 404, json: { errors: [] } }],
        outcome: 'notFound',
      },
      {
        person: externalId,
        requests: [sendgridSearch('external_id', 'u1'), sendgridDelete],
        answers: [
          { json: { result: { u1: { contact: { id: 'i1', external_id: 'u1' } } } } },
          { status: 400, json: { errors: [{ message: 'invalid id' }] } },
        ],
        outcome: 'refused',
      },
    ],
    missing: { status: 404 },
  },
  {
    connector: marketo,
    secrets: { munchkinId: '123-ABC-456', clientId: 'penstock', clientSecret: 'canary-of-marketo' },
    origin: 'https://123-ABC-456.mktorest.com',
    token: { path: '/identity/oauth/token', token: 'token-of-marketo' },
    headers: bearer('token-of-marketo'),
    published: 'marketo',
    examples: [
      {
        person: email,
        requests: marketoRequests,
        answers: [marketoFound, { json: { success: true, result: [{ id: 7, status: 'deleted' }] } }],
        outcome: 'deleted',
      },
      {
        person: email,
        requests: marketoRequests,
        answers: [
          marketoFound,
          {
            json: { success: true, result: [{ status: 'skipped', reasons: [{ code: '1004', message: 'Not found' }] }] },
          },
        ],
        outcome: 'notFound',
      },
    ],
  },
  {
    connector: mixpanel,
    secrets: {
      region: 'eu',
      projectId: '7',
      projectToken: 'canary-of-the-project',
      username: 'penstock',
      password: 'canary-of-mixpanel',
      gdprToken: 'canary-of-privacy',
    },
    origin: 'https://eu.mixpanel.com',
    headers: bearer('canary-of-privacy'),
    published: 'mixpanel',
    examples: [
      {
        person: externalId,
        requests: [
          {
            path: '/api/app/data-deletions/v3.0/',
            query: 'token=canary-of-the-project',
            body: { distinct_ids: ['u1'], compliance_type: 'GDPR' },
          },
        ],
        answers: [{ json: { status: 'ok', results: { task_id: '1' } } }],
        outcome: 'requested',
      },
    ],
  },
  {
    connector: amplitude,
    secrets: { region: 'eu', apiKey: 'canary-of-amplitude', secretKey: 'canary-of-the-secret' },
    origin: 'https://analytics.eu.amplitude.com',
    headers: basic('canary-of-amplitude:canary-of-the-secret'),
    published: 'amplitude',
    examples: [
      {
        person: externalId,
        requests: [amplitudeDelete],
        answers: [{ json: { day: '2026-02-10', status: 'staging' } }],
        outcome: 'requested',
      },
      {
        person: externalId,
        requests: [amplitudeDelete],
        answers: [{ status: 400, json: { error: 'Invalid user_ids' } }],
        outcome: 'refused',
      },
    ],
  },
  {
    connector: activecampaign,
    secrets: { apiUrl: 'https://acme.api-us1.com', apiKey: 'canary-of-activecampaign' },
    origin: 'https://acme.api-us1.com',
    headers: { 'api-token': 'canary-of-activecampaign' },
    published: 'activecampaign',
    examples: [
      {
        person: email,
        requests: [
          { method: 'GET', path: '/api/3/contacts', query: 'email=Jane@example.com' },
          { method: 'DELETE', path: '/api/3/contacts/1' },
        ],
        answers: [
          {
            json: {
              contacts: [
                { id: '1', email: 'jane@example.com' },
                { id: '2', email: 'other@example.com' },
              ],
            },
          },
          { json: {} },
        ],
        outcome: 'deleted',
      },
    ],
  },
  {
    connector: mparticleEvents,
    secrets: { workspaceKey: 'workspace', workspaceSecret: 'canary-of-mparticle' },
    origin: 'https://opendsr.mparticle.com',
    headers: basic('workspace:canary-of-mparticle'),
    published: 'mparticle',
    examples: [
      {
        person: email,
        requests: [mparticleRequest({ subject_identities: { email: raw(email) } })],
        answers: [{ status: 201, json: { expected_completion_time: '2026-02-10T00:00:00Z' } }],
        outcome: 'requested',
      },
      {
        person: phone,
        requests: [
          mparticleRequest({
            extensions: { 'opendsr.mparticle.com': { subject_identities: { mobile_number: raw(phone) } } },
          }),
        ],
        // An earlier request, whose answer got lost, is known.
        answers: [{ status: 400, json: { message: 'Subject request already exists.' } }],
        outcome: 'requested',
      },
      {
        person: externalId,
        requests: [mparticleRequest({ subject_identities: { controller_customer_id: raw(externalId) } })],
        answers: [{ status: 400, json: { message: 'Invalid data was detected' } }],
        outcome: 'refused',
      },
    ],
  },
  {
    connector: hubspotCrm,
    secrets: { authType: 'token', accessToken: 'canary-of-hubspot' },
    origin: 'https://api.hubapi.com',
    headers: bearer('canary-of-hubspot'),
    published: 'hubspot',
    examples: [
      { person: email, requests: [hubspotDelete], answers: [{ status: 204, text: '' }], outcome: 'requested' },
      { person: email, requests: [hubspotDelete], answers: [{ status: 400, json: {} }], outcome: 'refused' },
    ],
  },
]

for (const platform of platforms) testErasure(platform)
