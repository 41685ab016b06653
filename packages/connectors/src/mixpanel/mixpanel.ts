import { ConnectorError, secret, select, text } from '@penstock/connector'
import { describedDestination } from '../described/described-destination.ts'
import { mixpanelPlatform } from './platform.ts'

const distinct_id = { type: 'text', required: true, description: 'Your ID of the person' }
/** Mixpanel answers 200 to profiles that it does not take. */
const profiles = {
  path: '/engage',
  query: { strict: '1', verbose: '1' },
  parameters: ['projectToken'],
  batch: { rows: 200, bytes: 1_000_000 },
  body: '{{ rows }}',
  result: { success: 'response.status == 1', reason: '{{ response.error }}' },
}

/** Events and profiles of Mixpanel. */
export const mixpanel = describedDestination({
  slug: 'mixpanel',
  name: 'Mixpanel',
  platform: mixpanelPlatform,
  dataType: 'Audiences - CRM API',
  dataTypeCategory: 'audience activation',
  status: 'preview',
  description: 'Imports events into Mixpanel, and sets and deletes profiles.',
  actions: ['add', 'update', 'delete'],
  notes:
    'Mixpanel ignores an event that is sent again, because each event has an ID. Events that Mixpanel refuses are rejected rows, and the other events of the request are stored. Mixpanel answers a wrong project token of profiles with success.',
  tested: 'Our own test server, which refuses what Mixpanel’s OpenAPI document refuses; not Mixpanel itself.',
  api: { version: 'without a version', ends: 'No end is known.' },
  secrets: {
    region: select({
      label: 'Data residency',
      description: 'Where the data of your project is stored',
      options: ['us', 'eu', 'in'],
      labels: { us: 'United States', eu: 'European Union', in: 'India' },
      default: 'us',
      binds: ['projectToken', 'password', 'gdprToken'],
    }),
    projectId: text({ label: 'Project ID', description: 'Number of the project', required: true }),
    projectToken: secret({ label: 'Project token', description: 'Token of the project, for profiles', required: true }),
    username: text({
      label: 'User name',
      description: 'User name of a service account',
      required: true,
      keepsState: 'credential',
    }),
    password: secret({ label: 'Secret', description: 'Secret of the service account', required: true }),
    gdprToken: secret({
      label: 'OAuth token for privacy',
      description: 'Token of an owner for privacy requests; only needed to erase people',
    }),
  },
  server: ({ region, username, password, projectToken }) => ({
    url: `https://api${region === 'us' || region === undefined ? '' : `-${region}`}.mixpanel.com`,
    authentication: 'user name and password',
    username: String(username),
    password: String(password),
    // Removed from answers, too.
    apiToken: String(projectToken),
  }),
  given: ['projectId', 'projectToken'],
  operations: {
    'import events': 'Import events',
    'set profiles': 'Create profiles and set their properties',
    'delete profiles': 'Delete profiles',
  },
  removals: { 'set profiles': { operation: 'delete profiles', by: ['distinct_id'], deletes: true } },
  erasure: {
    what: 'Deletes the events and the profile of the distinct ID, within 30 days. Needs the OAuth token for privacy requests, which is valid for a year.',
    server({ region, projectToken, gdprToken }) {
      if (!gdprToken) {
        throw new ConnectorError(
          'invalid_credentials',
          'Mixpanel erases people only with an OAuth token for privacy requests; save it in the connector.',
        )
      }
      return {
        url: `https://${region === 'us' || region === undefined ? '' : `${region}.`}mixpanel.com/api/app`,
        authentication: 'API key',
        keyIn: 'query',
        keyName: 'token',
        apiToken: String(projectToken),
        secondKeyName: 'authorization',
        secondKey: `Bearer ${gdprToken}`,
      }
    },
    requests: {
      externalId: {
        path: '/data-deletions/v3.0/',
        body: { distinct_ids: ['{{ person }}'], compliance_type: 'GDPR' },
        result: { refused: 400, reason: '{{ response.error }}' },
      },
    },
  },
  definition: {
    operations: {
      'import events': {
        path: '/import',
        query: { strict: '1', project_id: '{{ parameter.projectId }}' },
        parameters: ['projectId'],
        batch: { rows: 2_000, bytes: 9_000_000 },
        columns: {
          event: { type: 'text', required: true, description: 'Name of the event' },
          distinct_id,
          time: { type: 'time', unit: 'milliseconds', required: true },
          insert_id: { type: 'text', lengthMax: 36, description: 'ID of the event; without one, Penstock makes one' },
          properties: { type: 'object', description: 'Other properties of the event' },
        },
        row: {
          event: '{{ row.event }}',
          properties: {
            time: '{{ row.time }}',
            distinct_id: '{{ row.distinct_id }}',
            $insert_id: '{{ coalesce(row.insert_id, id) }}',
            '...': '{{ row.properties }}',
          },
        },
        body: '{{ rows }}',
        result: {
          rows: {
            at: 'failed_records',
            index: 'entry.index',
            reason: '{{ entry.message }}',
            field: '{{ entry.field }}',
          },
        },
        // The other records of such a request are stored.
        errors: [{ status: 400, when: 'response.failed_records != null', action: 'accept' }],
      },
      'set profiles': {
        ...profiles,
        columns: { distinct_id, properties: { type: 'object', required: true, description: 'Properties to set' } },
        row: {
          $token: '{{ parameter.projectToken }}',
          $distinct_id: '{{ row.distinct_id }}',
          $set: '{{ row.properties }}',
        },
      },
      'delete profiles': {
        ...profiles,
        columns: { distinct_id },
        row: { $token: '{{ parameter.projectToken }}', $distinct_id: '{{ row.distinct_id }}', $delete: '' },
      },
    },
  },
})
