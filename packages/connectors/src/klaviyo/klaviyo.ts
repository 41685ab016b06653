import { secret, text } from '@penstock/connector'
import { describedDestination } from '../described/described-destination.ts'
import { klaviyoPlatform } from './platform.ts'

const headers = {
  revision: '2026-07-15',
  accept: 'application/vnd.api+json',
  'content-type': 'application/vnd.api+json',
}
const person = {
  email: { type: 'text', identifies: true },
  phone_number: { type: 'text', identifies: true, description: 'Phone number in E.164, such as +4915112345678' },
  external_id: { type: 'text', identifies: true, lengthMax: 255, description: 'Your ID of the person' },
}
const profiles = {
  path: '/profile-bulk-import-jobs',
  headers,
  batch: { rows: 1_000, bytes: 4_500_000 },
  columns: {
    ...person,
    first_name: 'text',
    last_name: 'text',
    organization: 'text',
    title: 'text',
    locale: 'text',
    image: 'text',
    location: { type: 'object', description: 'city, region, country, zip, address1, timezone …' },
    properties: { type: 'object', description: 'Custom properties' },
  },
  row: {
    type: 'profile',
    attributes: {
      email: '{{ row.email }}',
      phone_number: '{{ row.phone_number }}',
      external_id: '{{ row.external_id }}',
      first_name: '{{ row.first_name }}',
      last_name: '{{ row.last_name }}',
      organization: '{{ row.organization }}',
      title: '{{ row.title }}',
      locale: '{{ row.locale }}',
      image: '{{ row.image }}',
      location: '{{ row.location }}',
      properties: '{{ row.properties }}',
    },
  },
  result: { refused: 400, reason: '{{ response.errors[0].detail }}' },
  later: {
    job: 'response.data.id',
    path: '/profile-bulk-import-jobs/{{ job }}',
    headers,
    done: 'response.data.attributes.status == "complete"',
    failed: 'response.data.attributes.status == "cancelled"',
    from: { path: '/profile-bulk-import-jobs/{{ job }}/import-errors', query: { 'page[size]': '100' }, headers },
    // The pointer of an error is /data/attributes/profiles/data/3/attributes/email.
    result: {
      rows: {
        at: 'data',
        index: 'split(entry.attributes.source.pointer, "/")[5]',
        reason: '{{ entry.attributes.detail }}',
      },
    },
  },
}
const erasedBy = (profile: object) => ({
  path: '/data-privacy-deletion-jobs',
  headers,
  body: {
    data: {
      type: 'data-privacy-deletion-job',
      attributes: { profile: { data: { type: 'profile', ...profile } } },
    },
  },
  result: { refused: 400, reason: '{{ response.errors[0].detail }}' },
})
const jobOf = (relationships?: object) => ({
  data: {
    type: 'profile-bulk-import-job',
    attributes: { profiles: { data: '{{ rows }}' } },
    ...(relationships && { relationships }),
  },
})

/** Profiles and events of Klaviyo. */
export const klaviyo = describedDestination({
  slug: 'klaviyo',
  name: 'Klaviyo',
  platform: klaviyoPlatform,
  dataType: 'Audiences - CRM API',
  dataTypeCategory: 'audience activation',
  status: 'preview',
  description: 'Creates and updates profiles in Klaviyo, adds them to a list, and records events.',
  actions: ['add', 'update'],
  notes:
    'Profiles are imported by jobs: a batch is confirmed once its job is complete, and profiles that the job names are rejected rows (the first 100 of a batch). Importing a profile does not subscribe the person to marketing. Klaviyo recognises a repeated event by its ID.',
  tested:
    'Our own test server, which refuses what Klaviyo’s OpenAPI document of the revision refuses; not Klaviyo itself.',
  api: { version: '2026-07-15', ends: 'A revision is supported for about two years.' },
  secrets: {
    apiKey: secret({ label: 'Private API key', description: 'Key that begins with pk_', required: true }),
  },
  server: ({ apiKey }) => ({
    url: 'https://a.klaviyo.com/api',
    authentication: 'API key',
    keyIn: 'header',
    keyName: 'Authorization',
    keyPrefix: 'Klaviyo-API-Key',
    apiToken: String(apiKey),
  }),
  operations: {
    'update profiles': 'Create and update profiles',
    'add to list': 'Create and update profiles, and add them to a list',
    'record events': 'Record events',
  },
  parameters: {
    listId: text({
      asked: true,
      label: 'List ID',
      description: 'Six characters, in the address of the list',
      required: true,
    }),
  },
  erasure: {
    what: 'Deletes the profiles permanently, with their events. Klaviyo processes the request later, and does not report whether there was a profile.',
    requests: {
      email: erasedBy({ attributes: { email: '{{ person }}' } }),
      phone: erasedBy({ attributes: { phone_number: '{{ person }}' } }),
      externalId: {
        ...erasedBy({ id: '{{ found }}', attributes: {} }),
        find: {
          path: '/profiles',
          query: { filter: 'equals(external_id,"{{ person }}")', 'fields[profile]': 'external_id' },
          headers: { revision: headers.revision, accept: headers.accept },
          at: 'data',
          where: 'entry.attributes.external_id == person',
          value: 'entry.id',
        },
      },
    },
  },
  definition: {
    check: { path: '/accounts', headers: { revision: headers.revision, accept: headers.accept } },
    operations: {
      'update profiles': { ...profiles, body: jobOf() },
      'add to list': {
        ...profiles,
        parameters: ['listId'],
        body: jobOf({ lists: { data: [{ type: 'list', id: '{{ parameter.listId }}' }] } }),
      },
      'record events': {
        path: '/events',
        headers,
        columns: {
          ...person,
          metric: { type: 'text', required: true, description: 'Name of the event' },
          time: { type: 'time', unit: 'utc' },
          value: 'number',
          unique_id: { type: 'text', description: 'ID of the event; without one, Penstock makes one' },
          properties: 'object',
        },
        body: {
          data: {
            type: 'event',
            attributes: {
              // Klaviyo needs the key.
              properties: { '...': '{{ row.properties }}' },
              time: '{{ row.time }}',
              value: '{{ row.value }}',
              unique_id: '{{ coalesce(row.unique_id, id) }}',
              metric: { data: { type: 'metric', attributes: { name: '{{ row.metric }}' } } },
              profile: {
                data: {
                  type: 'profile',
                  attributes: {
                    email: '{{ row.email }}',
                    phone_number: '{{ row.phone_number }}',
                    external_id: '{{ row.external_id }}',
                  },
                },
              },
            },
          },
        },
        result: { refused: 400, reason: '{{ response.errors[0].detail }}' },
      },
    },
  },
})
