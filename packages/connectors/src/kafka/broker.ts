import net from 'node:net'
import tls from 'node:tls'
import { asConnectorError, type ConnectorContext, ConnectorError, type TcpStream } from '@penstock/connector'
import { connectionLost, connectorErrorOfNetwork, noAnswer } from '../databases/problems.ts'
import { errorOfCode, unreadable } from './errors.ts'
import { signInByScram } from './scram.ts'
import type { BrokerAddress, KafkaAccess } from './settings.ts'
import { KafkaReader, KafkaWriter } from './wire-format.ts'

/** The requests that are used, by their key in the protocol, with the versions that this client has. */
export const kafkaApis = {
  produce: { key: 0, versions: [7, 3] },
  fetch: { key: 1, versions: [10, 4] },
  listOffsets: { key: 2, versions: [2] },
  // Before version 4, a broker can create the requested topic. Every Kafka that supports the other requests also supports
  // version 4.
  metadata: { key: 3, versions: [8, 4, 2] },
  saslHandshake: { key: 17, versions: [1] },
  apiVersions: { key: 18, versions: [0] },
  initProducerId: { key: 22, versions: [0] },
  saslAuthenticate: { key: 36, versions: [0] },
} as const satisfies Record<string, { key: number; versions: readonly number[] }>
export type KafkaApi = keyof typeof kafkaApis

const connectMs = 15_000
const requestMs = 40_000
/** A response can be as large as one set of messages, which a broker always sends whole. */
const responseBytesMax = 128 << 20

/** A connection to one broker, signed in. Everything throws connector errors. */
export type Broker = {
  readonly address: BrokerAddress
  /** Whether it can still be used. */
  readonly alive: boolean
  /** The version of a request that both sides support. `undefined` if there is no such version. */
  version(api: KafkaApi): number | undefined
  /**
   * Sends a request, and reads the response.
   * @param timeoutMs time limit of the response, 40 seconds by default
   */
  request<T>(
    api: KafkaApi,
    write: (writer: KafkaWriter, version: number) => void,
    read: (reader: KafkaReader, version: number) => T,
    timeoutMs?: number,
  ): Promise<T>
  close(): void
}

type Waiting = { resolve(bytes: Buffer): void; reject(error: unknown): void; timer: NodeJS.Timeout }

/** Connects to the address that the egress allows for a broker, over TLS if it is required, and signs in. */
export async function openBroker(
  context: ConnectorContext,
  address: BrokerAddress,
  access: KafkaAccess,
): Promise<Broker> {
  const { signal } = context
  const { host } = address
  signal.throwIfAborted()
  const socket = await connect(context, address, access)
  const waiting = new Map<number, Waiting>()
  let correlation = 0
  let alive = true
  let versions: ReadonlyMap<number, readonly [min: number, max: number]> | undefined

  const end = (error: unknown): void => {
    if (!alive) return
    alive = false
    signal.removeEventListener('abort', stop)
    socket.destroy()
    for (const { reject, timer } of waiting.values()) {
      clearTimeout(timer)
      reject(error)
    }
    waiting.clear()
  }
  const stop = () => end(signal.reason)
  signal.addEventListener('abort', stop, { once: true })
  socket.on('error', (error) => end(connectorErrorOfNetwork(error, host, false) ?? connectionLost(host)))
  socket.on('close', () => end(connectionLost(host)))
  socket.on(
    'data',
    framesInto(
      (frame) => {
        const answered = waiting.get(frame.readInt32BE(0))
        if (!answered) return end(unreadable(host))
        waiting.delete(frame.readInt32BE(0))
        clearTimeout(answered.timer)
        answered.resolve(frame.subarray(4))
      },
      () => end(unreadable(host)),
    ),
  )

  const versionOf = (api: KafkaApi): number | undefined => {
    const { key, versions: own } = kafkaApis[api]
    if (versions === undefined) return own[0]
    const [min, max] = versions.get(key) ?? [1, 0]
    return own.find((each) => each >= min && each <= max)
  }

  const broker: Broker = {
    address,
    get alive() {
      return alive
    },
    version: versionOf,
    async request(api, write, read, timeoutMs = requestMs) {
      signal.throwIfAborted()
      if (!alive) throw connectionLost(host)
      const version = versionOf(api)
      if (version === undefined) throw errorOfCode(35, `a request of ${host}`)
      const id = correlation
      correlation = (correlation + 1) % 0x7fffffff
      const message = new KafkaWriter().int16(kafkaApis[api].key).int16(version).int32(id).string('penstock')
      write(message, version)
      const bytes = message.done()
      const answered = new Promise<Buffer>((resolve, reject) => {
        const timer = setTimeout(
          () => end(new ConnectorError('timeout', `${host} did not answer within ${timeoutMs / 1000} seconds.`)),
          timeoutMs,
        )
        waiting.set(id, { resolve, reject, timer })
      })
      const length = Buffer.alloc(4)
      length.writeInt32BE(bytes.length)
      socket.cork()
      socket.write(length)
      socket.write(bytes)
      socket.uncork()
      const response = await answered
      try {
        return read(new KafkaReader(response), version)
      } catch (error) {
        if (asConnectorError(error)) throw error
        end(unreadable(host, error))
        throw unreadable(host, error)
      }
    },
    close: () => end(connectionLost(host)),
  }
  try {
    versions = await versionsOf(broker)
    await signIn(broker, access)
    return broker
  } catch (error) {
    broker.close()
    throw error
  }
}

