import { definePlatform } from '@penstock/connector'

export const salesforce = definePlatform({
  slug: 'salesforce',
  name: 'Salesforce',
  type: 'CRM Platform',
  alsoCalled: ['crm', 'sfdc'],
})
