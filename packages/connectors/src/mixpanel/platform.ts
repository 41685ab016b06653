import { definePlatform } from '@penstock/connector'

export const mixpanelPlatform = definePlatform({
  slug: 'mixpanel',
  name: 'Mixpanel',
  type: 'Customer Data Platform (CDP)',
  prepare: [
    'A service account with the role Admin of the project: Mixpanel › Settings › Service accounts.',
    'The project ID and the project token: Settings › Project settings.',
  ],
  icon: 'mixpanel',
})
