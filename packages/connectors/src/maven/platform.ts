import { definePlatform } from '@penstock/connector'

export const maven = definePlatform({ slug: 'maven', name: 'Maven', type: 'Media Management System' })
