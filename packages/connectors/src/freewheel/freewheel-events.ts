import { defineConnector } from '@penstock/connector'
import { credentials } from './credentials.ts'
import { freewheel } from './platform.ts'

/** Advertising events of FreeWheel. */
export const freewheelEvents = defineConnector({
  slug: 'freewheel-events',
  name: 'FreeWheel Events',
  platform: freewheel,
  dataType: 'events',
  dataTypeCategory: 'events',
  status: 'withdrawn',
  withdrawn: {
    why: 'The log files of FreeWheel and their columns are described to customers under contract only.',
    instead: 'Have the log files delivered to your own bucket, and read them with the Amazon S3 Source.',
  },
  description: 'Reads the advertising events that FreeWheel recorded.',
  secrets: credentials,
  source: {},
})
