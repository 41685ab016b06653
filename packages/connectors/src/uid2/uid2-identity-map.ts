import { identityMap, useOfMap } from './identity-map.ts'
import { uid2 } from './platform.ts'

/** E-mail addresses and phone numbers, translated into raw UID2s. */
export const uid2IdentityMap = identityMap({
  slug: 'uid2-identity-map',
  name: 'UID2 Identity Map',
  short: 'UID2',
  platform: uid2,
  description: 'Translates e-mail addresses and phone numbers into raw UID2s, which are recorded as outcomes.',
  notes: `${useOfMap} Requests are encrypted with the client secret; UID2 refuses one that is older than a minute, so the clock of this machine must be right.`,
  hosts: {
    production: 'prod.uidapi.com',
    australia: 'au.prod.uidapi.com',
    japan: 'jp.prod.uidapi.com',
    singapore: 'sg.prod.uidapi.com',
    'us-west': 'usw.prod.uidapi.com',
    global: 'global.prod.uidapi.com',
    test: 'operator-integ.uidapi.com',
  },
  hostLabels: {
    production: 'Production, US East',
    australia: 'Production, Australia',
    japan: 'Production, Japan',
    singapore: 'Production, Singapore',
    'us-west': 'Production, US West',
    global: 'Production, closest region',
    test: 'Test environment',
  },
})
