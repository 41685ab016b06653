import { boolean, column, defineConnector, inspectBy, number, secret, text } from '@penstock/connector'
import { activeCampaignPlatform } from './platform.ts'

/** Contacts of ActiveCampaign. */
export const activecampaign = defineConnector({
  slug: 'activecampaign',
  name: 'ActiveCampaign',
  platform: activeCampaignPlatform,
  dataType: 'Audiences - CRM API',
  dataTypeCategory: 'audience activation',
  status: 'preview',
  description: 'Delivers contacts to an ActiveCampaign account, for its e-mails, automations and sales.',
  notes:
    'Use the API key of a user who may manage contacts. Contacts are identified by their e-mail address: a new one is created, an existing one is updated, and an empty value changes nothing. ActiveCampaign processes an import within seconds. A contact that it rejects while the batch waits for the results is reported as a rejected row; a later rejection is not in the counts. If ActiveCampaign finds a batch invalid, Penstock halves it until the invalid rows are found. Import only people who have agreed to be contacted: subscribing a contact to a list declares that they have.',
  tested:
    'Our own test server, which follows the published documentation of ActiveCampaign’s API v3; not ActiveCampaign itself.',
  api: { version: 'v3', ends: 'No end is known.' },
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
  destination: {
    deliver: {
      batch: () => ({ rowsMax: 250, bytesMax: 250_000 }),
      open: async (context) => (await import('./deliver-contacts.ts')).open(context),
      inspect: inspectBy(async (context) => (await import('./check.ts')).assertKey(context)),
    },
    fields: {
      listId: text({ label: 'List ID', description: 'ID of the list for rows without list_ids' }),
      excludeAutomations: boolean({
        label: 'Exclude automations',
        description: 'Whether automations are not started by the import',
      }),
      resultWaitSeconds: number({
        label: 'Wait for results (seconds)',
        description: 'How long each batch waits for ActiveCampaign to report rejected contacts; 0 to ask once',
        min: 0,
        max: 600,
        default: 30,
      }),
    },
    records: {
      email: column({ description: 'E-mail address, not hashed', required: true, normalise: 'email' }),
      first_name: column({
        description: 'First name',
        normalise: 'text',
        synonyms: ['fname', 'given_name', 'firstname'],
      }),
      last_name: column({
        description: 'Last name',
        normalise: 'text',
        synonyms: ['lname', 'family_name', 'lastname', 'surname'],
      }),
      phone: column({ description: 'Phone number', normalise: 'text' }),
      account_name: column({
        description: 'Name of the company that the contact belongs to',
        normalise: 'text',
        synonyms: ['company', 'company_name', 'customer_acct_name'],
      }),
      tags: column({
        description: 'Tags, separated by commas; missing ones are created',
        synonyms: ['tag'],
      }),
      list_ids: column({
        description: 'IDs of lists, separated by commas, if not the list of the connection',
        synonyms: ['list_id', 'lists', 'segment_id', 'subscribe'],
      }),
      action: column({
        description: 'Whether the contact is subscribed to the lists or removed from them; add by default',
        values: ['add', 'remove'],
      }),
      fields: column({
        description: 'JSON object with custom fields by their IDs: {"5": "Gold"}',
        synonyms: ['custom_fields'],
      }),
    },
  },
})
