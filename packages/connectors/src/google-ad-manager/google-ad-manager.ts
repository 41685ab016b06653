import { defineConnector } from '@penstock/connector'
import { googleSignIn } from '../google/sign-in.ts'
import { googleAdManagerPlatform } from './platform.ts'

/** Inventory, orders and reports of a publisher’s ad server. */
export const googleAdManager = defineConnector({
  slug: 'google-ad-manager',
  name: 'Google Ad Manager',
  platform: googleAdManagerPlatform,
  dataType: 'ads management',
  dataTypeCategory: 'campaign management',
  description: 'Reads inventory, orders and reports from the Google Ad Manager network of a publisher.',
  secrets: googleSignIn('a user of Ad Manager'),
  source: {},
})
