import { definePlatform } from '@penstock/connector'

export const liveRamp = definePlatform({
  slug: 'liveramp',
  name: 'LiveRamp',
  type: 'Identity Management',
  alsoCalled: ['rampid', 'live ramp'],
})
