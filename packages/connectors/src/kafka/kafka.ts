import { boolean, type Discover, defineConnector, secret, select, text } from '@penstock/connector'
import { kafkaPlatform } from './platform.ts'

const binds = ['password'] as const

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
    'The mock cluster of librdkafka 2.0 with its client kcat, without encryption; our own broker of the protocol for TLS, SASL and failures; not Apache Kafka itself.',
  api: {
    version: 'protocol of Apache Kafka, with the newest version of each request that broker and connector share',
    ends: 'no end is announced',
  },
  secrets: {
    brokers: text({
      label: 'Brokers',
      description: 'Addresses of one or more brokers, separated by commas: broker-1.example.com:9093',
      required: true,
      binds,
    }),
    tlsMode: select({
      keepsState: 'credential',
      label: 'TLS mode',
      description: 'How to encrypt connections, and how to verify the certificates of the brokers',
      options: ['disable', 'require', 'verify-full'],
      labels: { disable: 'Off', require: 'Encrypted', 'verify-full': 'Encrypted and verified' },
      default: 'verify-full',
      binds,
    }),
    caCertificate: text({
      keepsState: 'credential',
      label: 'CA certificate',
      description: 'PEM certificates of the authorities to trust. By default the public authorities',
      when: { tlsMode: 'verify-full' },
      binds,
    }),
    saslMechanism: select({
      keepsState: 'credential',
      label: 'SASL mechanism',
      description: 'How the connector signs in. PLAIN sends the password unprotected, so it needs TLS',
      options: ['none', 'PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'],
      labels: { none: 'None' },
      default: 'none',
      binds,
    }),
    user: text({
      keepsState: 'credential',
      label: 'User',
      description: 'Name of the user, or API key',
      required: true,
      when: { saslMechanism: ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'] },
    }),
    password: secret({
      label: 'Password',
      description: 'Password of this user, or API secret',
      required: true,
      when: { saslMechanism: ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'] },
    }),
  },
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
      topic: text({ label: 'Topic', description: 'Name of the topic to write to; it must exist', required: true }),
      keyColumns: text({
        label: 'Key columns',
        description:
          'Columns that form the message key, separated by commas. Several columns form a JSON array. By default messages have no key',
      }),
      compression: select({
        keepsState: 'transport',
        label: 'Compression',
        description: 'How messages are compressed; zstd requires Kafka 2.1 or later',
        options: ['none', 'gzip', 'zstd'],
        labels: { none: 'None' },
        default: 'gzip',
      }),
      transferHeader: boolean({
        keepsState: 'transport',
        label: 'Transfer header',
        description: 'Add the header penstock-transfer with the ID of the transfer to each message',
        default: false,
      }),
    },
    deliver: {
      // A set of messages is refused if it has more than a megabyte; keys make JSON larger than its rows.
      batch: () => ({ rowsMax: 5_000, bytesMax: 1 << 20 }),
      open: async (context) => (await import('./write.ts')).open(context),
      inspect: async (context) => (await import('./check.ts')).inspect(context),
    },
    discover: { topic: topics },
  },
  check: async (context) => (await import('./check.ts')).check(context),
})
