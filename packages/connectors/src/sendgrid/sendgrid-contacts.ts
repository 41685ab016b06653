import { secret, text } from '@penstock/connector'
import { describedDestination } from '../described/described-destination.ts'
import { sendgridPlatform } from './platform.ts'

const job = {
  later: {
    job: 'response.job_id',
    path: '/marketing/contacts/imports/{{ job }}',
    done: 'response.status in ["completed", "errored", "failed"]',
    everySeconds: 5,
    waitSeconds: 1_800,
    result: {
      taken:
        'response.status == "completed" ? 30000 : max(0, number(coalesce(response.results.requested_count, 0)) - number(coalesce(response.results.errored_count, 0)))',
      reason: 'The job {{ response.id }} has errors. SendGrid lists them in a file.',
    },
  },
  result: { refused: 400, reason: '{{ response.errors[0].message }}' },
}
const erasedBy = (type: string, orElse = '') => ({
  find: {
    method: 'POST',
    path: `/marketing/contacts/search/identifiers/${type}`,
    body: { identifiers: ['{{ person }}'] },
    at: 'result.*',
    where: `entry.contact != null && (${orElse} lower(coalesce(entry.contact.${type}, "")) == lower(person))`,
    value: 'entry.contact.id',
  },
  method: 'DELETE',
  path: '/marketing/contacts',
  query: { ids: '{{ found }}' },
  missing: 'status == 404',
  result: { refused: 400, reason: '{{ response.errors[0].message }}' },
})
const contacts = {
  ...job,
  method: 'PUT',
  path: '/marketing/contacts',
  batch: { rows: 30_000, bytes: 5_500_000 },
  columns: {
    email: { type: 'text', identifies: true, lengthMax: 254 },
    phone_number_id: { type: 'text', identifies: true },
    external_id: { type: 'text', identifies: true, lengthMax: 254 },
    anonymous_id: { type: 'text', identifies: true, lengthMax: 254 },
    first_name: { type: 'text', lengthMax: 50 },
    last_name: { type: 'text', lengthMax: 50 },
    address_line_1: { type: 'text', lengthMax: 100 },
    address_line_2: { type: 'text', lengthMax: 100 },
    city: { type: 'text', lengthMax: 60 },
    state_province_region: { type: 'text', lengthMax: 50 },
    country: { type: 'text', lengthMax: 50 },
    postal_code: 'text',
    alternate_emails: 'list',
    custom_fields: { type: 'object', description: 'Values by the IDs of custom fields, such as w1' },
  },
} as const

/** Contacts and lists of SendGrid Marketing. */
export const sendgrid = describedDestination({
  slug: 'sendgrid-contacts',
  name: 'SendGrid contacts',
  platform: sendgridPlatform,
  dataType: 'Audiences - CRM API',
  dataTypeCategory: 'audience activation',
  status: 'preview',
  description: 'Creates, updates and deletes contacts of SendGrid Marketing, and changes lists.',
  actions: ['add', 'update', 'remove', 'delete'],
  notes:
    'SendGrid imports contacts by jobs: a batch is confirmed once its job has ended. SendGrid counts the contacts that it did not take and does not name them in the answer. Deleting contacts and removing them from a list need the IDs that SendGrid gave them.',
  tested: 'Our own test server, which refuses what SendGrid’s OpenAPI documents refuse; not SendGrid itself.',
  api: { version: 'v3', ends: 'No end is known.' },
  secrets: {
    apiKey: secret({
      label: 'API key',
      description: 'Key with access to Marketing, such as SG.example',
      required: true,
    }),
  },
  server: ({ apiKey }) => ({
    url: 'https://api.sendgrid.com/v3',
    authentication: 'bearer token',
    apiToken: String(apiKey),
  }),
  operations: {
    'update contacts': 'Create and update contacts',
    'add to list': 'Create and update contacts, and add them to a list',
    'remove from list': 'Remove contacts from a list',
    'delete contacts': 'Delete contacts',
  },
  parameters: {
    listId: text({ asked: true, label: 'List ID', description: 'UUID in the address of the list', required: true }),
  },
  erasure: {
    what: 'Deletes the contact of SendGrid Marketing. SendGrid deletes later. Activity of e-mails that were sent is not part of it.',
    requests: {
      email: erasedBy('email', 'lower(person) in entry.contact.alternate_emails ||'),
      phone: erasedBy('phone_number_id'),
      externalId: erasedBy('external_id'),
    },
  },
  definition: {
    check: { path: '/marketing/contacts/count' },
    operations: {
      'update contacts': { ...contacts, body: { contacts: '{{ rows }}' } },
      'add to list': {
        ...contacts,
        parameters: ['listId'],
        body: { list_ids: ['{{ parameter.listId }}'], contacts: '{{ rows }}' },
      },
      'remove from list': {
        method: 'DELETE',
        path: '/marketing/lists/{{ parameter.listId }}/contacts',
        query: { contact_ids: '{{ join(rows, ",") }}' },
        parameters: ['listId'],
        batch: { rows: 100 },
        columns: { id: { type: 'text', required: true, description: 'ID that SendGrid gave the contact' } },
        row: '{{ row.id }}',
        result: { refused: 400, reason: '{{ response.errors[0].message }}' },
      },
      'delete contacts': {
        method: 'DELETE',
        path: '/marketing/contacts',
        query: { ids: '{{ join(rows, ",") }}' },
        batch: { rows: 100 },
        columns: { id: { type: 'text', required: true, description: 'ID that SendGrid gave the contact' } },
        row: '{{ row.id }}',
        result: { refused: 400, reason: '{{ response.errors[0].message }}' },
      },
    },
  },
})
