import { ConnectorError, secret, text } from '@penstock/connector'
import { describedDestination } from '../described/described-destination.ts'
import { mailchimpPlatform } from './platform.ts'

const email = { type: 'text', required: true, description: 'Address of the person' }

/** Members of an audience of Mailchimp. */
export const mailchimp = describedDestination({
  slug: 'mailchimp',
  name: 'Mailchimp',
  platform: mailchimpPlatform,
  dataType: 'Audiences - CRM API',
  dataTypeCategory: 'audience activation',
  status: 'preview',
  description: 'Adds, updates and archives members of an audience in Mailchimp.',
  actions: ['add', 'update', 'remove'],
  notes:
    'Members are found by their addresses. Mailchimp does not add an address again that was unsubscribed or permanently deleted: such rows are rejected. An archived member can be added again. Add only people who have agreed to be contacted.',
  tested: 'Our own test server, which refuses what Mailchimp’s OpenAPI document refuses; not Mailchimp itself.',
  api: { version: '3.0', ends: 'No end is known.' },
  secrets: {
    apiKey: secret({
      label: 'API key',
      description: 'Key that ends with the data center, such as -us21',
      required: true,
    }),
  },
  server({ apiKey }) {
    const [, dataCenter] = /-([a-z]{2,4}\d{1,3})$/.exec(String(apiKey ?? '').trim()) ?? []
    if (!dataCenter) {
      throw new ConnectorError(
        'invalid_credentials',
        'The API key does not end with a data center, such as -us21; copy all of it.',
      )
    }
    return {
      url: `https://${dataCenter}.api.mailchimp.com/3.0`,
      authentication: 'user name and password',
      username: 'penstock',
      password: String(apiKey).trim(),
    }
  },
  operations: { 'update members': 'Add and update members', 'archive members': 'Archive members' },
  parameters: {
    listId: text({
      asked: true,
      label: 'Audience ID',
      description: 'ID of the audience, such as a1b2c3d4e5',
      required: true,
    }),
  },
  removals: { 'update members': { operation: 'archive members', by: ['email'] } },
  erasure: {
    what: 'Deletes the member permanently from every audience of the account, also if it is archived. The address cannot be imported again.',
    requests: {
      email: {
        find: {
          path: '/lists',
          query: { fields: 'lists.id', count: '1000' },
          at: 'lists',
          where: 'true',
          value: 'entry.id',
        },
        path: '/lists/{{ found }}/members/{{ md5(lower(person)) }}/actions/delete-permanent',
        missing: 'status == 404 && response.title == "Resource Not Found"',
        outcome: 'deleted',
        result: { refused: [400, 405], reason: '{{ response.detail }}' },
      },
    },
  },
  definition: {
    check: { path: '/ping' },
    operations: {
      'update members': {
        path: '/lists/{{ parameter.listId }}',
        parameters: ['listId'],
        batch: { rows: 500, bytes: 4_000_000 },
        columns: {
          email,
          status: { type: 'one of', values: ['subscribed', 'unsubscribed', 'cleaned', 'pending', 'transactional'] },
          email_type: { type: 'one of', values: ['html', 'text'] },
          language: 'text',
          vip: 'yes or no',
          tags: 'list',
          merge_fields: { type: 'object', description: 'Fields by their tags, such as FNAME' },
          interests: { type: 'object', description: 'IDs of interests, with true or false' },
        },
        row: {
          email_address: '{{ row.email }}',
          status: '{{ coalesce(row.status, "subscribed") }}',
          email_type: '{{ row.email_type }}',
          language: '{{ row.language }}',
          vip: '{{ row.vip }}',
          tags: '{{ row.tags }}',
          merge_fields: '{{ row.merge_fields }}',
          interests: '{{ row.interests }}',
        },
        body: { members: '{{ rows }}', update_existing: true },
        result: {
          reason: '{{ response.detail }}',
          rows: { at: 'errors', key: 'entry.email_address', column: 'email', reason: '{{ entry.error }}' },
        },
      },
      'archive members': {
        method: 'DELETE',
        path: '/lists/{{ parameter.listId }}/members/{{ md5(lower(row.email)) }}',
        parameters: ['listId'],
        columns: { email },
        result: { refused: [400, 405], reason: '{{ response.detail }}' },
        // A person who is not there is archived already.
        errors: [{ status: 404, when: 'response.title == "Resource Not Found"', action: 'accept' }],
      },
    },
  },
})
