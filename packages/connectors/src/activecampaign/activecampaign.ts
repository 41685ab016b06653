import { boolean, ConnectorError, inspectBy, number, secret, text } from '@penstock/connector'
import { describedErasure } from '../described/described-erasure.ts'
import { idSetting } from '../kit/api.ts'
import { asWritten, oneOf, plain, special } from '../kit/columns.ts'
import { eventDestination } from '../kit/event-destination.ts'
import { type JsonObject, listIn, numberIn, objectIn, textIn } from '../platform-api/json.ts'
import { activeCampaignApi, apiKey } from './api.ts'
import { contactOf } from './contacts.ts'
import { activeCampaignPlatform } from './platform.ts'

const listsIn = (json: unknown): JsonObject[] => listIn(objectIn(json).lists).map(objectIn)
/** Size limit of a request. */
const bodyBytesMax = 399_999

/** Contacts of ActiveCampaign. A contact is recognised by its address. */
export const activecampaign = eventDestination({
  slug: 'activecampaign',
  name: 'ActiveCampaign',
  platform: activeCampaignPlatform,
  dataType: 'Audiences - CRM API',
  dataTypeCategory: 'audience activation',
  status: 'preview',
  description: 'Delivers contacts to an ActiveCampaign account, for its e-mails, automations and sales.',
  actions: ['add', 'remove'],
  notes:
    'Use the API key of a user who may manage contacts. Contacts are identified by their e-mail address: a new one is created, an existing one is updated, and an empty value changes nothing. ActiveCampaign processes an import within seconds. A contact that it rejects while the batch waits for the results is reported as a rejected row; a later rejection is not in the counts. If ActiveCampaign finds a batch invalid, Penstock halves it until the invalid rows are found. Import only people who have agreed to be contacted: subscribing a contact to a list declares that they have.',
  tested:
    'Our own test server, which follows the published documentation of ActiveCampaign’s API v3; not ActiveCampaign itself.',
  api: { version: 'v3', ends: 'No end is known.' },
  platformApi: activeCampaignApi,
  auth: apiKey,
  secrets: {
    apiUrl: text({
      label: 'API URL',
      description: 'Address for API calls of your account, shown in the developer settings of ActiveCampaign',
      required: true,
      binds: ['apiKey'],
    }),
    apiKey: secret({
      label: 'API key',
      description: 'Key that is shown next to the API URL in the developer settings',
      required: true,
    }),
  },
  check: async (context) => (await import('./check.ts')).checkActiveCampaign(context),
  inspect: inspectBy(async (context) => (await import('./check.ts')).assertKey(context)),
  settings: {
    listId: idSetting({
      label: 'List ID',
      description: 'ID of the list for rows without list_ids',
      pattern: /^[1-9]\d{0,9}$/,
      example: '3',
    }),
    excludeAutomations: boolean({
      label: 'Exclude automations',
      description: 'Import contacts without starting automations',
    }),
    resultWaitSeconds: number({
      keepsState: 'pace',
      label: 'Wait for results (seconds)',
      description: 'How long each batch waits for ActiveCampaign to report rejected contacts; 0 to ask once',
      min: 0,
      max: 600,
      default: 30,
    }),
  },
  listed: {
    listId: {
      kind: 'object',
      cursor: /^\d{1,9}$/,
      page: (offset = '0') => ({ path: '/lists', query: { limit: '100', offset } }),
      found: ({ json }) => listsIn(json).map(({ id, name }) => ({ id, name })),
      next({ json }, offset = '0') {
        const { length } = listsIn(json)
        const next = Number(offset) + length
        return length > 0 && next < (numberIn(objectIn(objectIn(json).meta).total) ?? 0) ? String(next) : undefined
      },
    },
  },
  batch: { rowsMax: 250, bytesMax: 250_000 },
  request(contacts, { settings }) {
    const excludes = settings.excludeAutomations === true
    const body = JSON.stringify({ contacts, ...(excludes && { exclude_automations: true }) })
    if (Buffer.byteLength(body) <= bodyBytesMax) return { path: '/import/bulk_import', body }
    throw new ConnectorError('batch_too_large', 'The import is too large for one request to ActiveCampaign.')
  },
  // It accepts an import as a whole or not at all.
  answer: {
    confirms({ json }) {
      const { batchId, success, Success } = objectIn(json)
      return textIn(batchId) !== undefined && Number(success ?? Success) === 1
    },
  },
  later: async (client, context) => (await import('./import-results.ts')).openResults(client, context),
  erasure: describedErasure('ActiveCampaign', {
    what: 'Deletes the contact with everything that ActiveCampaign stores about it.',
    server: (secrets) => ({
      url: activeCampaignApi({ secrets }).baseUrl,
      authentication: 'API key',
      keyName: 'api-token',
      apiToken: String(secrets.apiKey),
    }),
    requests: {
      email: {
        find: {
          path: '/contacts',
          query: { email: '{{ person }}' },
          at: 'contacts',
          where: 'lower(coalesce(entry.email, "")) == lower(person)',
          value: 'entry.id',
        },
        method: 'DELETE',
        path: '/contacts/{{ found }}',
        missing: 'status == 404 && response.message != null',
        outcome: 'deleted',
      },
    },
  }),
  // An empty text would overwrite the stored one, so it is omitted.
  columns: {
    email: plain('email', 'E-mail address, not hashed', {
      required: true,
      normalise: 'email',
      missing: 'The e-mail address is missing.',
    }),
    first_name: plain('first_name', 'First name', {
      normalise: 'text',
      synonyms: ['fname', 'given_name', 'firstname'],
    }),
    last_name: plain('last_name', 'Last name', {
      normalise: 'text',
      synonyms: ['lname', 'family_name', 'lastname', 'surname'],
    }),
    phone: plain('phone', 'Phone number', { normalise: 'text' }),
    account_name: plain('customer_acct_name', 'Name of the company that the contact belongs to', {
      normalise: 'text',
      synonyms: ['company', 'company_name', 'customer_acct_name'],
    }),
    tags: special('Tags, separated by commas; missing ones are created', { synonyms: ['tag'], addresses: true }),
    list_ids: special('IDs of lists, separated by commas, if not the list of the connection', {
      synonyms: ['list_id', 'lists', 'segment_id', 'subscribe'],
      addresses: true,
    }),
    action: oneOf('@action', 'Whether the contact is subscribed to the lists or removed from them; add by default', {
      values: asWritten('add', 'remove'),
      wanted: 'add or remove',
      listed: ['add', 'remove'],
      removing: ['remove'],
    }),
    fields: special('JSON object with custom fields by their IDs: {"5": "Gold"}', { synonyms: ['custom_fields'] }),
  },
  finish: contactOf,
})
