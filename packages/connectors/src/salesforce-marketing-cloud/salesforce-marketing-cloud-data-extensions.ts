import { defineConnector, secret, select, text } from '@penstock/connector'
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
    'Columns must be named exactly as in the data extension, in the same case. Every row needs the key columns and those that may not be null. At least one valid row has to be sent, even for a deletion. Insert refuses rows whose key is already there; choose Upsert to overwrite them.',
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
  },
  destination: {
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
    },
  },
})
