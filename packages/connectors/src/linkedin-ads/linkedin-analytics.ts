import { defineConnector } from '@penstock/connector'
import { linkedinAds } from './platform.ts'
import { signIn } from './sign-in.ts'

/** Figures on ads at LinkedIn and the people who saw them. */
export const linkedinAnalytics = defineConnector({
  slug: 'linkedin-analytics',
  name: 'LinkedIn Analytics',
  platform: linkedinAds,
  dataType: 'analytics',
  dataTypeCategory: 'reporting',
  description: 'Reads how ads on LinkedIn performed and which audiences they reached.',
  secrets: signIn,
  source: {},
})
