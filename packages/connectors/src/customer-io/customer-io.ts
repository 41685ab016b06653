import { secret, select, text } from '@penstock/connector'
import { describedDestination } from '../described/described-destination.ts'
import { customerIoPlatform } from './platform.ts'

const person = {
  id: { type: 'text', identifies: true, description: 'Your ID of the person' },
  email: { type: 'text', identifies: true },
  cio_id: { type: 'text', identifies: true, description: 'ID that Customer.io gave the person' },
}
/** One identifier is sent, the first that the row has. */
const identifiers = {
  cio_id: '{{ row.cio_id }}',
  id: '{{ row.cio_id == null ? row.id : null }}',
  email: '{{ row.cio_id == null && row.id == null ? row.email : null }}',
}
const batch = {
  path: '/api/v2/batch',
  batch: { rows: 500, bytes: 450_000 },
  body: { batch: '{{ rows }}' },
  result: {
    reason: '{{ response.meta.error }}',
    rows: { at: 'errors', index: 'entry.batch_index', reason: '{{ entry.message }}' },
  },
}
const erasedBy = (identifier: string) => ({
  path: batch.path,
  body: { batch: [{ type: 'person', action: 'delete', identifiers: { [identifier]: '{{ person }}' } }] },
  result: { success: 'response.errors[0] == null', reason: '{{ response.errors[0].message }}' },
})
const segment = (verb: string) => ({
  path: `/api/v1/segments/{{ parameter.segmentId }}/${verb}_customers`,
  query: { id_type: 'id' },
  batch: { rows: 1_000 },
  parameters: ['segmentId'],
  columns: { id: { type: 'text', required: true, description: 'Your ID of the person' } },
  row: '{{ row.id }}',
  body: { ids: '{{ rows }}' },
})

/** People, events and manual segments of Customer.io. */
export const customerIo = describedDestination({
  slug: 'customer-io',
  name: 'Customer.io',
  platform: customerIoPlatform,
  dataType: 'Audiences - CRM API',
  dataTypeCategory: 'audience activation',
  status: 'preview',
  description: 'Updates and deletes people in Customer.io, records events, and changes manual segments.',
  actions: ['add', 'update', 'remove', 'delete'],
  notes:
    'Customer.io allows about 100 requests a second, and says nothing of its limits in answers. A segment must exist, and only a manual segment can be changed. Events have an ID that stays the same if they are sent again, so Customer.io ignores repeated events.',
  tested:
    'Our own test server, which refuses what Customer.io’s OpenAPI document of the Track API refuses; not Customer.io itself.',
  api: { version: 'Track API v2', ends: 'No end is known.' },
  secrets: {
    region: select({
      label: 'Region',
      description: 'Region of your account',
      options: ['us', 'eu'],
      labels: { us: 'United States', eu: 'European Union' },
      default: 'us',
      binds: ['apiKey'],
    }),
    siteId: text({
      label: 'Site ID',
      description: 'Site ID of the Track API',
      required: true,
      keepsState: 'credential',
    }),
    apiKey: secret({ label: 'API key', description: 'API key of the Track API', required: true }),
  },
  server: ({ region, siteId, apiKey }) => ({
    url: region === 'eu' ? 'https://track-eu.customer.io' : 'https://track.customer.io',
    authentication: 'user name and password',
    username: String(siteId),
    password: String(apiKey),
  }),
  operations: {
    'update people': 'Create and update people',
    'record events': 'Record events',
    'add to segment': 'Add people to a manual segment',
    'remove from segment': 'Remove people from a manual segment',
    'delete people': 'Delete people',
  },
  parameters: {
    segmentId: text({ asked: true, label: 'Segment ID', description: 'Number of a manual segment', required: true }),
  },
  removals: {
    'add to segment': { operation: 'remove from segment', by: ['id'] },
    'update people': { operation: 'delete people', by: ['id', 'email', 'cio_id'], deletes: true },
  },
  erasure: {
    what: 'Deletes the people with their attributes and events. Customer.io does not report whether there was a person, and adds the person again if you send them again.',
    requests: { email: erasedBy('email'), externalId: erasedBy('id') },
  },
  definition: {
    pace: { requests: 100, seconds: 1 },
    check: { path: '/api/v1/accounts/region' },
    operations: {
      'update people': {
        ...batch,
        columns: { ...person, attributes: 'object' },
        row: { type: 'person', action: 'identify', identifiers, attributes: '{{ row.attributes }}' },
      },
      'record events': {
        ...batch,
        columns: {
          ...person,
          name: { type: 'text', required: true, description: 'Name of the event' },
          timestamp: { type: 'time', unit: 'seconds' },
          attributes: 'object',
        },
        row: {
          type: 'person',
          action: 'event',
          identifiers,
          name: '{{ row.name }}',
          // A ULID: 26 characters, the first of them from 0 to 7.
          id: '0{{ upper(substring(id, 0, 25)) }}',
          timestamp: '{{ row.timestamp }}',
          attributes: '{{ row.attributes }}',
        },
      },
      'add to segment': segment('add'),
      'remove from segment': segment('remove'),
      'delete people': { ...batch, columns: person, row: { type: 'person', action: 'delete', identifiers } },
    },
  },
})
