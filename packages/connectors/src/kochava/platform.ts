import { definePlatform } from '@penstock/connector'

export const kochava = definePlatform({ slug: 'kochava', name: 'Kochava', type: 'Data Provider' })
