import { identityMap, useOfMap } from './identity-map.ts'
import { euid } from './platform.ts'

/** E-mail addresses and phone numbers, translated into raw EUIDs. */
export const euidIdentityMap = identityMap({
  slug: 'euid-identity-map',
  name: 'EUID Identity Map',
  short: 'EUID',
  platform: euid,
  description:
    'Translates e-mail addresses and phone numbers into raw EUIDs, the European form of UID2, recorded as outcomes.',
  notes: `${useOfMap} EUID expects that every person agreed, by the TCF: require a consent purpose in the connection. The hosts are from its public documents, to be confirmed with your keys.`,
  hosts: { production: 'prod.euid.eu', test: 'integ.euid.eu' },
  hostLabels: { production: 'Production', test: 'Test environment' },
})
