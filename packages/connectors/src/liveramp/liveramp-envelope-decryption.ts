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
  description: 'Decrypts identity envelopes at LiveRamp into RampIDs in the encoding of one partner.',
  secrets: credentials,
  destination: {},
})
