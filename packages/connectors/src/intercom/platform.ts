import { definePlatform } from '@penstock/connector'

export const intercomPlatform = definePlatform({
  slug: 'intercom',
  name: 'Intercom',
  type: 'CRM Platform',
  prepare: [
    'An access token: Intercom › Settings › Integrations › Developer Hub › your app › Configure › Authentication.',
  ],
  icon: 'intercom',
})
