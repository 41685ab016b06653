import { defineConnector, secret, text } from '@penstock/connector'
import { linkedin } from './platform.ts'

/** What LinkedIn knows about the make-up of an audience. */
export const linkedinAudienceInsights = defineConnector({
  slug: 'linkedin-audience-insights',
  name: 'LinkedIn Audience Insights',
  platform: linkedin,
  dataType: 'Insights',
  dataTypeCategory: 'reporting',
  status: 'preview',
  description:
    'Reads from LinkedIn what kind of people a target audience is made of and which employers they work for.',
  secrets: {
    clientId: text({
      label: 'Client ID',
      description: 'ID of the app that you have registered at LinkedIn',
      required: true,
    }),
    clientSecret: secret({
      label: 'Client secret',
      description: 'Secret that LinkedIn shows together with this client ID',
      required: true,
    }),
    refreshToken: secret({
      label: 'Refresh token',
      description: 'Token from the sign-in with which access to LinkedIn is extended',
      required: true,
    }),
  },
  source: {},
})
