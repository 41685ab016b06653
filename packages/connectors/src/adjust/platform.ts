import { definePlatform } from '@penstock/connector'

export const adjust = definePlatform({
  slug: 'adjust',
  name: 'Adjust',
  type: 'Data Provider',
  alsoCalled: ['attribution', 'installs', 'mmp', 'mobile measurement', 'postbacks'],
})
