import { createHash } from 'node:crypto'
import { once } from 'node:events'
import net, { type AddressInfo, type Socket } from 'node:net'
import type { Values } from '@penstock/connector'
import ssh2, { type AuthContext, type Connection, type ServerChannel } from 'ssh2'
import { type Stage, serveRogueFiles } from './rogue-sftp-files.ts'
import { makeSshKey } from './ssh-keys.ts'

/** A server that begins like one of SFTP and then breaks a protocol: that of SSH, or that of SFTP in it. */
export type RogueSftpScript = {
  readonly name: string
  /** The code of the error, wherever the script strikes. Absent where any error, or none, will do. */
  readonly code?: string
  /** Nothing comes any more, so that only a time limit ends the work. */
  readonly silent?: boolean
  /** Talks instead of a server of SSH. */
  readonly raw?: (socket: Socket) => void
  /** Changes what the server sends; the first byte of `bytes` is the one at this offset of all. */
  readonly bend?: (bytes: Buffer, offset: number) => Buffer
  /** Handles a client that signs in. Returns `true` if the script has handled the attempt. */
  readonly signIn?: (context: AuthContext, connection: Connection) => boolean
  /** Meets a client that has signed in. */
  readonly session?: (connection: Connection) => boolean
  /** The framed bytes to send instead of a response; `undefined` leaves the response unchanged. */
  readonly act?: (answer: RogueAnswer) => Strike | undefined
}

export type RogueAnswer = {
  readonly stage: Stage
  readonly answer: Buffer
  readonly id: Buffer
  readonly index: number
}

export type Strike = {
  readonly bytes: Buffer
  /** Whether the conversation continues. Otherwise the connection is closed, or hushed. */
  readonly continues?: boolean
  readonly hush?: boolean
}

export type RogueSftp = {
  readonly port: number
  readonly secrets: Values
  /** Whether the script has struck since the last time that this was set. */
  struck: boolean
  /** Resolves once the server has fallen silent in one more connection. */
  hushed(): Promise<void>
  /** Falls silent, as a script says. */
  hush(): void
  close(): Promise<void>
}

export const rogueSourceSettings: Values = { path: '/in', pattern: '*.csv' }
export const rogueDestinationSettings: Values = { path: '/out', fileFormat: 'CSV', gzip: false }

const hostKey = makeSshKey('ed25519')
const userKey = makeSshKey('ed25519')
export const rogueFingerprint = `SHA256:${createHash('sha256')
  .update(Buffer.from(hostKey.public.split(' ')[1] ?? '', 'base64'))
  .digest('base64')}`

/** Internal members of the library, which its types lack. They send a packet of SSH unchanged. */
type Inner = {
  _protocol: {
    _packetRW: {
      write: { allocStart: number; alloc(size: number): Buffer; finalize(packet: Buffer): Buffer }
    }
    _cipher: { encrypt(packet: Buffer): void }
  }
}

/** Sends a packet of SSH whose payload is this, type and all. */
export function sendPacket(connection: Connection, payload: Buffer): void {
  const { _packetRW, _cipher } = (connection as unknown as Inner)._protocol
  const packet = _packetRW.write.alloc(payload.length)
  packet.set(payload, _packetRW.write.allocStart)
  _cipher.encrypt(_packetRW.write.finalize(packet))
}

/** Starts one on a free port. */
export async function startRogueSftp(script: RogueSftpScript): Promise<RogueSftp> {
  const sockets = new Set<Socket>()
  let hush = Promise.withResolvers<void>()
  const server = new ssh2.Server({ hostKeys: [hostKey.private] }, (connection) => {
    connection.on('error', () => {})
    connection.on('authentication', (context) => {
      if (script.signIn?.(context, connection)) rogue.struck = true
      else context.accept()
    })
    connection.on('ready', () => {
      if (script.session?.(connection)) rogue.struck = true
    })
    connection.on('session', (accept) => {
      accept().on('subsystem', (acceptChannel) => serve(acceptChannel(), connection))
    })
  })

  function serve(channel: ServerChannel, connection: Connection): void {
    let index = 0
    let over = false
    const receive = serveRogueFiles({
      send(stage, answer) {
        if (over) return
        const framed = (content: Buffer) => {
          const length = Buffer.alloc(4)
          length.writeUInt32BE(content.length)
          return Buffer.concat([length, content])
        }
        const strike = script.act?.({ stage, answer, id: answer.subarray(1, 5), index: index++ })
        if (!strike) return void channel.write(framed(answer))
        rogue.struck = true
        channel.write(strike.bytes)
        if (strike.continues) return
        over = true
        if (strike.hush) return hush.resolve()
        connection.end()
      },
    })
    channel.on('error', () => {})
    channel.on('data', receive)
  }

  const front = net.createServer({ noDelay: true }, (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => {})
    const { raw, bend } = script
    if (raw) {
      rogue.struck = true
      return raw(socket)
    }
    const inner = net.connect((server.address() as AddressInfo).port, '127.0.0.1')
    sockets.add(inner)
    inner.on('close', () => sockets.delete(inner) && socket.end()).on('error', () => {})
    socket.on('close', () => inner.destroy())
    let offset = 0
    inner.on('data', (bytes: Buffer) => {
      const bent = bend ? bend(bytes, offset) : bytes
      if (bent !== bytes) rogue.struck = true
      offset += bytes.length
      if (!socket.write(bent)) inner.pause()
    })
    socket.on('drain', () => inner.resume())
    socket.pipe(inner, { end: false })
  })
  for (const each of [server, front]) {
    each.listen(0, '127.0.0.1')
    await once(each, 'listening')
  }
  const { port } = front.address() as AddressInfo
  const rogue: RogueSftp = {
    port,
    struck: false,
    secrets: {
      hostname: '127.0.0.1',
      port,
      username: 'ada',
      sshPrivateKey: userKey.private,
      authentication: 'private key',
      hostKeyFingerprint: rogueFingerprint,
      hostKeyCheck: 'fingerprint',
    },
    async hushed() {
      await hush.promise
      hush = Promise.withResolvers()
    },
    hush: () => hush.resolve(),
    async close() {
      const closed = [once(front, 'close'), once(server, 'close')]
      front.close()
      server.close()
      for (const socket of sockets) socket.destroy()
      await Promise.all(closed)
    },
  }
  return rogue
}
