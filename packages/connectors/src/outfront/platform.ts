import { definePlatform } from '@penstock/connector'

export const outfront = definePlatform({ slug: 'outfront', name: 'Outfront', type: 'Supply-Side Platform (SSP)' })
