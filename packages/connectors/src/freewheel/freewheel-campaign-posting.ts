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
  status: 'withdrawn',
  withdrawn: {
    why: 'The public interface of FreeWheel for campaigns signs in with a user name and a password, and not with a client ID and a secret key; which campaign data FreeWheel takes with these is described to customers under contract only.',
    instead:
      'Post each campaign to an address of yours with the Webhook, or leave files with the SFTP Destination where FreeWheel collects them.',
  },
  description: 'Sends the data of your campaigns to FreeWheel.',
  secrets: credentials,
  destination: {},
})
