import { column, defineConnector, inspectBy, secret, select } from '@penstock/connector'
import { mparticle } from './platform.ts'

const records = {
  event_id: column({ description: 'ID of the event' }),
  event_num: column({ description: 'Position of the event in its sequence' }),
  source_message_id: column({ description: 'ID of the message from which the event came' }),
  session_id: column({ description: 'Number of the session' }),
  session_uuid: column({ description: 'UUID of the session' }),
  timestamp_unixtime_ms: column({ description: 'When it happened, in milliseconds since 1970' }),
  location: column({ description: 'Object with the place where it happened' }),
  device_current_state: column({ description: 'Object that describes the state of the device at that time' }),
  custom_attributes: column({ description: 'Object with custom attributes' }),
  custom_flags: column({ description: 'Object with custom flags' }),
  event_type: column({ description: 'What kind of event it is' }),
}

/** By which a person or a device is found: an event needs one of them, and those that cannot be used are left out. */
const identifier = (options: Parameters<typeof column>[0]) => column({ ...options, oneOf: 'identifier' })

/** What events for mParticle may hold besides. */
const delivered = {
  ...records,
  timestamp_unixtime_ms: column({
    description: 'When it happened: ISO 8601 with its time zone, or seconds or milliseconds since 1970',
    synonyms: ['event_time', 'timestamp', 'occurred_at'],
  }),
  event_name: column({ description: 'Name of the event, or of the screen', synonyms: ['event', 'screen_name'] }),
  custom_event_type: column({ description: 'Type of a custom event, such as transaction; other by default' }),
  customer_id: identifier({ description: 'Your own ID of the person', synonyms: ['external_id', 'user_id'] }),
  email: identifier({ description: 'E-mail address, not hashed', normalise: 'email' }),
  phone: identifier({
    description: 'Mobile phone number, not hashed',
    normalise: 'phone-e164',
    synonyms: ['mobile_number'],
  }),
  other_id: identifier({ description: 'Another ID of the person' }),
  mpid: identifier({ description: 'ID that mParticle gave the person' }),
  idfa: identifier({ description: 'Advertising ID of a device with iOS', normalise: 'device-id' }),
  gaid: identifier({
    description: 'Advertising ID of a device with Android',
    normalise: 'device-id',
    synonyms: ['aaid'],
  }),
  ip: column({ description: 'IP address of the person', synonyms: ['ip_address', 'client_ip'] }),
  user_attributes: column({ description: 'Object with attributes of the person' }),
}

/** Events from mParticle, and events for it. */
export const mparticleEvents = defineConnector({
  slug: 'mparticle-events',
  name: 'mParticle Events',
  platform: mparticle,
  dataType: 'events',
  dataTypeCategory: 'events',
  status: 'preview',
  description: 'Receives events from mParticle, and delivers events to it through its HTTP Events API.',
  notes:
    'As a source, it needs its own S3 bucket and cannot move data yet. As a destination, it sends custom events, screen views and the start and end of sessions, each with an identifier of a person or device. mParticle accepts events for processing and does not report the result of each: only the acceptance is counted. If mParticle refuses a request, it is sent again in halves until the event is found. mParticle does not detect repeated events; each has a source_message_id that stays the same. Events older than 30 days are rejected before they are sent. Send only people who have agreed to it.',
  tested:
    'Our own test server, which follows the published documentation of mParticle’s Events API; not mParticle itself.',
  api: { version: 'Events API v2', ends: 'No end is known.' },
  secrets: {
    apiKey: secret({
      label: 'API key',
      description: 'Generated key; enter it in the settings of the connection at mParticle',
      readonly: true,
      role: 'Source',
    }),
    key: secret({
      label: 'Key',
      description: 'Key of the platform, shown in the setup of the input at mParticle',
      required: true,
      role: 'Destination',
    }),
    secret: secret({
      label: 'Secret',
      description: 'Secret of the platform, shown next to its key',
      required: true,
      role: 'Destination',
    }),
    region: select({
      label: 'Region',
      description: 'Where mParticle stores the data of the account; US1 by default',
      options: ['US1', 'US2', 'EU1', 'AU1'],
      role: 'Destination',
    }),
  },
  check: async (context) => (await import('./check.ts')).checkMparticle(context),
  source: { records },
  destination: {
    deliver: {
      batch: () => ({ rowsMax: 100, bytesMax: 200_000 }),
      open: async (context) => (await import('./deliver-events.ts')).open(context),
      inspect: inspectBy(async (context) => (await import('./check.ts')).assertKeys(context)),
    },
    fields: {
      environment: select({
        label: 'Environment',
        description: 'Whether events are production or test events; production by default',
        options: ['production', 'development'],
      }),
    },
    records: delivered,
  },
})
