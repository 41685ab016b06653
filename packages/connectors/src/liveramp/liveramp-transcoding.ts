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
  status: 'preview',
  description: 'Converts RampIDs at LiveRamp from your encoding to that of a partner, or back.',
  secrets: credentials,
  destination: {},
})
