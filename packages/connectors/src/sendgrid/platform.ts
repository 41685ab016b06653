import { definePlatform } from '@penstock/connector'

export const sendgridPlatform = definePlatform({
  slug: 'sendgrid',
  name: 'SendGrid',
  type: 'Customer Data Platform (CDP)',
  prepare: [
    'An API key with access to Marketing: SendGrid › Settings › API keys.',
    'For a list, its ID: the last part of the address of the list.',
  ],
  alsoCalled: ['twilio'],
})
