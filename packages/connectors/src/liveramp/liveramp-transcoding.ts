import { wrong } from '../platform-api/rows/events.ts'
import { identityLookup } from './identity-api.ts'

/** RampIDs of people begin with X, and of households with H. The next letter is Y for maintained and i for derived RampIDs. */
const rampId = /^([XH])[Yi]\w{4}[\w-]{10,100}$/

/** RampIDs, translated from the encoding of one partner into the encoding of another. */
export const liverampTranscoding = identityLookup({
  slug: 'liveramp-transcoding',
  name: 'LiveRamp Transcoding',
  dataType: 'transcoding',
  description: 'Translates RampIDs at LiveRamp from your encoding to that of a partner, or back, recorded as outcomes.',
  notes:
    'A row has one RampID. With *Partner encoding*, RampIDs in your encoding become those of the partner; without it, RampIDs of a partner become yours. LiveRamp enables each encoding once, on request; your own encoding to itself works as a test. The answer of a row is {"rampId": "…"}. The connection must record outcomes.',
  column: 'ramp_id',
  columnHelp: 'RampID of a person (XY, Xi) or a household (HY, Hi)',
  role: 'rampid-transcoding',
  translates: true,
  path: (row) => {
    const id = row.text('ramp_id') ?? ''
    const kind = rampId.exec(id)?.[1]
    if (kind === undefined) return wrong('The value is not a RampID, which begins with XY, Xi, HY or Hi.', 'ramp_id')
    return { read: `/${kind === 'X' ? 'people' : 'households'}/anonymousAbilitec/?key=${encodeURIComponent(id)}` }
  },
  probe: '/people/anonymousAbilitec/?key=XY0000000000000000000',
})
