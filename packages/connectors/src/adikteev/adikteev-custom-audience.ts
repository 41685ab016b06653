import { defineConnector } from '@penstock/connector'
import { adikteev } from './platform.ts'
import { signIn } from './sign-in.ts'

/** Segments of app users for retargeting by Adikteev. */
export const adikteevCustomAudience = defineConnector({
  slug: 'adikteev-custom-audience',
  name: 'Adikteev Custom Audience',
  platform: adikteev,
  dataType: 'Custom Audiences',
  dataTypeCategory: 'audience activation',
  status: 'withdrawn',
  withdrawn: {
    why: 'Adikteev publishes no description of how it takes audiences: that is part of each contract.',
    instead:
      'Send the file that was agreed with the SFTP Destination or the Amazon S3 Destination, or each row with the Webhook.',
  },
  description: 'Delivers the audience segments of an advertiser to Adikteev, which retargets them in apps.',
  secrets: signIn,
  destination: {},
})
