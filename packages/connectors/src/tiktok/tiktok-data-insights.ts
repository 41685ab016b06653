import { defineConnector, secret, text } from '@penstock/connector'
import { tiktok } from './platform.ts'

/** Trends, engagement and results on TikTok. */
export const tiktokDataInsights = defineConnector({
  slug: 'tiktok-data-insights',
  name: 'TikTok Data Insights',
  platform: tiktok,
  dataType: 'Insights',
  dataTypeCategory: 'reporting',
  status: 'withdrawn',
  withdrawn: {
    why: 'No public document of TikTok describes insights besides those of its ad reports.',
    instead: 'Read the performance of campaigns, ad groups and ads with TikTok Ad Measurement.',
  },
  description: 'Reads the trends, the engagement and the performance of campaigns on TikTok.',
  secrets: {
    clientId: text({
      label: 'Client ID',
      description: 'ID of the app that you registered with TikTok',
      required: true,
    }),
    clientSecret: secret({
      label: 'Client secret',
      description: 'Secret that belongs to the client ID',
      required: true,
    }),
    refreshToken: secret({
      label: 'Refresh token',
      description: 'Long-lived token that renews access to TikTok',
      required: true,
    }),
  },
  source: {},
})
