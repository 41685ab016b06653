import { defineConnector, inspectBy, select, text } from '@penstock/connector'
import { recordOf } from '../kit/columns.ts'
import { client } from './client.ts'
import { contactColumns } from './contact-columns.ts'
import { salesforceMarketingCloud } from './platform.ts'

/** Contacts of Marketing Cloud with the attributes of their attribute sets. */
export const salesforceMarketingCloudContacts = defineConnector({
  slug: 'salesforce-marketing-cloud-contacts',
  name: 'Salesforce Marketing Cloud Contacts',
  platform: salesforceMarketingCloud,
  dataType: 'audiences',
  dataTypeCategory: 'audience activation',
  description: 'Creates contacts of Marketing Cloud, sets their attributes, or has contacts deleted.',
  actions: ['create', 'update', 'delete'],
  notes:
    'A contact is found by its key, and created if there is none. Attributes belong to attribute sets, which must exist with exactly these names. Marketing Cloud takes the attributes of one contact with a request, so prefer data extensions for large numbers of rows. If it does not accept the attributes of a row, the row is rejected, although its contact exists. A deletion concerns the whole enterprise account with all business units and channels, and cannot be undone: Marketing Cloud first suppresses the contacts for some days, deletes one request after another, which can take hours, and reports no result for each contact. Contact Delete must be enabled in the account. The installed package needs a server-to-server API integration with the scopes List and Subscribers Read and Write. Send only people who have agreed to it.',
  tested:
    'Our own test server, which follows Salesforce’s published documentation of its REST API; not Marketing Cloud itself.',
  api: { version: 'REST v1, tokens v2', ends: 'No end is known.' },
  secrets: {
    ...client,
    subdomain: text({
      label: 'Subdomain',
      description: 'Part of the authentication base URI before its first dot',
      required: true,
      binds: ['clientSecret'],
    }),
  },
  check: async (context) => (await import('./check-journeys.ts')).checkJourneys(context),
  destination: {
    deliver: {
      batch: ({ operation }) =>
        operation === 'delete' ? { rowsMax: 10_000, bytesMax: 3_000_000 } : { rowsMax: 50, bytesMax: 500_000 },
      open: async (context) => (await import('./deliver-contacts.ts')).open(context),
      inspect: inspectBy(async (context) => (await import('./check-journeys.ts')).assertClient(context)),
      rejectionsOf: async ({ settings }) => {
        const { readContacts } = await import('./deliver-contacts.ts')
        return (batch) => readContacts(batch, settings).rejected
      },
    },
    fields: {
      operation: select({
        asked: true,
        label: 'Operation',
        description: 'What to do with the contacts',
        options: ['upsert', 'delete'],
        labels: { upsert: 'Create or update contacts', delete: 'Delete contacts with all their data' },
        default: 'upsert',
      }),
    },
    records: Object.fromEntries(Object.entries(contactColumns).map(([name, one]) => [name, recordOf(one)])),
  },
})
