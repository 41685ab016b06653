import { boolean, defineConnector, number, secret, select, syncMode, text } from '@penstock/connector'
import { hubspotVersion } from './api.ts'
import { authorization } from './authorization.ts'
import { hubspot } from './platform.ts'

const objectType = text({
  label: 'Object type',
  description: 'contacts, companies, deals, tickets, or the ID or name of a custom object, such as 2-123456',
  required: true,
})

const toList = { operation: ['addToList', 'removeFromList'] }

/** CRM records of HubSpot, read and written, and its static lists. */
export const hubspotCrm = defineConnector({
  slug: 'hubspot-crm',
  name: 'HubSpot CRM',
  platform: hubspot,
  dataType: 'Audiences - CRM API',
  dataTypeCategory: 'audience activation',
  description:
    'Reads and writes contacts, companies, deals, tickets and custom objects of HubSpot, and keeps its static lists up to date.',
  actions: ['get', 'create', 'update', 'add', 'remove'],
  notes:
    'Columns have the internal names of properties, such as firstname. Records are found by a unique property (email for contacts); companies and deals have none of their own, so make one in HubSpot, or use hs_object_id, which changes records but creates none. A row that HubSpot names neither as stored nor as refused is sent once more, and then rejected. Several choices of a property are separated by semicolons. Incremental reading takes the records that changed since the last transfer, minus an overlap, because HubSpot’s search finds a change only after a while: records of the overlap come again, so write them with a key. A record that changes during the reading comes with the next transfer. A backfill searches for records whose last change is in its range; archived ones count by the time at which they were archived. HubSpot keeps archived records for 90 days. Limits are 100 to 190 requests in 10 seconds, 5 searches a second, and a number a day; if that is used up, transfers wait until the next day. Scopes: crm.objects.contacts.read and crm.objects.contacts.write, the same for companies, deals and custom objects, tickets, crm.schemas.custom.read, and crm.lists.read and crm.lists.write for lists. Records can be associated with others, for example contacts with companies: a column names them by a unique property or by their IDs, several separated by semicolons. The associations have no label, or those that you choose, such as Primary or Decision maker; HubSpot lists the labels of each pair of object types, and an unknown one is refused before the first row. If the other record does not exist, the row is rejected, although its own record was stored. Associations are not removed; the token needs the scopes of the other object type, too. As a source, associations are columns such as associated_companies, with the IDs of the other records and the labels as JSON; an association that changes is read when its record changes. The object type owners has the people who own records, as all rows; the token needs crm.objects.owners.read.',
  tested:
    'Our own test server, which follows HubSpot’s published reference of its CRM; not HubSpot itself. HubSpot’s own client, @hubspot/api-client 14.0.1, understands the server.',
  api: {
    version: hubspotVersion,
    ends: 'HubSpot supports a version for 18 months: this one until the end of September 2027.',
  },
  authorization,
  secrets: {
    authType: select({
      keepsState: 'credential',
      label: 'Sign-in method',
      description: 'Sign in through an app with OAuth, or enter the token of a private app or a service key',
      options: ['oauth2', 'token'],
      labels: { oauth2: 'Sign in with HubSpot', token: 'Access token' },
      default: 'oauth2',
    }),
    accessToken: secret({
      label: 'Access token',
      description: 'Token of a private app, or a service key, of your HubSpot account',
      required: true,
      when: { authType: 'token' },
    }),
    clientId: text({
      keepsState: 'credential',
      label: 'Client ID',
      description: 'Client ID that your HubSpot account shows for your app',
      required: true,
      when: { authType: 'oauth2' },
    }),
    clientSecret: secret({
      label: 'Secret key',
      description: 'Secret that HubSpot shows together with this client ID',
      required: true,
      when: { authType: 'oauth2' },
    }),
    // Configurations of earlier versions do not have it.
    refreshToken: secret({
      label: 'Refresh token',
      description: 'Token that HubSpot issued when the app was installed in the account; needed to move data',
      when: { authType: 'oauth2' },
    }),
  },
  check: async (context) => (await import('./check.ts')).checkHubSpot(context),
  source: {
    backfill: { by: 'times' },
    open: async (context) => (await import('./read.ts')).open(context),
    discover: {
      objectType: async (context) => (await import('./discover.ts')).discoverReadable(context),
      readAssociations: async (context) => (await import('./discover.ts')).discoverObjects(context),
      properties: async (context) => (await import('./discover.ts')).discoverProperties(context),
    },
    fields: {
      objectType,
      properties: text({
        label: 'Properties',
        description: 'Internal names of the properties to read, separated by commas: email, firstname, lifecyclestage',
        required: true,
      }),
      syncMode: syncMode(['Full', 'Incremental'], {
        description: 'Read all records each time, or only changes since the last transfer',
      }),
      overlapMinutes: number({
        keepsState: 'onward',
        label: 'Overlap in minutes',
        description: 'Minutes before the last transfer to read again, because HubSpot reports changes late',
        min: 0,
        max: 1440,
        default: 10,
        when: { syncMode: 'Incremental' },
      }),
      readAssociations: text({
        label: 'Associations',
        description: 'Object types whose associated records are listed, such as companies, deals',
      }),
      archived: boolean({
        label: 'Archived records',
        description: 'Also read records that were deleted in the last 90 days, marked in a column',
        default: false,
      }),
    },
  },
  destination: {
    discover: {
      objectType: async (context) => (await import('./discover.ts')).discoverObjects(context),
      idProperty: async (context) => (await import('./discover.ts')).discoverIdProperties(context),
      associateWith: async (context) => (await import('./discover.ts')).discoverObjects(context),
      associationLabels: async (context) => (await import('./discover.ts')).discoverLabels(context),
      listId: async (context) => (await import('./discover.ts')).discoverLists(context),
      columns: async (context) => (await import('./discover.ts')).discoverColumns(context),
    },
    erasure: {
      what: 'Deletes the contact permanently, with everything that HubSpot associates with it, within 30 days. An address that HubSpot does not know is blocked from use.',
      by: () => ['email'],
      open: async (context) => (await import('./erase.ts')).openErasure(context),
    },
    deliver: {
      batch: () => ({ rowsMax: 100, bytesMax: 2_000_000 }),
      open: async (context) => (await import('./deliver.ts')).open(context),
      inspect: async (context) => (await import('./deliver.ts')).inspect(context),
      rejectionsOf: async ({ settings }) => {
        const { readRows } = await import('./deliver.ts')
        return (batch) => readRows(batch, settings).rejected
      },
    },
    fields: {
      operation: select({
        asked: true,
        label: 'Operation',
        description: 'What to do with the records',
        options: ['upsert', 'addToList', 'removeFromList'],
        labels: {
          upsert: 'Create or update records',
          addToList: 'Create or update records, and add them to a list',
          removeFromList: 'Remove records from a list',
        },
        default: 'upsert',
      }),
      objectType,
      idProperty: text({
        asked: true,
        label: 'Identifying property',
        description: 'Unique property that identifies a record. By default email for contacts',
      }),
      emptyCells: select({
        label: 'Empty cells',
        description: 'Keep the property of the record if a cell is empty, or clear it',
        options: ['leave', 'clear'],
        labels: { leave: 'Leave the value', clear: 'Clear the value' },
        default: 'leave',
      }),
      associateWith: text({
        label: 'Associate with',
        description: 'Object type to associate the records with, such as companies',
        when: { operation: ['upsert', 'addToList'] },
      }),
      associatedProperty: text({
        label: 'Associated property',
        description: 'Unique property to find the associated records by. By default their ID in HubSpot',
        when: { operation: ['upsert', 'addToList'] },
      }),
      associationColumn: text({
        label: 'Association column',
        description:
          'Column with the values of this property, separated by semicolons. It is not written as a property',
        when: { operation: ['upsert', 'addToList'] },
      }),
      associationLabels: text({
        label: 'Association labels',
        description: 'Labels for the associations, such as Decision maker, separated by semicolons. By default none',
        when: { operation: ['upsert', 'addToList'] },
      }),
      listId: text({
        asked: true,
        label: 'List ID',
        description: 'ID of a static list (segment) of this object type',
        required: true,
        when: toList,
      }),
    },
  },
})
