import { defineConnector, number, select, text } from '@penstock/connector'
import { client } from './client.ts'
import { salesforceMarketingCloud } from './platform.ts'

/** Rows for data extensions of Marketing Cloud, and the extensions themselves. */
export const salesforceMarketingCloudDataExtensions = defineConnector({
  slug: 'salesforce-marketing-cloud-data-extensions',
  name: 'Salesforce Marketing Cloud Data Extensions',
  platform: salesforceMarketingCloud,
  dataType: 'audiences',
  dataTypeCategory: 'audience activation',
  description:
    'Writes customer rows to data extensions of Marketing Cloud in bulk, and creates, changes or deletes the extensions.',
  actions: ['add', 'create', 'update', 'delete'],
  notes:
    'Columns must have exactly the names of the data extension, in the same case. Every row needs the key columns and those that must not be null; empty cells change nothing. At least one valid row must be sent, even for a deletion, which needs rows only to start and counts them. Insert refuses rows whose key already exists, including those that the same batch wrote before a crash; use Upsert to overwrite them. Marketing Cloud processes rows later and reports the result of each: a batch waits for the results before it is counted. Create uses the columns in Schema JSON, or writes to an existing data extension of the same name. Update changes the name and the folder, not the columns. The installed package needs a server-to-server API integration with the scopes Data Extensions Read and Write. Record consent yourself, in columns of the data extension.',
  tested:
    'Our own test server, which follows Salesforce’s published documentation of its REST API; not Marketing Cloud itself.',
  api: { version: 'REST v1, tokens v2', ends: 'No end is known.' },
  secrets: {
    ...client,
    subdomain: text({
      label: 'Subdomain',
      description:
        'Part of the authentication base URI before its first dot, which checks use to sign in. If it is set, connections cannot use another subdomain',
      binds: ['clientSecret'],
    }),
  },
  check: async (context) => (await import('./check.ts')).checkMarketingCloud(context),
  destination: {
    discover: {
      dataExtensionKey: async (context) => (await import('./discover.ts')).discoverDataExtensions(context),
      columns: async (context) => (await import('./discover.ts')).discoverColumns(context),
    },
    deliver: {
      batch: () => ({ rowsMax: 10_000, bytesMax: 3_000_000 }),
      open: async (context) => (await import('./deliver-data-extensions.ts')).open(context),
      rejectionsOf: async ({ settings }) => {
        const { readRows } = await import('./deliver-data-extensions.ts')
        // A deletion sends no row.
        return (batch) => (settings.operationType === 'Delete' ? [] : readRows(batch).rejected)
      },
      inspect: async (context) => (await import('./deliver-data-extensions.ts')).inspect(context),
    },
    fields: {
      operationType: select({
        asked: true,
        label: 'Operation type',
        description: 'Whether to create, change or delete the data extension, or to add rows to it',
        options: ['Create', 'Update', 'Delete', 'Add Data'],
        required: true,
      }),
      apiType: select({
        asked: true,
        label: 'API type',
        description: 'Only insert rows, or also overwrite rows with the same key',
        options: ['Insert', 'Upsert'],
      }),
      subdomain: text({
        label: 'Subdomain',
        description: 'Part of the authentication base URI before its first dot',
        required: true,
        binds: ['clientSecret'],
      }),
      dataExtensionName: text({
        asked: true,
        label: 'Data extension name',
        description: 'Current or new name of the data extension',
        required: true,
        when: { operationType: ['Create', 'Update'] },
      }),
      dataExtensionKey: text({
        asked: true,
        label: 'Data extension key',
        description: 'External key of an existing data extension',
        required: true,
        when: { operationType: ['Update', 'Delete', 'Add Data'] },
      }),
      categoryId: text({
        label: 'Category ID',
        description: 'ID of the folder of the data extension',
        required: true,
        when: { operationType: ['Create', 'Update'] },
      }),
      schemaJson: text({ label: 'Schema JSON', description: 'Definitions of the columns, as a JSON array' }),
      resultWaitSeconds: number({
        keepsState: 'pace',
        label: 'Wait for results (seconds)',
        description: 'How long each batch waits for the results of Marketing Cloud before it is retried',
        min: 0,
        max: 3600,
        default: 300,
      }),
    },
  },
})
