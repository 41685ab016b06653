import { defineConnector, secret, text } from '@penstock/connector'
import { microsoftAdvertising } from './platform.ts'

/** Offline conversions for campaigns of Microsoft Advertising. */
export const microsoftAdsEvents = defineConnector({
  slug: 'microsoft-ads-events',
  name: 'Microsoft Advertising Events',
  platform: microsoftAdvertising,
  dataType: 'events',
  dataTypeCategory: 'events',
  description: 'Reports conversions that happened offline, so that Bing campaigns are credited with them.',
  secrets: {
    clientId: text({ label: 'Client ID', description: 'ID of your OAuth app at Microsoft', required: true }),
    clientSecret: secret({
      label: 'Client secret',
      description: 'Secret that belongs to the client ID',
      required: true,
    }),
    refreshToken: secret({
      label: 'Refresh token',
      description: 'Token with which access to Microsoft Advertising is renewed',
      required: true,
    }),
  },
  destination: {},
})
