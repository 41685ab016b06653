import { definePlatform } from '@penstock/connector'

export const spotify = definePlatform({
  slug: 'spotify',
  name: 'Spotify',
  type: 'Media Management System',
  alsoCalled: ['spotify ads'],
  icon: 'spotify',
})
