import { ConnectorError, type Values } from '@penstock/connector'

/** An address that a setting names or a broker advertises. */
export type BrokerAddress = { readonly host: string; readonly port: number }

/** How connections are encrypted and signed in. */
export type KafkaAccess = {
  readonly brokers: readonly BrokerAddress[]
  readonly tls: 'disable' | 'require' | 'verify-full'
  readonly ca: string | undefined
  readonly mechanism: 'none' | 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512'
  readonly user: string
  readonly password: string
}

const defaultPort = 9092
const brokersMax = 50

/** Reads the secrets. Throws `invalid_address` or `invalid_setting`. */
export function accessOf(secrets: Values): KafkaAccess {
  const tls = secrets.tlsMode === 'disable' || secrets.tlsMode === 'require' ? secrets.tlsMode : 'verify-full'
  const mechanism = mechanisms.find((each) => each === secrets.saslMechanism) ?? 'none'
  if (mechanism === 'PLAIN' && tls === 'disable') {
    throw new ConnectorError(
      'invalid_setting',
      'PLAIN would send the password without encryption. Turn TLS on, or choose SCRAM.',
    )
  }
  const ca = String(secrets.caCertificate ?? '')
  return {
    brokers: brokersIn(secrets.brokers),
    tls,
    ca: ca !== '' && tls === 'verify-full' ? ca.replaceAll('\\n', '\n') : undefined,
    mechanism,
    user: String(secrets.user ?? ''),
    password: String(secrets.password ?? ''),
  }
}

const mechanisms = ['none', 'PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'] as const

function brokersIn(text: unknown): BrokerAddress[] {
  const found = String(text ?? '')
    .split(/[,\s]+/)
    .filter(Boolean)
  if (found.length === 0 || found.length > brokersMax) {
    throw new ConnectorError('invalid_address', `Name 1 to ${brokersMax} brokers, such as broker.example.com:9093.`)
  }
  return found.map((each) => {
    const [, host = '', port] = /^(?:[A-Z_]+:\/\/)?(\[[\da-fA-F:.]+\]|[\w.-]+)(?::(\d{1,5}))?$/.exec(each) ?? []
    const number = port === undefined ? defaultPort : Number(port)
    if (host === '' || number < 1 || number > 65_535) {
      throw new ConnectorError(
        'invalid_address',
        'A broker must be a host and a port, such as broker.example.com:9093.',
      )
    }
    return { host: host.replace(/^\[|\]$/g, ''), port: number }
  })
}

/** The topic in the settings. Throws `invalid_setting` if it cannot be one. */
export function topicIn({ topic }: Values): string {
  const name = String(topic ?? '').trim()
  if (/^[\w.-]{1,249}$/.test(name)) return name
  throw new ConnectorError(
    'invalid_setting',
    'The name of a topic has 1 to 249 letters, digits, dots, underscores and hyphens.',
  )
}

/** The names in a list that a person wrote, each once. */
export const namesIn = (value: unknown): string[] => [
  ...new Set(
    String(value ?? '')
      .split(',')
      .map((name) => name.trim())
      .filter(Boolean),
  ),
]
