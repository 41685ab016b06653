import { secret, select, text } from '@penstock/connector'

/** Fields of everything that reaches the brokers of a cluster. */

const binds = ['password'] as const

/** Addresses of the brokers, and how to sign in: read by `accessOf`. */
export const brokerFields = {
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
}

/** The topic that is written to: read by `topicIn`. */
export const writtenTopic = text({
  label: 'Topic',
  description: 'Name of the topic to write to; it must exist',
  required: true,
})

/** How messages are compressed: read by `codecIn`. */
export const compressionField = select({
  keepsState: 'transport',
  label: 'Compression',
  description: 'How messages are compressed; zstd requires Kafka 2.1 or later',
  options: ['none', 'gzip', 'zstd'],
  labels: { none: 'None' },
  default: 'gzip',
})
