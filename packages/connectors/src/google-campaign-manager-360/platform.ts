import { definePlatform } from '@penstock/connector'

export const googleCampaignManager360 = definePlatform({
  slug: 'google-campaign-manager-360',
  name: 'Google Campaign Manager 360',
  type: 'Media Management System',
  prepare: [
    'A Google user with a profile in the account: Campaign Manager 360 › Admin › User profiles. The role must be allowed to insert offline conversions.',
    'The profile ID: the ID of this user profile.',
    'The Floodlight configuration ID and activity ID: Floodlight › Activities.',
  ],
  icon: 'googlecampaignmanager360',
  alsoCalled: ['cm360', 'dcm', 'doubleclick'],
})