/** Splits incoming bytes into messages, which are preceded by their length. */
function framesInto(take: (frame: Buffer) => void, refuse: () => void): (bytes: Buffer) => void {
  let pieces: Buffer[] = []
  let size = 0
  return (bytes) => {
    pieces.push(bytes)
    size += bytes.length
    for (;;) {
      if (size < 4) return
      let [first] = pieces as [Buffer]
      if (first.length < 4) {
        first = Buffer.concat(pieces)
        pieces = [first]
      }
      const length = first.readInt32BE(0)
      if (length < 4 || length > responseBytesMax) return refuse()
      if (size < 4 + length) return
      const whole = pieces.length === 1 ? first : Buffer.concat(pieces)
      const rest = whole.subarray(4 + length)
      pieces = rest.length > 0 ? [rest] : []
      size = rest.length
      take(whole.subarray(4, 4 + length))
    }
  }
}

async function connect(
  { egress, signal }: ConnectorContext,
  { host, port }: BrokerAddress,
  access: KafkaAccess,
): Promise<TcpStream> {
  const plain = await egress.connect(host, port, { signal, timeoutMs: connectMs }).catch((error: unknown) => {
    throw signal.aborted ? signal.reason : (connectorErrorOfNetwork(error, host, true) ?? error)
  })
  let line = plain
  if (access.tls === 'disable') return line
  try {
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(noAnswer(host, connectMs)), connectMs)
      const done = (error?: unknown) => {
        clearTimeout(timer)
        signal.removeEventListener('abort', stop)
        if (error === undefined) resolve()
        else reject(error)
      }
      const stop = () => done(signal.reason)
      signal.addEventListener('abort', stop, { once: true })
      plain.once('error', done)
      plain.once('close', () => done(connectionLost(host)))
      try {
        line = tls.connect({
          socket: plain,
          rejectUnauthorized: access.tls === 'verify-full',
          ...(net.isIP(host) === 0 ? { servername: host } : { host }),
          ...(access.ca === undefined ? {} : { ca: access.ca }),
        })
        line.once('error', done)
        line.once('secureConnect', () => done())
      } catch (error) {
        done(error)
      }
    })
    line.removeAllListeners('error')
    return line
  } catch (error) {
    plain.on('error', () => {})
    line.on('error', () => {})
    plain.destroy()
    throw signal.aborted ? signal.reason : (connectorErrorOfNetwork(error, host, true) ?? error)
  }
}

async function versionsOf(broker: Broker): Promise<ReadonlyMap<number, readonly [number, number]>> {
  const { code, found } = await broker.request(
    'apiVersions',
    () => {},
    (reader) => ({
      code: reader.int16(),
      found: reader.array(() => [reader.int16(), [reader.int16(), reader.int16()] as const] as const),
    }),
    connectMs,
  )
  if (code !== 0) throw errorOfCode(code, `the question for its versions at ${broker.address.host}`)
  return new Map(found)
}

/** Names that a message can have: a broker could send anything. */
const mechanisms = ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512', 'OAUTHBEARER', 'GSSAPI', 'AWS_MSK_IAM']

async function signIn(broker: Broker, { mechanism, user, password }: KafkaAccess): Promise<void> {
  const { host } = broker.address
  if (mechanism === 'none') return
  const [code, offered] = await broker.request(
    'saslHandshake',
    (writer) => writer.string(mechanism),
    (reader) => [reader.int16(), reader.array(() => reader.string())] as const,
    connectMs,
  )
  if (code !== 0) {
    const known = mechanisms.filter((name) => offered.includes(name))
    const names = known.length > 0 ? ` The broker has ${known.join(', ')}.` : ''
    const error = errorOfCode(code, `the SASL mechanism ${mechanism} at ${host}`)
    throw error.with({ message: `${error.message}${names}` })
  }
  const exchange = async (message: Buffer): Promise<Buffer> => {
    const [refused, , answer] = await broker.request(
      'saslAuthenticate',
      (writer) => writer.bytes(message),
      (reader) => [reader.int16(), reader.nullableString(), reader.nullableBytes()] as const,
      connectMs,
    )
    if (refused !== 0) throw errorOfCode(refused, `the user and the password at ${host}`)
    return answer ?? Buffer.alloc(0)
  }
  if (mechanism === 'PLAIN') await exchange(Buffer.from(`\0${user}\0${password}`))
  else await signInByScram(mechanism, user, password, exchange)
}
