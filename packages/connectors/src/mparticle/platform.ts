import { definePlatform } from '@penstock/connector'

export const mparticle = definePlatform({
  slug: 'mparticle',
  name: 'mParticle',
  type: 'Customer Data Platform (CDP)',
  alsoCalled: ['cdp'],
})
