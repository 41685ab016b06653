import { secret, text } from '@penstock/connector'
import { describedDestination } from '../described/described-destination.ts'
import { marketoPlatform } from './platform.ts'

/** Marketo answers 200 to everything, with a result for each row, or with the error of the request. */
const answers = {
  result: { rows: { at: 'result', rejected: 'entry.status == "skipped"', reason: '{{ entry.reasons[0].message }}' } },
  errors: [
    { when: 'response.errors[0].code in ["606", "607", "615"]', action: 'wait' },
    { when: 'response.errors[0].code in ["502", "601", "602", "604", "608", "611", "713"]', action: 'retry' },
    { when: 'response.success == false', action: 'fail' },
  ],
}
const leadId = { id: { type: 'whole number', required: true, description: 'ID of the lead in Marketo' } } as const

/** Leads and static lists of Marketo Engage. */
export const marketo = describedDestination({
  slug: 'marketo',
  name: 'Marketo Engage',
  platform: marketoPlatform,
  dataType: 'Audiences - CRM API',
  dataTypeCategory: 'audience activation',
  status: 'preview',
  description: 'Creates, updates and deletes leads in Marketo Engage, and changes static lists.',
  actions: ['add', 'update', 'remove', 'delete'],
  notes:
    'Marketo allows 100 requests in 20 seconds and 50,000 requests a day in all of your integrations. A list takes leads by their IDs in Marketo. Leads are removed from a list one in a request.',
  tested: 'Our own test server, which refuses what Marketo’s OpenAPI document refuses; not Marketo itself.',
  api: { version: 'REST v1', ends: 'No end is known.' },
  secrets: {
    munchkinId: text({
      label: 'Munchkin ID',
      description: 'ID of your instance, such as 123-ABC-456',
      required: true,
      binds: ['clientSecret'],
    }),
    clientId: text({
      label: 'Client ID',
      description: 'ID of the custom service',
      required: true,
      keepsState: 'credential',
    }),
    clientSecret: secret({ label: 'Client secret', description: 'Secret of the custom service', required: true }),
  },
  server({ munchkinId, clientId, clientSecret }) {
    const host = `https://${encodeURIComponent(String(munchkinId).trim())}.mktorest.com`
    return {
      url: host,
      authentication: 'client credentials',
      tokenUrl: `${host}/identity/oauth/token`,
      clientId: String(clientId),
      clientSecret: String(clientSecret),
    }
  },
  operations: {
    'update leads': 'Create and update leads',
    'add to list': 'Add leads to a static list',
    'remove from list': 'Remove leads from a static list',
    'delete leads': 'Delete leads',
  },
  parameters: {
    lookupField: text({ label: 'Lookup field', description: 'Field by which a lead is found', default: 'email' }),
    listId: text({ asked: true, label: 'List ID', description: 'Number of the static list', required: true }),
  },
  removals: { 'add to list': { operation: 'remove from list', by: ['id'] } },
  erasure: {
    what: 'Deletes the leads with the address, in all partitions.',
    requests: {
      email: {
        find: {
          path: '/rest/v1/leads.json',
          query: { filterType: 'email', filterValues: '{{ person }}', fields: 'id,email' },
          at: 'result',
          where: 'lower(coalesce(entry.email, "")) == lower(person)',
          value: 'entry.id',
        },
        path: '/rest/v1/leads/delete.json',
        body: { input: [{ id: '{{ found }}' }] },
        missing: 'response.result[0].reasons[0].code == "1004"',
        outcome: 'deleted',
        result: {
          success: 'response.result[0].status == "deleted"',
          reason: '{{ response.result[0].reasons[0].message }}',
        },
        errors: answers.errors,
      },
    },
  },
  definition: {
    pace: { requests: 100, seconds: 20 },
    check: { path: '/rest/v1/leads/describe2.json' },
    operations: {
      'update leads': {
        path: '/rest/v1/leads.json',
        parameters: ['lookupField'],
        batch: { rows: 300, bytes: 1_000_000 },
        columns: {
          email: { type: 'text', identifies: true },
          id: { type: 'whole number', identifies: true, description: 'ID of the lead in Marketo' },
          firstName: 'text',
          lastName: 'text',
          company: 'text',
          phone: 'text',
          country: 'text',
          fields: { type: 'object', merges: true, identifies: true, description: 'Other fields by their REST names' },
        },
        body: { action: 'createOrUpdate', lookupField: '{{ parameter.lookupField }}', input: '{{ rows }}' },
        ...answers,
      },
      'add to list': {
        path: '/rest/v1/lists/{{ parameter.listId }}/leads.json',
        parameters: ['listId'],
        batch: { rows: 300 },
        columns: leadId,
        body: { input: '{{ rows }}' },
        ...answers,
      },
      'remove from list': {
        method: 'DELETE',
        path: '/rest/v1/lists/{{ parameter.listId }}/leads.json',
        // The document demands both. In one request of several leads, it is not clear how the query lists them.
        query: { id: '{{ row.id }}' },
        body: { input: [{ id: '{{ row.id }}' }] },
        parameters: ['listId'],
        columns: leadId,
        ...answers,
      },
      'delete leads': {
        path: '/rest/v1/leads/delete.json',
        batch: { rows: 300 },
        columns: leadId,
        body: { input: '{{ rows }}' },
        ...answers,
      },
    },
  },
})
