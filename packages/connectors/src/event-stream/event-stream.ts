import { defineConnector, secret, select, text } from '@penstock/connector'
import { eventStreamPlatform } from './platform.ts'
import { errorOfPointer } from './settings.ts'
import { nextSigningSecret, receivingFields, shapeField, startFields, verifyToken } from './shared-fields.ts'
import { signatureSchemeIds, signatureSchemes } from './signature-schemes.ts'
import { storeFields, whyNotSource } from './store-fields.ts'

const schemeLabels = Object.fromEntries(signatureSchemeIds.map((id) => [id, signatureSchemes[id].label]))

/** Events that this service receives by HTTP and keeps until connections have read them (docs/event-streams.md). */
export const eventStream = defineConnector({
  slug: 'event-stream',
  name: 'Event stream',
  platform: eventStreamPlatform,
  dataType: 'raw events data stream',
  dataTypeCategory: 'events',
  description:
    'Receives events at an address of this service: JSON by POST, the tracking API of Segment and RudderStack, pixels and beacons.',
  actions: ['read'],
  notes:
    'Each configuration is a stream with its own address and write keys, which you create with `POST /es/v2/streams/{id}/keys`. A response of 2xx means that the events are committed to PostgreSQL, or with *Store events in* Apache Kafka, that all in-sync replicas of the topic have them. An event that is sent again with the same message ID within 76 hours is stored once. Several connections can read one stream: each has its own cursor and gets every event once, in the order in which the events were stored. Events are kept for the days and up to the size that the configuration sets. If retention removed events before a connection read them, its transfer rejects one record that says how many. Columns are the keys that were seen in events, and nested keys are joined by dots: `context.page.url`. Lists are JSON. A stream has at most 1,000 columns; the column `_event` has everything. A stream that stores its events in Apache Kafka keeps none: connections read the topic with the connector Apache Kafka. Repeated events are then not removed; the message ID is the key and the header `penstock-message-id` of a message, so that a destination can upsert by it.',
  tested:
    'The libraries of Segment and RudderStack for Node and in Chromium, unchanged but for the address; webhooks of 36 senders, for ten of them with their own libraries; on PostgreSQL, and on the mock cluster of librdkafka, where its client kcat read the events.',
  secrets: {
    ...receivingFields,
    sender: select({
      keepsState: 'transport',
      label: 'Signed by',
      description: 'The sender whose signature every request must have. By default none is required',
      options: ['anyone', ...signatureSchemeIds],
      labels: { anyone: 'No signature', ...schemeLabels },
      default: 'anyone',
    }),
    signingSecret: secret({
      keepsState: 'transport',
      label: 'Signing secret',
      description: 'The secret or public key by which the sender signs',
      when: { sender: signatureSchemeIds },
    }),
    nextSigningSecret: secret({ ...nextSigningSecret, when: { sender: signatureSchemeIds } }),
    verifyToken: secret({ ...verifyToken, when: { sender: 'meta' } }),
    messageIdAt: text({
      keepsState: 'transport',
      label: 'Message ID at',
      description: 'JSON pointer to the ID of an event: /event/id. By default messageId or known headers',
      max: 200,
      wrong: errorOfPointer,
    }),
    ...storeFields,
  },
  readsEvents: true,
  putEvents: async (context) => (await import('../kafka/put-events.ts')).openStore(context),
  source: {
    whyNot: whyNotSource,
    fields: {
      ...startFields('events', 'event'),
      shape: shapeField,
    },
    open: async (context) => (await import('./read.ts')).open(context),
    backfill: { by: 'times' },
    discover: {
      columns: async (context) => (await import('./discover.ts')).discoverColumns(context),
    },
  },
  check: async (context) => (await import('./discover.ts')).check(context),
})
