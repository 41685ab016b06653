import { definePlatform } from '@penstock/connector'

export const nielsen = definePlatform({ slug: 'nielsen', name: 'Nielsen', type: 'Data Provider' })
