import { definePlatform } from '@penstock/connector'

export const activeCampaignPlatform = definePlatform({
  slug: 'activecampaign',
  name: 'ActiveCampaign',
  type: 'CRM Platform',
  alsoCalled: ['active campaign'],
})
