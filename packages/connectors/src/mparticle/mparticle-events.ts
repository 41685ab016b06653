import { column, defineConnector, secret } from '@penstock/connector'
import { mparticle } from './platform.ts'

const records = {
  event_id: column({ description: 'ID of the event' }),
  event_num: column({ description: 'Place of the event in its sequence' }),
  source_message_id: column({ description: 'ID of the message from which the event came' }),
  session_id: column({ description: 'Number of the session' }),
  session_uuid: column({ description: 'UUID of the session' }),
  timestamp_unixtime_ms: column({ description: 'When it happened, in milliseconds since 1970' }),
  location: column({ description: 'Object that says where it happened' }),
  device_current_state: column({ description: 'Object that describes the state of the device at that time' }),
  custom_attributes: column({ description: 'Object of attributes of your own' }),
  custom_flags: column({ description: 'Object of flags of your own' }),
  event_type: column({ description: 'What kind of event it is' }),
}

/** Events from mParticle, and events for it. */
export const mparticleEvents = defineConnector({
  slug: 'mparticle-events',
  name: 'mParticle Events',
  platform: mparticle,
  dataType: 'events',
  dataTypeCategory: 'events',
  status: 'preview',
  description: 'Takes in events from mParticle, and delivers events to it through its HTTP events API.',
  notes: 'As a source it needs an S3 bucket of its own.',
  secrets: {
    apiKey: secret({
      label: 'API key',
      description: 'Key made for you; enter it at mParticle in the settings of the connection',
      readonly: true,
      role: 'Source',
    }),
    key: secret({
      label: 'Key',
      description: 'Key of the platform, shown where the input is set up at mParticle',
      required: true,
      role: 'Destination',
    }),
    secret: secret({
      label: 'Secret',
      description: 'Secret of the platform, shown beside its key',
      required: true,
      role: 'Destination',
    }),
  },
  source: { records },
  destination: { records },
})
