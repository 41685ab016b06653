import { definePlatform } from '@penstock/connector'

export const googleAdManagerPlatform = definePlatform({
  slug: 'google-ad-manager',
  name: 'Google Ad Manager',
  type: 'Supply-Side Platform (SSP)',
  prepare: [
    'A Google user with API access to the network: Ad Manager › Admin › Access and authorization. An administrator turns API access on in Admin › Global settings.',
    'The network code: Ad Manager › Admin › Global settings.',
  ],
  alsoCalled: ['gam', 'dfp', 'admanager'],
})
