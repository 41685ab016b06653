import { defineConnector } from '@penstock/connector'
import { credentials } from './credentials.ts'
import { freewheel } from './platform.ts'

/** Campaigns handed to FreeWheel. */
export const freewheelCampaignPosting = defineConnector({
  slug: 'freewheel-campaign-posting',
  name: 'FreeWheel Campaign Posting',
  platform: freewheel,
  dataType: 'campaign posting',
  dataTypeCategory: 'campaign management',
  status: 'preview',
  description: 'Sends the data of your campaigns to FreeWheel.',
  secrets: credentials,
  destination: {},
})
