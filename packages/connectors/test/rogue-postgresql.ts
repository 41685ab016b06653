import { once } from 'node:events'
import net, { type AddressInfo } from 'node:net'
import { answeringScripts, encode, type Message, type RogueScript } from './rogue-postgresql-scripts.ts'

export type { RogueScript } from './rogue-postgresql-scripts.ts'

/**
 * A server that breaks the protocol of PostgreSQL, for connectors and for a running service that is pointed at it.
 * Some scripts answer on their own; the others pass everything on to a real server, and change one of its messages.
 */
export type RoguePostgresql = {
  readonly port: number
  /** Resolves once a script that is silent has fallen silent. */
  silent(): Promise<unknown>
  close(): Promise<void>
}

/** Pseudo-random numbers from 0 up to, not including, 1: the same for the same seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

type Change = (message: Message, random: () => number) => readonly Buffer[] | 'close'

const changes: Readonly<Record<string, Change>> = {
  'is left out': () => [],
  'comes twice': (message) => [encode(message), encode(message)],
  'is cut short': ({ type, body }, random) => [
    encode({ type, body: body.subarray(0, Math.floor(random() * body.length)) }),
  ],
  'has more than it should': ({ type, body }) => [encode({ type, body: Buffer.concat([body, Buffer.from('more')]) })],
  'has other bytes': ({ type, body }, random) => {
    const garbled = Buffer.from(body)
    for (let times = 0; times < 3 && garbled.length > 0; times += 1) {
      garbled[Math.floor(random() * garbled.length)] = Math.floor(random() * 256)
    }
    return [encode({ type, body: garbled })]
  },
  'says a wrong length': (message, random) => [encode(message, message.body.length + Math.floor(random() * 9))],
  'is of another type': ({ body }, random) => {
    const type = 'RSKZTDCEGHdc123nsIANtVWv'[Math.floor(random() * 24)] ?? 'Z'
    return [encode({ type, body })]
  },
  'is the last': () => 'close',
  'breaks off': (message, random) => {
    const bytes = encode(message)
    return [bytes.subarray(0, 1 + Math.floor(random() * (bytes.length - 1))), closing]
  },
}

/** In place of bytes: the connection is closed after those before it. */
const closing = Buffer.alloc(0)

/** Names of the types of message that a real server sends to a connector. */
const types: Readonly<Record<string, string>> = {
  R: 'authentication',
  S: 'parameter',
  K: 'key',
  Z: 'readiness',
  T: 'description',
  D: 'row',
  C: 'completion',
  1: 'parsed',
  2: 'bound',
  G: 'request for COPY',
  H: 'begin of COPY',
  d: 'COPY data',
  c: 'end of COPY',
}

/** Each change of each type of message, at an occurrence that the seed picks. */
function mutationsOf(seed: number): RogueScript[] {
  const random = randomOf(seed)
  return Object.entries(types).flatMap(([type, typeName]) =>
    Object.entries(changes).map(([changeName, change]): RogueScript => {
      const occurrence = 1 + Math.floor(random() * 3)
      const own = Math.floor(random() * 2 ** 31)
      return {
        name: `sends a ${typeName} (number ${occurrence}) that ${changeName}`,
        // A value that was changed, or a message that says nothing of importance, is nothing that a client could see.
        visible: false,
        mutate: () => {
          let seen = 0
          const rest = randomOf(own)
          return (message) =>
            message.type === type && ++seen === occurrence ? change(message, rest) : [encode(message)]
        },
      }
    }),
  )
}

export const rogueSeed = 20_260_131

/** All scripts: scripts with their own responses, and changes of a real server's messages that follow from a seed. */
export const rogueScripts = (seed = rogueSeed): readonly RogueScript[] => [...answeringScripts, ...mutationsOf(seed)]

/** After a change, client and server may wait for each other; then the server closes the connection. */
const quietMs = 200

/**
 * Listens on a port of 127.0.0.1 and treats every connection by the script.
 * @param target the real server that scripts with changes need
 */
export async function startRoguePostgresql(
  script: RogueScript,
  target?: { readonly host: string; readonly port: number },
): Promise<RoguePostgresql> {
  const open = new Set<net.Socket>()
  const fellSilent = Promise.withResolvers()
  const server = net.createServer((client) => {
    open.add(client)
    client.setNoDelay(true)
    client.on('error', () => {})
    client.on('close', () => open.delete(client))
    if (script.answer) answer(client, script, () => fellSilent.resolve(undefined))
    else if (script.mutate && target) passOn(client, script.mutate(), target, open)
    else throw new Error(`The script needs a server behind it: ${script.name}`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    silent: () => fellSilent.promise,
    async close() {
      const closed = once(server, 'close')
      server.close()
      for (const socket of open) socket.destroy()
      await closed
    },
  }
}

/** Takes what a client sends apart: first a packet without a type, later messages with one. */
function answer(client: net.Socket, { answer: answers, silent }: RogueScript, fellSilent: () => void): void {
  answers?.connected?.(client)
  let started = false
  let buffered = Buffer.alloc(0)
  client.on('data', (data) => {
    buffered = Buffer.concat([buffered, data])
    while (true) {
      const at = started ? 1 : 0
      if (buffered.length < at + 4 || buffered.length < at + buffered.readUInt32BE(at)) return
      const type = started ? String.fromCharCode(buffered[0] ?? 0) : 'startup'
      buffered = buffered.subarray(at + buffered.readUInt32BE(at))
      if (type === 'startup') answers?.signIn(client)
      // A simple query, or the end of an extended one.
      if (type === 'Q' || type === 'S') answers?.statement?.(client)
      if (silent && (answers?.statement === undefined || type === 'Q' || type === 'S')) fellSilent()
      started = true
    }
  })
}

function passOn(
  client: net.Socket,
  mutate: (message: Message) => readonly Buffer[] | 'close',
  target: { readonly host: string; readonly port: number },
  open: Set<net.Socket>,
): void {
  const upstream = net.connect(target)
  open.add(upstream)
  upstream.setNoDelay(true)
  let buffered = Buffer.alloc(0)
  let changed = false
  const stop = () => {
    client.end()
    upstream.end()
  }
  let quiet: NodeJS.Timeout | undefined
  const noise = () => {
    clearTimeout(quiet)
    if (changed) quiet = setTimeout(stop, quietMs)
  }
  client.on('data', (data) => {
    noise()
    upstream.write(data)
  })
  upstream.on('data', (data) => {
    noise()
    buffered = Buffer.concat([buffered, data])
    while (buffered.length >= 5 && buffered.length >= 1 + buffered.readUInt32BE(1)) {
      const end = 1 + buffered.readUInt32BE(1)
      const message = { type: String.fromCharCode(buffered[0] ?? 0), body: buffered.subarray(5, end) }
      const instead = mutate(message)
      if (instead === 'close') return stop()
      const plain = encode(message)
      if (instead.length !== 1 || !instead[0]?.equals(plain)) {
        changed = true
        noise()
      }
      for (const bytes of instead) {
        if (bytes === closing) return stop()
        client.write(bytes)
      }
      buffered = buffered.subarray(end)
    }
  })
  for (const [from, to] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    from.on('error', () => to.destroy())
    from.on('end', () => to.end())
    from.on('close', () => {
      clearTimeout(quiet)
      open.delete(from)
      to.destroy()
    })
  }
}
