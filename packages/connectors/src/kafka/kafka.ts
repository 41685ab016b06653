import { boolean, type Discover, defineConnector, select, text } from '@penstock/connector'
import { brokerFields, compressionField, writtenTopic } from './fields.ts'
import { kafkaPlatform } from './platform.ts'

const topics: Discover = async (context) => (await import('./discover.ts')).discoverTopics(context)

/** Rows from and for topics of Apache Kafka. */
export const kafka = defineConnector({
  slug: 'kafka',
  name: 'Apache Kafka',
  platform: kafkaPlatform,
  dataType: 'raw events data stream',
  dataTypeCategory: 'events',
  description: 'Reads the messages of a topic of Apache Kafka as rows, and writes rows as JSON messages to a topic.',
  actions: ['read', 'send'],
  notes:
    'A transfer reads each partition, one after the other, from where the last one ended up to the end that it has when the transfer starts. The offsets are stored with the connection; no consumer group is used, so only DESCRIBE and READ on the topic are needed. Messages of aborted transactions are not read. If retention deleted messages before they were read, the transfer fails and names the partition; nothing is skipped silently. A row has the columns key, value, _partition, _offset, _timestamp and _headers, and one for each field of a JSON value that the settings name. A value with the header of a schema registry is read if it is JSON; Avro and Protobuf are not supported and reject the row. A message that was written has a row as JSON with all its columns; objects and lists stay as they are if the source declares JSON. Rows with the same key go to the same partition, which is that of the Java client. Topics are not created. All in-sync replicas confirm a message, and the producer is idempotent if the cluster allows it, so a lost connection does not repeat one. After a crash or a failed delivery, messages that were not confirmed are sent again: consumers must expect to see a message twice. A row that the broker finds too large or invalid is rejected; the other rows are delivered. It needs Kafka 2.1 or later, or a broker with the same protocol. A topic may have 400 partitions when it is read. A broker must answer at the addresses that it advertises, and the network policy of this service applies to each of them.',
  tested:
    'The client kcat with librdkafka 2.0, which read what we wrote and wrote what we read, with every compression: at the mock cluster of librdkafka, and over TLS and SASL at our own broker of the protocol, where failures were tested too; not Apache Kafka itself.',
  api: {
    version: 'protocol of Apache Kafka, with the newest version of each request that broker and connector share',
    ends: 'no end is announced',
  },
  servers: ['brokers'],
  secrets: brokerFields,
  source: {
    fields: {
      topic: text({ label: 'Topic', description: 'Name of the topic to read', required: true }),
      startAt: select({
        asked: true,
        purpose: 'start',
        label: 'Start at',
        description: 'Begin at the oldest message, after the newest message, or at a time',
        options: ['earliest', 'latest', 'timestamp'],
        labels: { earliest: 'Oldest message', latest: 'New messages only', timestamp: 'Time' },
        default: 'earliest',
      }),
      startTime: text({
        label: 'Start time',
        description: 'Time of the first message to read, in ISO 8601: 2026-01-31T12:00:00Z',
        required: true,
        when: { startAt: 'timestamp' },
      }),
      valueFormat: select({
        label: 'Value format',
        description: 'JSON, so that messages with other values are rejected, or any text',
        options: ['JSON', 'Text'],
        default: 'JSON',
      }),
      valueFields: text({
        label: 'Value fields',
        description:
          'Fields of the JSON value that become columns, separated by commas, with dots for nested fields: id, customer.email',
        when: { valueFormat: 'JSON' },
      }),
    },
    open: async (context) => (await import('./read.ts')).open(context),
    discover: {
      topic: topics,
      valueFields: async (context) => (await import('./discover.ts')).discoverFields(context),
      columns: async (context) => (await import('./discover.ts')).discoverColumns(context),
    },
  },
  destination: {
    fields: {
      topic: writtenTopic,
      keyColumns: text({
        label: 'Key columns',
        description:
          'Columns that form the message key, separated by commas. Several columns form a JSON array. By default messages have no key',
      }),
      compression: compressionField,
      transferHeader: boolean({
        keepsState: 'transport',
        label: 'Transfer header',
        description: 'Add the header penstock-transfer with the ID of the transfer to each message',
        default: false,
      }),
    },
    deliver: {
      // A set of messages above a megabyte is refused, and keys make JSON larger than its rows.
      batch: () => ({ rowsMax: 5_000, bytesMax: 1 << 20 }),
      open: async (context) => (await import('./write.ts')).open(context),
      inspect: async (context) => (await import('./check.ts')).inspect(context),
    },
    discover: { topic: topics },
  },
  check: async (context) => (await import('./check.ts')).check(context),
})
