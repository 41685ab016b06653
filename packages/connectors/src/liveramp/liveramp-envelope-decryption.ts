import { wrong } from '../platform-api/rows/events.ts'
import { identityLookup } from './identity-api.ts'

const envelopeLengthMax = 4_000

/** Identity envelopes, decrypted into RampIDs. */
export const liverampEnvelopeDecryption = identityLookup({
  slug: 'liveramp-envelope-decryption',
  name: 'LiveRamp Envelope Decryption',
  dataType: 'identity management',
  description:
    'Decrypts identity envelopes at LiveRamp into RampIDs in the encoding of one partner, recorded as outcomes.',
  notes:
    'A row has one envelope of the Authenticated Traffic Solution. LiveRamp decrypts envelopes of people only, not of cookies and mobile devices; such a row is rejected. The answer of a row is {"rampId": "…"}. The connection must record outcomes.',
  column: 'envelope',
  columnHelp: 'Identity envelope, as the library of LiveRamp returns it',
  role: 'envelope-decryption',
  path: (row) => {
    const envelope = row.text('envelope') ?? ''
    if (/^[\w+/=.-]+$/.test(envelope) && envelope.length <= envelopeLengthMax) {
      return { read: `/people/envelope/?key=${encodeURIComponent(envelope)}` }
    }
    return wrong('The value is not an envelope.', 'envelope')
  },
  probe: '/people/envelope/?key=AAAA',
})
