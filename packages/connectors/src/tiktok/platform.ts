import { definePlatform } from '@penstock/connector'

export const tiktok = definePlatform({ slug: 'tiktok', name: 'TikTok', type: 'Social Media Platform', icon: 'tiktok' })
