import { secret, select, text } from '@penstock/connector'
import { describedDestination } from '../described/described-destination.ts'
import { iterablePlatform } from './platform.ts'

const person = {
  email: { type: 'text', identifies: true },
  userId: { type: 'text', identifies: true, description: 'Your ID of the person' },
}
/** Iterable repeats the addresses and IDs that it does not take, in lists by their reason. */
const result = {
  reason: '{{ response.msg }}',
  rows: {
    at: 'failedUpdates.*.*',
    key: 'entry',
    column: ['email', 'userId'],
    reason: 'The person is not valid, not found or forgotten',
  },
}
const erased = {
  method: 'DELETE',
  result: { refused: 400, success: 'response.code == "Success"', reason: '{{ response.msg }}' },
}
const list = {
  batch: { rows: 1_000, bytes: 3_800_000 },
  parameters: ['listId'],
  result,
}

/** People, events and lists of Iterable. */
export const iterable = describedDestination({
  slug: 'iterable',
  name: 'Iterable',
  platform: iterablePlatform,
  dataType: 'Audiences - CRM API',
  dataTypeCategory: 'audience activation',
  status: 'preview',
  description: 'Updates people in Iterable, records events, and changes static lists.',
  actions: ['add', 'update', 'remove'],
  notes:
    'A person is found by the address, or by the user ID in a project that uses user IDs. Removing people from a list does not unsubscribe them from a channel. An event with the same ID replaces the earlier one.',
  tested:
    'Our own test server, which refuses what Iterable’s client for Node (@iterable/api 0.13.0) refuses; not Iterable itself.',
  api: { version: 'without a version', ends: 'No end is known.' },
  secrets: {
    region: select({
      label: 'Data center',
      description: 'Data center of your project',
      options: ['us', 'eu'],
      labels: { us: 'United States', eu: 'European Union' },
      default: 'us',
      binds: ['apiKey'],
    }),
    apiKey: secret({ label: 'API key', description: 'Server-side key', required: true }),
  },
  server: ({ region, apiKey }) => ({
    url: region === 'eu' ? 'https://api.eu.iterable.com' : 'https://api.iterable.com',
    authentication: 'API key',
    keyIn: 'header',
    keyName: 'Api-Key',
    apiToken: String(apiKey),
  }),
  operations: {
    'update people': 'Create and update people',
    'record events': 'Record events',
    'add to list': 'Add people to a static list',
    'remove from list': 'Remove people from a static list',
  },
  parameters: {
    listId: text({ asked: true, label: 'List ID', description: 'Number of a static list', required: true }),
  },
  removals: { 'add to list': { operation: 'remove from list', by: ['email', 'userId'] } },
  erasure: {
    what: 'Deletes the user with their data. Iterable deletes later, and adds the user again if you send them again.',
    requests: {
      email: { ...erased, path: '/api/users/{{ person }}' },
      externalId: { ...erased, path: '/api/users/byUserId/{{ person }}' },
    },
  },
  definition: {
    check: { path: '/api/lists' },
    operations: {
      'update people': {
        path: '/api/users/bulkUpdate',
        batch: { rows: 1_000, bytes: 3_800_000 },
        columns: {
          ...person,
          dataFields: { type: 'object', description: 'Fields of the person' },
          preferUserId: 'yes or no',
          mergeNestedObjects: 'yes or no',
        },
        body: { users: '{{ rows }}' },
        result,
      },
      'record events': {
        path: '/api/events/trackBulk',
        batch: { rows: 1_000, bytes: 3_800_000 },
        columns: {
          ...person,
          eventName: { type: 'text', required: true },
          id: { type: 'text', description: 'ID of the event; without one, Penstock makes one' },
          createdAt: { type: 'time', unit: 'seconds' },
          dataFields: 'object',
        },
        row: {
          email: '{{ row.email }}',
          userId: '{{ row.userId }}',
          eventName: '{{ row.eventName }}',
          id: '{{ coalesce(row.id, id) }}',
          createdAt: '{{ row.createdAt }}',
          dataFields: '{{ row.dataFields }}',
        },
        body: { events: '{{ rows }}' },
        result,
      },
      'add to list': {
        ...list,
        path: '/api/lists/subscribe',
        columns: { ...person, dataFields: 'object' },
        body: { listId: '{{ number(parameter.listId) }}', subscribers: '{{ rows }}' },
      },
      'remove from list': {
        ...list,
        path: '/api/lists/unsubscribe',
        columns: person,
        body: { listId: '{{ number(parameter.listId) }}', subscribers: '{{ rows }}', channelUnsubscribe: false },
      },
    },
  },
})
