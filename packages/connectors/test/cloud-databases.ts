import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import net, { type AddressInfo } from 'node:net'
import tls from 'node:tls'
import pg from 'pg'

/**
 * Databases of clouds: TLS and a password in clear text in front of a real server, which sees an ordinary user. The protocols are
 * https://www.postgresql.org/docs/current/protocol-flow.html and
 * https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase.html
 */

const read = (name: string) => readFileSync(new URL(`certificates/${name}`, import.meta.url))
const credentials = { key: read('clouds.key'), cert: read('clouds.pem') }
/** The certificate of the databases, for hosts of three clouds, in PEM. */
export const cloudCertificate = credentials.cert.toString()

/** Whether a token signs in as a user. */
export type Judge = (user: string, token: string) => Promise<boolean>

export type CloudDatabase = { readonly port: number; close(): Promise<void> }

/** Reads exact numbers of bytes, until the rest is handed over. */
function reader(socket: net.Socket) {
  const take = async (size: number): Promise<Buffer> => {
    for (;;) {
      const bytes: Buffer | null = size === 0 ? Buffer.alloc(0) : socket.read(size)
      if (bytes?.length === size) return bytes
      if (socket.readableEnded || socket.destroyed) throw new Error('ended')
      await Promise.race([once(socket, 'readable'), once(socket, 'close')])
    }
  }
  return take
}

const pass = (one: net.Socket, other: net.Socket) => {
  one.pipe(other).pipe(one)
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.on('error', () => to.destroy()).on('close', () => to.destroy())
  }
}

async function listen(serve: (client: net.Socket) => Promise<void>): Promise<CloudDatabase> {
  const open = new Set<net.Socket>()
  const server = net.createServer((client) => {
    open.add(client)
    client.on('error', () => {})
    serve(client).catch(() => client.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      for (const socket of open) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

const encrypted = (client: net.Socket): tls.TLSSocket =>
  new tls.TLSSocket(client, { isServer: true, ...credentials }).on('error', () => {})

const message = (type: string, body: Buffer): Buffer => {
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}
const numbers = (...values: number[]): Buffer => {
  const bytes = Buffer.alloc(4 * values.length)
  for (const [n, value] of values.entries()) bytes.writeInt32BE(value, 4 * n)
  return bytes
}

/** @param url the real database, with its user */
export const startCloudPostgresql = (url: string, judge: Judge): Promise<CloudDatabase> =>
  listen(async (plain) => {
    await reader(plain)(8)
    plain.write('S')
    const client = encrypted(plain)
    const take = reader(client)
    const startup = await take((await take(4)).readInt32BE() - 4)
    const parts = startup.subarray(4).toString().split('\0')
    const user = parts[parts.indexOf('user') + 1] ?? ''
    client.write(message('R', numbers(3)))
    await take(1)
    const token = (await take((await take(4)).readInt32BE() - 4)).toString().replace(/\0$/, '')
    if (!(await judge(user, token))) {
      client.end(message('E', Buffer.from('SFATAL\0C28P01\0MPAM authentication failed for user\0\0')))
      return
    }
    const upstream = new pg.Client(url)
    const raw = (upstream as unknown as { connection: pg.Connection }).connection
    const statuses: Buffer[] = []
    raw.on('parameterStatus', ({ parameterName, parameterValue }) => {
      statuses.push(message('S', Buffer.from(`${parameterName}\0${parameterValue}\0`)))
    })
    await upstream.connect()
    const { processID = 0, secretKey = 0 } = upstream as unknown as { processID?: number; secretKey?: number }
    const server = raw.stream as net.Socket
    server.removeAllListeners()
    client.write(
      Buffer.concat([
        message('R', numbers(0)),
        ...statuses,
        message('K', numbers(processID, secretKey)),
        message('Z', Buffer.from('I')),
      ]),
    )
    pass(client, server)
  })

const packet = (sequence: number, body: Buffer): Buffer => {
  const head = Buffer.alloc(4)
  head.writeUIntLE(body.length, 0, 3)
  head.writeUInt8(sequence, 3)
  return Buffer.concat([head, body])
}

const tlsFlag = 0x800

/** @param target the real server, with a user who has no password */
export const startCloudMysql = (
  target: { readonly port: number; readonly user: string },
  judge: Judge,
): Promise<CloudDatabase> =>
  listen(async (plain) => {
    const server = net.connect(target.port, '127.0.0.1')
    const packetOf = async (take: (size: number) => Promise<Buffer>): Promise<Buffer> =>
      take((await take(4)).readUIntLE(0, 3))
    const fromServer = reader(server)
    plain.write(packet(0, await packetOf(fromServer)))
    await packetOf(reader(plain))
    const client = encrypted(plain)
    const take = reader(client)
    const answer = await packetOf(take)
    const userEnds = answer.indexOf(0, 32)
    const user = answer.subarray(32, userEnds).toString()
    client.write(packet(3, Buffer.from('\xfemysql_clear_password\0', 'latin1')))
    const token = (await packetOf(take)).toString().replace(/\0$/, '')
    if (!(await judge(user, token))) {
      client.end(packet(5, Buffer.from('\xff\x15\x04#28000Access denied for user', 'latin1')))
      return
    }
    const head = Buffer.from(answer.subarray(0, 32))
    head.writeUInt32LE((head.readUInt32LE(0) & ~tlsFlag) >>> 0, 0)
    const rest = answer.subarray(userEnds + 2 + answer.readUInt8(userEnds + 1))
    server.write(packet(1, Buffer.concat([head, Buffer.from(`${target.user}\0\0`), rest])))
    let reply = await packetOf(fromServer)
    if (reply[0] === 0xfe) {
      server.write(packet(3, Buffer.alloc(0)))
      reply = await packetOf(fromServer)
    }
    client.write(packet(5, reply))
    pass(client, server)
  })
