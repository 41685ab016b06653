import { definePlatform } from '@penstock/connector'

export const meta = definePlatform({
  slug: 'meta',
  name: 'Meta',
  type: 'Social Media Platform',
  icon: 'meta',
  alsoCalled: ['facebook', 'instagram', 'fb'],
})
