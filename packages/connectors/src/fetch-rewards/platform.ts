import { definePlatform } from '@penstock/connector'

export const fetchRewards = definePlatform({ slug: 'fetch-rewards', name: 'Fetch Rewards', type: 'Data Provider' })
