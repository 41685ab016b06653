import { secret, text } from '@penstock/connector'
import { describedDestination } from '../described/described-destination.ts'
import { attentivePlatform } from './platform.ts'

const person = {
  phone: { type: 'text', identifies: true, description: 'Phone number in E.164, such as +13115552368' },
  email: { type: 'text', identifies: true },
  clientUserId: { type: 'text', identifies: true, lengthMax: 100, description: 'Your ID of the person' },
}
const result = { refused: 400, reason: '{{ response.message }}' }
const erased = { path: '/v1/privacy/delete-request', result: { refused: 400, reason: '{{ response.error }}' } }
const members = (method: 'POST' | 'DELETE') => ({
  method,
  path: '/v2/bulk/segments/members',
  parameters: ['segmentId'],
  batch: { rows: 10_000, bytes: 4_000_000 },
  columns: person,
  body: { externalId: '{{ parameter.segmentId }}', members: '{{ rows }}' },
  result,
})

/** Segments, attributes and events of Attentive. */
export const attentive = describedDestination({
  slug: 'attentive',
  name: 'Attentive',
  platform: attentivePlatform,
  dataType: 'Audiences - CRM API',
  dataTypeCategory: 'audience activation',
  status: 'preview',
  description: 'Changes segments, attributes and events of people in Attentive, and requests their deletion.',
  actions: ['add', 'update', 'remove', 'delete'],
  notes:
    'Attentive processes segments and attributes within 4 to 12 hours after it has accepted them, and does not name rejected people in an answer. No operation subscribes or unsubscribes a person. A deletion is completed within 30 days.',
  tested: 'Our own test server, which refuses what Attentive’s OpenAPI documents refuse; not Attentive itself.',
  api: { version: 'v2 and v1', ends: 'No end is known.' },
  secrets: { apiKey: secret({ label: 'API key', description: 'Key of a private app', required: true }) },
  server: ({ apiKey }) => ({
    url: 'https://api.attentivemobile.com',
    authentication: 'bearer token',
    apiToken: String(apiKey),
  }),
  operations: {
    'add to segment': 'Add people to a segment',
    'remove from segment': 'Remove people from a segment',
    'update attributes': 'Update attributes of people',
    'record events': 'Record events',
    'delete people': 'Request the deletion of people',
  },
  parameters: {
    segmentId: text({ asked: true, label: 'Segment ID', description: 'External ID of the segment', required: true }),
  },
  removals: { 'add to segment': { operation: 'remove from segment', by: ['phone', 'email', 'clientUserId'] } },
  erasure: {
    what: 'Requests the deletion of the person, which Attentive completes within 30 days.',
    requests: {
      email: { ...erased, body: { subjectEmail: '{{ person }}' } },
      phone: { ...erased, body: { subjectPhone: '{{ person }}' } },
      externalId: { ...erased, body: { clientUserId: '{{ person }}' } },
    },
  },
  definition: {
    pace: { requests: 100, seconds: 1, remaining: 'x-ratelimit-remaining' },
    check: { path: '/v2/me' },
    operations: {
      'add to segment': members('POST'),
      'remove from segment': members('DELETE'),
      'update attributes': {
        path: '/v2/bulk/user/attributes',
        batch: { rows: 256, bytes: 1_000_000 },
        columns: {
          ...person,
          firstName: 'text',
          lastName: 'text',
          location: { type: 'object', description: 'city, state, zip, country, timezone …' },
          custom: { type: 'object', description: 'Custom attributes' },
        },
        row: {
          identifiers: { phone: '{{ row.phone }}', email: '{{ row.email }}', clientUserId: '{{ row.clientUserId }}' },
          attributes: {
            firstName: '{{ row.firstName }}',
            lastName: '{{ row.lastName }}',
            location: '{{ row.location }}',
            custom: '{{ row.custom }}',
          },
        },
        body: { users: '{{ rows }}' },
        result,
      },
      'record events': {
        path: '/v1/events/custom',
        columns: {
          ...person,
          type: { type: 'text', required: true, description: 'Name of the event' },
          occurredAt: { type: 'time', unit: 'utc' },
          externalEventId: { type: 'text', description: 'ID of the event; without one, Penstock makes one' },
          properties: 'object',
        },
        body: {
          type: '{{ row.type }}',
          occurredAt: '{{ row.occurredAt }}',
          externalEventId: '{{ coalesce(row.externalEventId, id) }}',
          properties: '{{ row.properties }}',
          user: {
            phone: '{{ row.phone }}',
            email: '{{ row.email }}',
            externalIdentifiers: '{{ row.clientUserId == null ? null : {"clientUserId": row.clientUserId} }}',
          },
        },
        result,
      },
      'delete people': {
        path: '/v1/privacy/delete-request',
        columns: person,
        body: {
          subjectPhone: '{{ row.phone }}',
          subjectEmail: '{{ row.email }}',
          clientUserId: '{{ row.clientUserId }}',
        },
        result: { refused: 400, reason: '{{ response.error }}' },
      },
    },
  },
})
