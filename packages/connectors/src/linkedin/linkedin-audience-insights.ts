import { defineConnector, secret, text } from '@penstock/connector'
import { linkedin } from './platform.ts'

/** LinkedIn's data about the composition of an audience. */
export const linkedinAudienceInsights = defineConnector({
  slug: 'linkedin-audience-insights',
  name: 'LinkedIn Audience Insights',
  platform: linkedin,
  dataType: 'Insights',
  dataTypeCategory: 'reporting',
  status: 'preview',
  description: 'Reads from LinkedIn who is in a target audience and which companies they work for.',
  secrets: {
    clientId: text({
      label: 'Client ID',
      description: 'ID of the app that you registered at LinkedIn',
      required: true,
    }),
    clientSecret: secret({
      label: 'Client secret',
      description: 'Secret that LinkedIn shows together with this client ID',
      required: true,
    }),
    refreshToken: secret({
      label: 'Refresh token',
      description: 'Refresh token from the OAuth sign-in to LinkedIn',
      required: true,
    }),
  },
  source: {},
})
