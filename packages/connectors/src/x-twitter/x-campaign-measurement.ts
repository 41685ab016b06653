import { defineConnector } from '@penstock/connector'
import { xTwitter } from './platform.ts'
import { signIn } from './sign-in.ts'

/** Campaigns and ads on X. */
export const xCampaignMeasurement = defineConnector({
  slug: 'x-campaign-measurement',
  name: 'X (Twitter) Campaign Measurement',
  platform: xTwitter,
  dataType: 'ads analytics',
  dataTypeCategory: 'reporting',
  status: 'preview',
  description: 'Reads your campaigns and ads on X through its campaign management APIs.',
  secrets: signIn,
  source: {},
})
