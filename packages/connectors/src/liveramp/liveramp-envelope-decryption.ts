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
  status: 'withdrawn',
  withdrawn: {
    why: 'LiveRamp answers each request to decrypt an envelope with a RampID and keeps nothing, so that a destination would have nowhere to put the answers.',
    instead:
      'Decrypt envelopes where you receive them, write the RampIDs to a table, and read it with the Snowflake Source or PostgreSQL.',
  },
  description: 'Decrypts identity envelopes at LiveRamp into RampIDs in the encoding of one partner.',
  secrets: credentials,
  destination: {},
})
