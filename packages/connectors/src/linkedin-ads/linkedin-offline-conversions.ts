import { defineConnector } from '@penstock/connector'
import { linkedinAds } from './platform.ts'
import { signIn } from './sign-in.ts'

/** Conversions that your own servers report to LinkedIn. */
export const linkedinOfflineConversions = defineConnector({
  slug: 'linkedin-offline-conversions',
  name: 'LinkedIn Offline Conversions',
  platform: linkedinAds,
  dataType: 'offline conversions',
  dataTypeCategory: 'events',
  description: 'Reports conversions to LinkedIn from your own servers.',
  secrets: signIn,
  destination: {},
})
