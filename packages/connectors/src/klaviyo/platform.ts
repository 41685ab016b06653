import { definePlatform } from '@penstock/connector'

export const klaviyoPlatform = definePlatform({
  slug: 'klaviyo',
  name: 'Klaviyo',
  type: 'Customer Data Platform (CDP)',
  prepare: [
    'A private API key with full access to profiles, lists and events, and read access to accounts: Klaviyo › Settings › API keys.',
    'For a list, its ID: in the address of the list.',
  ],
})
