import { defineConnector } from '@penstock/connector'
import { credentials } from './credentials.ts'
import { liveRamp } from './platform.ts'

/** RampIDs, carried from one party’s encoding to another’s. */
export const liverampTranscoding = defineConnector({
  slug: 'liveramp-transcoding',
  name: 'LiveRamp Transcoding',
  platform: liveRamp,
  dataType: 'transcoding',
  dataTypeCategory: 'identity management',
  status: 'withdrawn',
  withdrawn: {
    why: 'LiveRamp answers each request for a translation with a RampID and keeps nothing, so that a destination would have nowhere to put the answers.',
    instead:
      'Translate RampIDs with LiveRamp’s embedded identity in Snowflake, and read the result with the Snowflake Source.',
  },
  description: 'Converts RampIDs at LiveRamp from your encoding to that of a partner, or back.',
  secrets: credentials,
  destination: {},
})
