import { defineConnector, secret, text } from '@penstock/connector'
import { xAds } from './platform.ts'

/** Audience lists for X. */
export const xCustomAudiences = defineConnector({
  slug: 'x-custom-audiences',
  name: 'X Custom Audiences',
  platform: xAds,
  dataType: 'Custom Audiences',
  dataTypeCategory: 'audience activation',
  description: 'Delivers lists of people to X (Twitter), so that ads can be aimed at them.',
  secrets: {
    clientId: text({ label: 'Client ID', description: 'ID of your OAuth app at X', required: true }),
    clientSecret: secret({
      label: 'Client secret',
      description: 'Secret that belongs to the client ID',
      required: true,
    }),
    refreshToken: secret({
      label: 'Refresh token',
      description: 'Token with which access to X is renewed',
      required: true,
    }),
  },
  destination: {},
})
