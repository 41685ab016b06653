import { column, defineConnector } from '@penstock/connector'
import { xTwitter } from './platform.ts'
import { signIn } from './sign-in.ts'

/** Result figures of what is promoted on X. */
export const xAdAnalytics = defineConnector({
  slug: 'x-ad-analytics',
  name: 'X (Twitter) Ad Analytics',
  platform: xTwitter,
  dataType: 'ads analytics',
  dataTypeCategory: 'reporting',
  status: 'preview',
  description: 'Reads the performance of the posts that you promote on X.',
  secrets: signIn,
  source: {
    records: {
      impressions: column({ description: 'How often the ad was shown' }),
      clicks: column({ description: 'Number of clicks' }),
      videoViews: column({ description: 'How often the video was viewed' }),
      spend: column({ description: 'Money spent' }),
    },
  },
})
