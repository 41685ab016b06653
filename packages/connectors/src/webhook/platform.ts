import { definePlatform } from '@penstock/connector'

export const webhookPlatform = definePlatform({
  slug: 'webhook',
  name: 'Webhook',
  type: 'Customer Data Platform (CDP)',
  alsoCalled: ['http', 'rest', 'api', 'custom', 'endpoint'],
})
