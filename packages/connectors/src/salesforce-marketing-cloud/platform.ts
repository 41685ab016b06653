import { definePlatform } from '@penstock/connector'

export const salesforceMarketingCloud = definePlatform({
  slug: 'salesforce-marketing-cloud',
  name: 'Salesforce Marketing Cloud',
  type: 'CRM Platform',
  alsoCalled: ['sfmc', 'marketing cloud', 'exacttarget'],
})
