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
  status: 'preview',
  description: 'Reads the advertising events that FreeWheel recorded.',
  secrets: credentials,
  source: {},
})
