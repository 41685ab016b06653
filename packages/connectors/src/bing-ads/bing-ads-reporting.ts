import { defineConnector, secret, text } from '@penstock/connector'
import { bingAds } from './platform.ts'

/** Reports of Bing Ads. */
export const bingAdsReporting = defineConnector({
  slug: 'bing-ads-reporting',
  name: 'Bing Ads Reporting',
  platform: bingAds,
  dataType: 'reporting',
  dataTypeCategory: 'reporting',
  status: 'preview',
  description: 'Reads the cost and the performance of ads from Bing Ads.',
  secrets: {
    clientId: text({
      label: 'Client ID',
      description: 'ID of the application that you registered for Bing Ads',
      required: true,
    }),
    clientSecret: secret({
      label: 'Client secret',
      description: 'Secret of that application',
      required: true,
    }),
    refreshToken: secret({
      label: 'Refresh token',
      description: 'Refresh token from the OAuth sign-in to Bing Ads',
      required: true,
    }),
  },
  source: {},
})
