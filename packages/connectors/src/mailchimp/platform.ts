import { definePlatform } from '@penstock/connector'

export const mailchimpPlatform = definePlatform({
  slug: 'mailchimp',
  name: 'Mailchimp',
  type: 'Customer Data Platform (CDP)',
  icon: 'mailchimp',
  prepare: [
    'An API key: Mailchimp › Profile › Extras › API keys.',
    'The audience ID: Audience › Settings › Audience name and defaults.',
  ],
})
