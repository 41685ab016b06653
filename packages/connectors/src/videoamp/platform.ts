import { definePlatform } from '@penstock/connector'

export const videoamp = definePlatform({ slug: 'videoamp', name: 'VideoAmp', type: 'Media Management System' })
