import { definePlatform } from '@penstock/connector'

export const pandora = definePlatform({
  slug: 'pandora',
  name: 'Pandora',
  type: 'Media Management System',
  icon: 'pandora',
})
