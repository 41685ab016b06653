import { defineConnector } from '@penstock/connector'
import { displayVideo360 } from './platform.ts'
import { signIn } from './sign-in.ts'

/** Reports of Display & Video 360. */
export const dv360Reporting = defineConnector({
  slug: 'dv360-reporting',
  name: 'Display & Video 360 Reporting',
  platform: displayVideo360,
  dataType: 'reporting',
  dataTypeCategory: 'reporting',
  description: 'Reads from Display & Video 360 how campaigns performed and how often people saw them.',
  actions: ['get'],
  notes: 'For the user who signs in, permission to read is enough.',
  secrets: signIn,
  source: {},
})
