import { defineConnector, secret, text } from '@penstock/connector'
import { googleAdManagerPlatform } from './platform.ts'

/** Inventory, orders and reports of a publisher’s ad server. */
export const googleAdManager = defineConnector({
  slug: 'google-ad-manager',
  name: 'Google Ad Manager',
  platform: googleAdManagerPlatform,
  dataType: 'ads management',
  dataTypeCategory: 'campaign management',
  description: 'Reads inventory, orders and reports from the Google Ad Manager network of a publisher.',
  secrets: {
    clientId: text({
      label: 'Client ID',
      description: 'ID of an OAuth client in your Google Cloud project',
      required: true,
    }),
    clientSecret: secret({
      label: 'Client secret',
      description: 'Secret of that OAuth client',
      required: true,
    }),
    refreshToken: secret({
      label: 'Refresh token',
      description: 'Token that Google granted to a user of Ad Manager at sign-in',
      required: true,
    }),
  },
  source: {},
})
