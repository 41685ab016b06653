import { secret, select } from '@penstock/connector'
import { describedDestination } from '../described/described-destination.ts'
import { intercomPlatform } from './platform.ts'

const headers = { 'Intercom-Version': '2.15' }
const result = { refused: [400, 404, 409, 422], reason: '{{ response.errors[0].message }}' }
const erasedBy = (field: string) => ({
  find: {
    method: 'POST',
    path: '/contacts/search',
    headers,
    body: { query: { field, operator: '=', value: '{{ person }}' }, pagination: { per_page: 150 } },
    at: 'data',
    where: `lower(coalesce(entry.${field}, "")) == lower(person)`,
    value: 'entry.id',
  },
  method: 'DELETE',
  path: '/contacts/{{ found }}',
  headers,
  missing: 'status == 404 && response.errors[0].code == "not_found"',
  outcome: 'deleted',
  result: { ...result, refused: [400, 422] },
})
const attributes = {
  email: 'text',
  phone: 'text',
  name: 'text',
  signed_up_at: { type: 'time', unit: 'seconds' },
  last_seen_at: { type: 'time', unit: 'seconds' },
  owner_id: 'whole number',
  unsubscribed_from_emails: 'yes or no',
  custom_attributes: 'object',
}
const contactId = { type: 'text', required: true, description: 'ID that Intercom gave the contact' }

/** Contacts, companies and events of Intercom. */
export const intercom = describedDestination({
  slug: 'intercom',
  name: 'Intercom',
  platform: intercomPlatform,
  dataType: 'Audiences - CRM API',
  dataTypeCategory: 'audience activation',
  status: 'preview',
  description: 'Records events in Intercom, updates companies, and creates, updates and deletes contacts.',
  actions: ['add', 'update', 'delete'],
  notes:
    'Intercom takes one event, company or contact in a request. An event needs a contact that exists. Intercom refuses a new contact that it knows already: such a row is rejected. Updating and deleting contacts need the IDs that Intercom gave them. Intercom can count an event twice if a transfer is interrupted.',
  tested:
    'Our own test server, which refuses what Intercom’s OpenAPI document of the version refuses; not Intercom itself.',
  api: { version: '2.15', ends: 'No end is known.' },
  secrets: {
    region: select({
      label: 'Region',
      description: 'Region of your workspace',
      options: ['us', 'eu', 'au'],
      labels: { us: 'United States', eu: 'Europe', au: 'Australia' },
      default: 'us',
      binds: ['accessToken'],
    }),
    accessToken: secret({ label: 'Access token', description: 'Token of an app of your workspace', required: true }),
  },
  server: ({ region, accessToken }) => ({
    url: `https://api.${region === 'us' || region === undefined ? '' : `${region}.`}intercom.io`,
    authentication: 'bearer token',
    apiToken: String(accessToken),
  }),
  operations: {
    'record events': 'Record events',
    'update companies': 'Create and update companies',
    'create contacts': 'Create contacts',
    'update contacts': 'Update contacts',
    'delete contacts': 'Delete contacts',
  },
  erasure: {
    what: 'Deletes the contacts permanently. Intercom finds a contact that was created a few minutes ago with a delay.',
    requests: { email: erasedBy('email'), phone: erasedBy('phone'), externalId: erasedBy('external_id') },
  },
  definition: {
    check: { path: '/me', headers },
    operations: {
      'record events': {
        path: '/events',
        headers,
        columns: {
          event_name: { type: 'text', required: true },
          created_at: { type: 'time', unit: 'seconds', required: true },
          user_id: { type: 'text', identifies: true, description: 'Your ID of the person' },
          id: { type: 'text', identifies: true, description: 'ID that Intercom gave the contact' },
          email: { type: 'text', identifies: true },
          metadata: { type: 'object', description: 'Values, as texts' },
        },
        result,
      },
      'update companies': {
        path: '/companies',
        headers,
        columns: {
          company_id: { type: 'text', required: true, description: 'Your ID of the company' },
          name: 'text',
          plan: 'text',
          size: 'whole number',
          website: 'text',
          industry: 'text',
          monthly_spend: 'whole number',
          remote_created_at: { type: 'time', unit: 'seconds' },
          custom_attributes: { type: 'object', description: 'Values, as texts' },
        },
        result,
      },
      'create contacts': {
        path: '/contacts',
        headers,
        columns: {
          external_id: { type: 'text', identifies: true, description: 'Your ID of the person' },
          ...attributes,
          email: { type: 'text', identifies: true },
          role: { type: 'one of', values: ['user', 'lead'] },
        },
        result,
      },
      'update contacts': {
        method: 'PUT',
        path: '/contacts/{{ row.id }}',
        headers,
        columns: { id: contactId, ...attributes, external_id: 'text' },
        body: Object.fromEntries(
          [...Object.keys(attributes), 'external_id'].map((name) => [name, `{{ row.${name} }}`]),
        ),
        result,
      },
      'delete contacts': {
        method: 'DELETE',
        path: '/contacts/{{ row.id }}',
        headers,
        columns: { id: contactId },
        result: { ...result, refused: [400, 422] },
        // A contact that is not there is deleted already.
        errors: [{ status: 404, when: 'response.errors[0].code == "not_found"', action: 'accept' }],
      },
    },
  },
})
