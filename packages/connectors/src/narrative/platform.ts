import { definePlatform } from '@penstock/connector'

export const narrative = definePlatform({ slug: 'narrative', name: 'Narrative', type: 'Data Provider' })
