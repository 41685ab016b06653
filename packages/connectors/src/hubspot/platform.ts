import { definePlatform } from '@penstock/connector'

export const hubspot = definePlatform({
  slug: 'hubspot',
  name: 'HubSpot',
  type: 'CRM Platform',
  alsoCalled: ['crm', 'hub spot'],
  icon: 'hubspot',
})
