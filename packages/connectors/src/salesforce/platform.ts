import { definePlatform } from '@penstock/connector'

export const salesforce = definePlatform({
  slug: 'salesforce',
  name: 'Salesforce',
  type: 'CRM Platform',
  prepare: [
    'A user with the permission “API Enabled”, and read or edit access to the objects: Setup › Users › Permission Sets.',
    'The address of your org, such as `https://example.my.salesforce.com`: Setup › My Domain.',
  ],
  alsoCalled: ['crm', 'sfdc'],
})
