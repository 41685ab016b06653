import { definePlatform } from '@penstock/connector'

export const freewheel = definePlatform({ slug: 'freewheel', name: 'FreeWheel', type: 'Supply-Side Platform (SSP)' })
