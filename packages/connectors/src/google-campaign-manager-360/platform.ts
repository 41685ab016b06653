import { definePlatform } from '@penstock/connector'

export const googleCampaignManager360 = definePlatform({
  slug: 'google-campaign-manager-360',
  name: 'Google Campaign Manager 360',
  type: 'Media Management System',
  icon: 'googlecampaignmanager360',
  alsoCalled: ['cm360', 'dcm', 'doubleclick'],
})
