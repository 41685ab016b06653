import { defineConnector, secret, text } from '@penstock/connector'
import { adobe } from './platform.ts'

/** Segments of Adobe Audience Manager, in both directions. */
export const adobeAudienceManager = defineConnector({
  slug: 'adobe-audience-manager',
  name: 'Adobe Audience Segments',
  platform: adobe,
  dataType: 'audience DMP segments',
  dataTypeCategory: 'audience activation',
  status: 'preview',
  description:
    'Reads audience segments from Adobe Audience Manager and delivers segments to it, with the same credentials.',
  secrets: {
    clientId: text({
      label: 'Client ID',
      description: 'ID of the application that you registered at Adobe',
      required: true,
    }),
    clientSecret: secret({
      label: 'Client secret',
      description: 'Secret that Adobe shows together with this client ID',
      required: true,
    }),
    refreshToken: secret({
      label: 'Refresh token',
      description: 'Refresh token from the OAuth sign-in to Adobe',
      required: true,
    }),
  },
  source: {},
  destination: {},
})
