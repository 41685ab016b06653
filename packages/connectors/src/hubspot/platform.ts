import { definePlatform } from '@penstock/connector'

export const hubspot = definePlatform({
  slug: 'hubspot',
  name: 'HubSpot',
  type: 'CRM Platform',
  prepare: [
    'A HubSpot user who is a super admin, or the token of a private app: Settings › Integrations › Private apps.',
    'The scopes of the objects that you move, such as `crm.objects.contacts.write`.',
  ],
  alsoCalled: ['crm', 'hub spot'],
  icon: 'hubspot',
})
