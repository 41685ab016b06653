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
  description: 'Reads from Bing Ads what was spent and how the ads performed.',
  secrets: {
    clientId: text({
      label: 'Client ID',
      description: 'ID of the application that you have registered for Bing Ads',
      required: true,
    }),
    clientSecret: secret({
      label: 'Client secret',
      description: 'Secret of that application',
      required: true,
    }),
    refreshToken: secret({
      label: 'Refresh token',
      description: 'Token from the sign-in with which access to Bing Ads is extended',
      required: true,
    }),
  },
  source: {},
})
