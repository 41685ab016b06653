import { definePlatform } from '@penstock/connector'

export const radar = definePlatform({
  slug: 'radar',
  name: 'Radar',
  type: 'Data Provider',
  icon: 'radar',
  alsoCalled: ['geofence', 'geofencing', 'location', 'places', 'radar.io'],
})
