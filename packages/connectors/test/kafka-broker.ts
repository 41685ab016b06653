import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import net from 'node:net'
import tls from 'node:tls'
import { type KafkaApi, kafkaApis } from '../src/kafka/broker.ts'
import { crc32c } from '../src/kafka/crc32c.ts'
import { KafkaReader, KafkaWriter } from '../src/kafka/wire-format.ts'

const certificate = (name: string) => readFileSync(new URL(`certificates/${name}.pem`, import.meta.url), 'utf8')
const key = readFileSync(new URL('certificates/localhost.key', import.meta.url), 'utf8')

type StoredBatch = { base: number; next: number; maxTimestamp: number; bytes: Buffer }
type Partition = { first: number; next: number; batches: StoredBatch[]; aborted: { id: number; first: number }[] }

/** A refusal of a request about a partition, or what happens to its connection. */
export type KafkaFailure = number | 'hangs' | 'resets' | 'loses the answer'

/**
 * A broker of one node, as far as Penstock uses Kafka's protocol; it refuses everything else. Records stay as they came. Kcat can use
 * it too, by this name and in the versions that Penstock has.
 */
export type KafkaBroker = {
  readonly address: string
  readonly port: number
  /** The certificate of the authority of brokers with TLS. */
  readonly ca: string
  readonly topics: Map<string, Partition[]>
  /** The address that it advertises; its own unless set. */
  advertised: { host: string; port: number } | undefined
  /** A failure, how often it comes, and after how many requests that do not; always and immediately unless set. */
  failure: { readonly what: KafkaFailure; readonly api: KafkaApi; times?: number; skips?: number } | undefined
  /** Largest batch that a topic takes, in bytes. */
  messageBytesMax: number
  /** Bits of the operations on topics that the user may do. */
  operations: number
  readonly seen: KafkaApi[]
  create(topic: string, partitions: number): void
  /** Deletes the messages before an offset, as retention does. */
  retain(topic: string, partition: number, first: number): void
  /** Resolves once a request hangs. */
  hangs(): Promise<void>
  close(): Promise<void>
}

export type KafkaBrokerOptions = {
  readonly tls?: boolean
  readonly users?: Readonly<Record<string, string>>
  readonly mechanisms?: readonly string[]
}

type Conversation = {
  client: string
  signedIn: boolean
  mechanism: string
  scram?: { bare: string; first: string; user: string }
}

/** A request that librdkafka does not send, and by which it sees that a broker knows LZ4. */
const findCoordinator = [10, 0] as const
const clients = ['penstock', 'kcat']
const salt = randomBytes(16)
const iterations = 4_096

