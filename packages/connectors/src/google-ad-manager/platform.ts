import { definePlatform } from '@penstock/connector'

export const googleAdManagerPlatform = definePlatform({
  slug: 'google-ad-manager',
  name: 'Google Ad Manager',
  type: 'Supply-Side Platform (SSP)',
  alsoCalled: ['gam', 'dfp', 'admanager'],
})
