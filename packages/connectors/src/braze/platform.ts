import { definePlatform } from '@penstock/connector'

export const brazePlatform = definePlatform({
  slug: 'braze',
  name: 'Braze',
  type: 'Customer Data Platform (CDP)',
  prepare: [
    'The REST endpoint of your instance: Braze › Settings › APIs and identifiers.',
    'A REST API key with the permissions users.track and users.delete: Settings › APIs and identifiers › API keys.',
  ],
})