export async function startKafkaBroker(options: KafkaBrokerOptions = {}): Promise<KafkaBroker> {
  const sockets = new Set<net.Socket>()
  let hung = () => {}
  let hanging = new Promise<void>((resolve) => {
    hung = resolve
  })
  let producers = 1_000
  const sequences = new Map<string, number>()
  const keys = Object.keys(kafkaApis) as KafkaApi[]

  const failureOf = (api: KafkaApi): KafkaFailure | undefined => {
    const { failure } = broker
    if (failure?.api !== api) return undefined
    if (failure.skips) {
      failure.skips -= 1
      return undefined
    }
    if (failure.times !== undefined) {
      if (failure.times === 0) return undefined
      failure.times -= 1
    }
    return failure.what
  }

  function serve(socket: net.Socket): void {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {})
    const conversation: Conversation = { client: '', signedIn: options.users === undefined, mechanism: '' }
    let waiting = Buffer.alloc(0)
    socket.on('data', (bytes) => {
      waiting = Buffer.concat([waiting, bytes])
      while (waiting.length >= 4 && waiting.length >= 4 + waiting.readInt32BE(0)) {
        const length = waiting.readInt32BE(0)
        const request = new KafkaReader(waiting.subarray(4, 4 + length))
        waiting = waiting.subarray(4 + length)
        try {
          answer(socket, request, conversation)
        } catch {
          socket.destroy()
        }
      }
    })
  }

  function answer(socket: net.Socket, request: KafkaReader, conversation: Conversation): void {
    const [number, version, correlation] = [request.int16(), request.int16(), request.int32()]
    const api = keys.find((name) => kafkaApis[name].key === number)
    conversation.client = request.string()
    if (!clients.includes(conversation.client) || !api) return void socket.destroy()
    // A newer client is told the versions that there are, and asks again.
    if (api === 'apiVersions' && version > 0)
      return void reply(socket, versions(new KafkaWriter().int32(correlation), 35))
    if (!(kafkaApis[api].versions as readonly number[]).includes(version)) return void socket.destroy()
    broker.seen.push(api)
    if (!conversation.signedIn && !['apiVersions', 'saslHandshake', 'saslAuthenticate'].includes(api)) {
      return void socket.destroy()
    }
    const failure = failureOf(api)
    if (failure === 'hangs') return void hung()
    if (failure === 'resets') return void socket.resetAndDestroy()
    const response = new KafkaWriter().int32(correlation)
    const code = typeof failure === 'number' ? failure : 0
    handlers[api](request, response, version, code, conversation)
    if (request.left !== 0) return void socket.destroy()
    if (failure === 'loses the answer') return void socket.destroy()
    reply(socket, response)
  }

  function reply(socket: net.Socket, response: KafkaWriter): void {
    const bytes = response.done()
    socket.write(new KafkaWriter().int32(bytes.length).raw(bytes).done())
  }

  function versions(response: KafkaWriter, code: number): KafkaWriter {
    const has = keys.filter((name) => options.users !== undefined || !name.startsWith('sasl'))
    const newest = has.map((name) => [kafkaApis[name].key, Math.max(...kafkaApis[name].versions)] as const)
    return response.int16(code).array([...newest, findCoordinator], ([key, version]) => {
      response.int16(key).int16(0).int16(version)
    })
  }

  type Handler = (
    request: KafkaReader,
    response: KafkaWriter,
    version: number,
    code: number,
    conversation: Conversation,
  ) => void

  const partitionIn = (topic: string, index: number) => broker.topics.get(topic)?.[index]

  const handlers: Record<KafkaApi, Handler> = {
    apiVersions(_request, response) {
      versions(response, 0)
    },
    saslHandshake(request, response, _version, _code, conversation) {
      const offered = options.mechanisms ?? ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512']
      conversation.mechanism = request.string()
      response.int16(offered.includes(conversation.mechanism) ? 0 : 33).array(offered, (name) => response.string(name))
    },
    saslAuthenticate(request, response, _version, _code, conversation) {
      const message = request.nullableBytes() ?? Buffer.alloc(0)
      const reply = conversation.mechanism === 'PLAIN' ? plain(message) : scram(String(message), conversation)
      if (reply === undefined) return void response.int16(58).string('Authentication failed').bytes(Buffer.alloc(0))
      if (conversation.mechanism === 'PLAIN' || reply.startsWith('v=')) conversation.signedIn = true
      response.int16(0).string(null).bytes(Buffer.from(reply))
    },
    metadata(request, response, version, _code, { client }) {
      const asked = request.int32()
      const names = asked === -1 ? [...broker.topics.keys()] : Array.from({ length: asked }, () => request.string())
      if (request.int8() !== 0 && client === 'penstock') throw new Error('topics are not created by asking for them')
      if (version >= 8) request.take(2)
      const { host, port } = broker.advertised ?? { host: 'localhost', port: broker.port }
      response.int32(0).array([7], (node) => response.int32(node).string(host).int32(port).string(null))
      response.string('cluster').int32(7)
      response.array(names, (name) => {
        const partitions = broker.topics.get(name)
        response
          .int16(partitions ? 0 : 3)
          .string(name)
          .int8(name.startsWith('__') ? 1 : 0)
        response.array([...(partitions ?? []).keys()], (index) => {
          response.int16(0).int32(index).int32(7)
          if (version >= 7) response.int32(0)
          response.array([7], (node) => response.int32(node)).array([7], (node) => response.int32(node))
          if (version >= 5) response.int32(0)
        })
        if (version >= 8) response.int32(broker.operations)
      })
      if (version >= 8) response.int32(-(2 ** 31))
    },
    initProducerId(request, response, _version, code) {
      request.nullableString()
      request.int32()
      response.int32(0).int16(code).int64(producers++).int16(0)
    },
    listOffsets(request, response, _version, code) {
      request.int32()
      request.int8()
      response.int32(0)
      forPartitions(request, response, (name, index) => {
        const time = request.int64()
        const found = partitionIn(name, index)
        const at = found?.batches.find(({ maxTimestamp }) => maxTimestamp >= time)?.base ?? -1
        const offset = time === -2 ? found?.first : time === -1 ? found?.next : at
        response
          .int32(index)
          .int16(found ? code : 3)
          .int64(-1)
          .int64(offset ?? -1)
      })
    },
    fetch(request, response, version, code) {
      request.take(4 + 4 + 4 + 4)
      if (request.int8() !== 1) throw new Error('reads what is not committed')
      if (version >= 7) request.take(8)
      response.int32(0)
      if (version >= 7) response.int16(0).int32(0)
      forPartitions(request, response, (name, index) => {
        if (version >= 9) request.int32()
        const offset = request.int64()
        if (version >= 5) request.int64()
        const bytesMax = request.int32()
        const found = partitionIn(name, index)
        const isOutside = found && (offset < found.first || offset > found.next)
        const error = found ? (isOutside ? 1 : code) : 3
        response
          .int32(index)
          .int16(error)
          .int64(found?.next ?? -1)
          .int64(found?.next ?? -1)
        if (version >= 5) response.int64(found?.first ?? -1)
        response.array(found?.aborted ?? [], ({ id, first }) => response.int64(id).int64(first))
        const batches = error === 0 ? (found?.batches ?? []).filter(({ next }) => next > offset) : []
        // The first batch comes whole, however large it is; the last one is cut off.
        const all = Buffer.concat(batches.map(({ bytes }) => bytes))
        response.bytes(all.subarray(0, Math.max(bytesMax, batches[0]?.bytes.length ?? 0)))
      })
      if (version >= 7) request.int32()
    },
    produce(request, response, version, code) {
      request.nullableString()
      if (request.int16() !== -1) throw new Error('not all replicas')
      request.int32()
      forPartitions(request, response, (name, index) => {
        const bytes = Buffer.from(request.nullableBytes() ?? Buffer.alloc(0))
        const [error, base] = append(name, index, bytes, code)
        response.int32(index).int16(error).int64(base).int64(-1)
        if (version >= 5) response.int64(0)
      })
      response.int32(0)
    },
  }

  function append(name: string, index: number, bytes: Buffer, code: number): [error: number, base: number] {
    const found = partitionIn(name, index)
    if (!found) return [3, -1]
    if (code !== 0) return [code, -1]
    if (bytes.length > broker.messageBytesMax) return [10, -1]
    if (bytes.readUInt32BE(17) !== crc32c(bytes.subarray(21)) || bytes[16] !== 2) return [2, -1]
    const count = bytes.readInt32BE(57)
    const [producer, sequence] = [bytes.readBigInt64BE(43), bytes.readInt32BE(53)]
    if (producer !== -1n) {
      const expected = sequences.get(`${producer} ${name} ${index}`) ?? 0
      if (sequence < expected) return [46, -1]
      if (sequence > expected) return [45, -1]
      sequences.set(`${producer} ${name} ${index}`, sequence + count)
    }
    const base = found.next
    bytes.writeBigInt64BE(BigInt(base), 0)
    found.next += count
    found.batches.push({ base, next: found.next, maxTimestamp: Number(bytes.readBigInt64BE(35)), bytes })
    return [0, base]
  }

  function plain(message: Buffer): string | undefined {
    const [, user = '', password] = String(message).split('\0')
    return options.users?.[user] === password ? '' : undefined
  }

  function scram(message: string, conversation: Conversation): string | undefined {
    const hash = conversation.mechanism === 'SCRAM-SHA-256' ? 'sha256' : 'sha512'
    const { scram: begun } = conversation
    if (!begun) {
      const bare = message.slice('n,,'.length)
      const [, user = '', nonce = ''] = /^n=(.*),r=(.*)$/.exec(bare) ?? []
      const first = `r=${nonce}${randomBytes(9).toString('base64url')},s=${salt.toString('base64')},i=${iterations}`
      conversation.scram = { bare, first, user: user.replaceAll('=2C', ',').replaceAll('=3D', '=') }
      return first
    }
    const [, bound = '', proof = ''] = /^(.*),p=(.*)$/.exec(message) ?? []
    const password = options.users?.[begun.user] ?? ''
    const salted = pbkdf2Sync(password, salt, iterations, hash === 'sha256' ? 32 : 64, hash)
    const hmac = (from: Uint8Array, text: string) => createHmac(hash, from).update(text).digest()
    const clientKey = hmac(salted, 'Client Key')
    const signed = `${begun.bare},${begun.first},${bound}`
    const signature = hmac(createHash(hash).update(clientKey).digest(), signed)
    const expected = Buffer.from(clientKey.map((byte, index) => byte ^ (signature[index] ?? 0))).toString('base64')
    if (password === '' || proof !== expected) return undefined
    return `v=${hmac(hmac(salted, 'Server Key'), signed).toString('base64')}`
  }

  const server = options.tls
    ? tls.createServer({ cert: certificate('localhost'), key }, serve)
    : net.createServer(serve)
  server.on('tlsClientError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as net.AddressInfo
  const broker: KafkaBroker = {
    address: `localhost:${port}`,
    port,
    ca: certificate('ca'),
    topics: new Map(),
    advertised: undefined,
    failure: undefined,
    messageBytesMax: 1_048_588,
    operations: 0xfff8,
    seen: [],
    create(topic, partitions) {
      const empty = () => ({ first: 0, next: 0, batches: [], aborted: [] })
      broker.topics.set(topic, Array.from({ length: partitions }, empty))
    },
    retain(topic, partition, first) {
      const found = partitionIn(topic, partition)
      if (!found) return
      found.first = first
      found.batches = found.batches.filter(({ next }) => next > first)
    },
    async hangs() {
      await hanging
      hanging = new Promise((resolve) => {
        hung = resolve
      })
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return broker
}

/** Answers for each partition that a request names, in the frame of topics that all requests about partitions have. */
function forPartitions(
  request: KafkaReader,
  response: KafkaWriter,
  each: (topic: string, partition: number) => void,
): void {
  const topics = request.int32()
  response.int32(topics)
  for (let topic = 0; topic < topics; topic += 1) {
    const name = request.string()
    const partitions = request.int32()
    response.string(name).int32(partitions)
    for (let partition = 0; partition < partitions; partition += 1) each(name, request.int32())
  }
}
