import { defineConnector } from '@penstock/connector'
import { googleSignIn } from '../google/sign-in.ts'
import { displayVideo360 } from './platform.ts'

/** Reports of Display & Video 360. */
export const dv360Reporting = defineConnector({
  slug: 'dv360-reporting',
  name: 'Display & Video 360 Reporting',
  platform: displayVideo360,
  dataType: 'reporting',
  dataTypeCategory: 'reporting',
  description: 'Reads the performance of campaigns and how often people saw them from Display & Video 360.',
  actions: ['get'],
  notes: 'The user who signs in needs read access only.',
  secrets: googleSignIn('a user of Display & Video 360'),
  source: {},
})
