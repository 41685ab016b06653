import { defineConnector } from '@penstock/connector'
import { credentials } from './credentials.ts'
import { liveRamp } from './platform.ts'

/** Identity envelopes of LiveRamp, opened for one partner. */
export const liverampEnvelopeDecryption = defineConnector({
  slug: 'liveramp-envelope-decryption',
  name: 'LiveRamp Envelope Decryption',
  platform: liveRamp,
  dataType: 'identity management',
  dataTypeCategory: 'identity management',
  status: 'preview',
  description: 'Has LiveRamp open identity envelopes, which gives RampIDs in the encoding of a single partner.',
  secrets: credentials,
  destination: {},
})
