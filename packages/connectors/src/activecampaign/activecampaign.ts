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
  description:
    'Delivers contacts to an ActiveCampaign account, where e-mails, automations and sales work make use of them.',
  notes:
    'The API key is that of a user who may manage contacts. A contact is recognised by its e-mail address: a new one is made, one that is there is updated, and an empty value leaves what is there. ActiveCampaign goes through what it took in within seconds: contacts that it does not take are named where it says so while the batch waits for its results, and later ones are not in the counts. Rows in which it finds something invalid are found by halving the batch. Import only people who have agreed to be contacted: to subscribe a contact to a list is to say so.',
  tested: 'Our own test server, which follows what is published of ActiveCampaign’s API v3; not ActiveCampaign itself.',
  api: { version: 'v3', ends: 'No end is known.' },
  secrets: {
    apiUrl: text({
      label: 'API URL',
      description: 'Address for API calls of your own account, as the developer settings of ActiveCampaign show it',
      required: true,
      binds: ['apiKey'],
    }),
    apiKey: secret({
      label: 'API key',
      description: 'Key that stands beside the API URL in the developer settings',
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
      listId: text({ label: 'List ID', description: 'Number of the list for rows that name none' }),
      excludeAutomations: boolean({
        label: 'Exclude automations',
        description: 'Whether the import starts no automations',
      }),
      resultWaitSeconds: number({
        label: 'Wait for results (seconds)',
        description:
          'How long each batch waits for ActiveCampaign to say which contacts it did not take; 0 to ask once',
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
        description: 'Tags with commas between them; those that do not exist are made',
        synonyms: ['tag'],
      }),
      list_ids: column({
        description: 'Numbers of lists with commas between them, where it is not the list of the connection',
        synonyms: ['list_id', 'lists', 'segment_id', 'subscribe'],
      }),
      action: column({
        description: 'Whether the contact is subscribed to the lists or leaves them; add where there is none',
        values: ['add', 'remove'],
      }),
      fields: column({
        description: 'JSON object with custom fields by their numbers: {"5": "Gold"}',
        synonyms: ['custom_fields'],
      }),
    },
  },
})
