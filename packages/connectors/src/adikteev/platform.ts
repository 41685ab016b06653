import { definePlatform } from '@penstock/connector'

export const adikteev = definePlatform({ slug: 'adikteev', name: 'Adikteev', type: 'Demand-Side Platform (DSP)' })
