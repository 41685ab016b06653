import { defineConnector, number, secret, select, text } from '@penstock/connector'
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
    'Columns must be named exactly as in the data extension, in the same case. Every row needs the key columns and those that may not be null; empty cells leave what is there. At least one valid row has to be sent, even for a deletion, which needs rows only to start and counts them. Insert refuses rows whose key is already there, also those that the same batch had brought before a crash; choose Upsert to overwrite them. Marketing Cloud processes rows later and says of each what became of it: a batch waits for that, and is not counted before. Create takes the columns from Schema JSON and writes to a data extension of the same name where there is one; Update changes its name and its folder, not its columns. The installed package needs an API integration from server to server with the scopes Data Extensions Read and Write. Consent is yours to record, in columns of your own.',
  tested: 'Our own test server, which follows what Salesforce publishes of its REST API; not Marketing Cloud itself.',
  api: { version: 'REST v1, tokens v2', ends: 'No end is known.' },
  secrets: {
    clientId: text({
      label: 'Client ID',
      description: 'ID of the client, from the package that you installed',
      required: true,
    }),
    clientSecret: secret({
      label: 'Client secret',
      description: 'Secret of the client, from the same package',
      required: true,
    }),
    subdomain: text({
      label: 'Subdomain',
      description: 'Part of the authentication base URI before its first dot, with which a check tries the client',
      binds: ['clientSecret'],
    }),
  },
  check: async (context) => (await import('./check.ts')).checkMarketingCloud(context),
  destination: {
    deliver: {
      batch: () => ({ rowsMax: 10_000, bytesMax: 3_000_000 }),
      open: async (context) => (await import('./deliver-data-extensions.ts')).open(context),
      inspect: async (context) => (await import('./deliver-data-extensions.ts')).inspect(context),
    },
    fields: {
      operationType: select({
        label: 'Operation type',
        description: 'Whether the data extension is made, changed, deleted or given rows',
        options: ['Create', 'Update', 'Delete', 'Add Data'],
        required: true,
      }),
      apiType: select({
        label: 'API type',
        description: 'Whether rows are only inserted or also overwrite those with the same key',
        options: ['Insert', 'Upsert'],
      }),
      subdomain: text({
        label: 'Subdomain',
        description: 'Part of the authentication base URI before its first dot',
        required: true,
      }),
      dataExtensionName: text({
        label: 'Data extension name',
        description: 'Name that the data extension carries or shall carry',
        required: true,
        when: { operationType: ['Create', 'Update'] },
      }),
      dataExtensionKey: text({
        label: 'Data extension key',
        description: 'External key of a data extension that already exists',
        required: true,
        when: { operationType: ['Update', 'Delete', 'Add Data'] },
      }),
      categoryId: text({
        label: 'Category ID',
        description: 'ID of the folder in which the data extension is kept',
        required: true,
        when: { operationType: ['Create', 'Update'] },
      }),
      schemaJson: text({ label: 'Schema JSON', description: 'Definitions of the columns, as a JSON array' }),
      resultWaitSeconds: number({
        label: 'Wait for results (seconds)',
        description:
          'How long each batch waits for Marketing Cloud to say which rows it took, before it is tried again',
        min: 0,
        max: 3600,
        default: 300,
      }),
    },
  },
})
