import { secret, text } from '@penstock/connector'
import { describedDestination } from '../described/described-destination.ts'
import { brazePlatform } from './platform.ts'

const person = {
  external_id: { type: 'text', identifies: true, lengthMax: 987, description: 'Your ID of the person' },
  braze_id: { type: 'text', identifies: true, description: 'ID that Braze gave the person' },
  email: { type: 'text', identifies: true, description: 'Address, for people without an ID' },
  phone: { type: 'text', identifies: true, description: 'Phone number in E.164, for people without an ID' },
}
/** Braze reports how many profiles it queued. */
const erased = {
  path: '/users/delete',
  missing: 'response.message == "success" && response.deleted == 0',
  result: { success: 'response.message == "success"', reason: '{{ response.message }}' },
}
/** Braze stores what is right, and lists the others by their number. */
const result = (array: string) => ({
  success: 'response.message == "success" || response.message == "queued"',
  reason: '{{ response.message }}',
  rows: {
    at: 'errors',
    rejected: `entry.input_array == "${array}" || entry.input_array == null`,
    index: 'entry.index',
    reason: '{{ entry.type }}',
  },
})

/** People and events of Braze. */
export const braze = describedDestination({
  slug: 'braze',
  name: 'Braze',
  platform: brazePlatform,
  dataType: 'Audiences - CRM API',
  dataTypeCategory: 'audience activation',
  status: 'preview',
  description: 'Updates and deletes people in Braze, and records their events and purchases.',
  actions: ['add', 'update', 'delete'],
  notes:
    'Braze processes requests after it has accepted them. It does not recognise repeated events: if a transfer is interrupted, the last batch of events can be counted twice. Each changed attribute is a billable data point, so send only new and changed rows. Braze has no request that tries a key without a permission, so a check only reaches the server.',
  tested:
    'Our own test server, which refuses what Braze’s collection of requests for Postman refuses. The collection does not list the fields of people and events. Not Braze itself.',
  api: { version: 'without a version', ends: 'No end is known.' },
  secrets: {
    restEndpoint: text({
      label: 'REST endpoint',
      description: 'Address of your instance, such as https://rest.iad-01.braze.com',
      required: true,
      binds: ['apiKey'],
    }),
    apiKey: secret({ label: 'REST API key', description: 'Key with the permission of the operation', required: true }),
  },
  server: ({ restEndpoint, apiKey }) => ({
    url: String(restEndpoint),
    authentication: 'bearer token',
    apiToken: String(apiKey),
  }),
  operations: {
    'update people': 'Create and update people',
    'record events': 'Record events',
    'record purchases': 'Record purchases',
    'delete people': 'Delete people',
  },
  removals: { 'update people': { operation: 'delete people', by: ['external_id'], deletes: true } },
  erasure: {
    what: 'Deletes the user profiles permanently. Braze queues the deletion, and keeps counts of events.',
    requests: {
      email: { ...erased, body: { email_addresses: ['{{ person }}'] } },
      phone: { ...erased, body: { phone_numbers: ['{{ person }}'] } },
      externalId: { ...erased, body: { external_ids: ['{{ person }}'] } },
    },
  },
  definition: {
    operations: {
      'update people': {
        path: '/users/track',
        batch: { rows: 75, bytes: 4_000_000 },
        columns: {
          ...person,
          first_name: 'text',
          last_name: 'text',
          country: 'text',
          language: 'text',
          dob: 'text',
          email_subscribe: { type: 'one of', values: ['opted_in', 'unsubscribed', 'subscribed'] },
          push_subscribe: { type: 'one of', values: ['opted_in', 'unsubscribed', 'subscribed'] },
          _update_existing_only: { type: 'yes or no', description: 'Whether no new person is created' },
          attributes: { type: 'object', merges: true, description: 'Custom attributes' },
        },
        body: { attributes: '{{ rows }}' },
        result: result('attributes'),
      },
      'record events': {
        path: '/users/track',
        batch: { rows: 75, bytes: 4_000_000 },
        columns: {
          ...person,
          name: { type: 'text', required: true, description: 'Name of the event' },
          time: { type: 'time', unit: 'utc', required: true },
          app_id: 'text',
          properties: 'object',
        },
        body: { events: '{{ rows }}' },
        result: result('events'),
      },
      'record purchases': {
        path: '/users/track',
        batch: { rows: 75, bytes: 4_000_000 },
        columns: {
          ...person,
          product_id: { type: 'text', required: true },
          currency: { type: 'currency', required: true },
          price: { type: 'number', required: true },
          quantity: 'whole number',
          time: { type: 'time', unit: 'utc', required: true },
          app_id: 'text',
          properties: 'object',
        },
        body: { purchases: '{{ rows }}' },
        result: result('purchases'),
      },
      'delete people': {
        path: '/users/delete',
        batch: { rows: 50 },
        columns: { external_id: { type: 'text', required: true } },
        row: '{{ row.external_id }}',
        body: { external_ids: '{{ rows }}' },
        result: { success: 'response.message == "success"', reason: '{{ response.message }}' },
      },
    },
  },
})
