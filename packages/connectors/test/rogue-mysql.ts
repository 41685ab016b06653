import { once } from 'node:events'
import net, { type AddressInfo, type Socket } from 'node:net'
import type { Values } from '@penstock/connector'
import { confirmation, conversation, fail, frame, type Stage, text } from './rogue-mysql-conversation.ts'

/**
 * A server that begins like MySQL and then breaks the protocol: by a script with a name, or by a change that follows from a
 * number. It answers what the connector asks of a table `things` with the columns id and name.
 */
export type RogueMysqlScript = {
  readonly name: string
  /** The code of the error, wherever the script strikes. Absent where any error, or none, will do. */
  readonly code?: string
  /** Nothing comes any more, so that only a time limit ends the work. */
  readonly silent?: boolean
  /** The bytes to send instead of a packet; `undefined` leaves the packet unchanged. */
  readonly act: (packet: RoguePacket) => Strike | undefined
}

export type RoguePacket = {
  readonly stage: Stage
  readonly payload: Buffer
  readonly sequence: number
  /** The statement that is answered; empty before the first one. */
  readonly sql: string
  /** Which packet of the connection it is, from 0. */
  readonly index: number
}

export type Strike = {
  readonly bytes: Buffer
  /** The bytes to send after them, repeatedly, until the client stops reading. */
  readonly repeated?: (round: number) => Buffer
  /** Whether the conversation continues. Otherwise it ends: without an answer, or after these bytes by a closed connection. */
  readonly continues?: boolean
  readonly hush?: boolean
}

export type RogueMysql = {
  readonly port: number
  readonly secrets: Values
  /** Whether the script has struck since the last time that this was set. */
  struck: boolean
  /** All that clients sent. */
  received: Buffer
  /** Resolves once the server has fallen silent in one more connection. */
  hushed(): Promise<void>
  close(): Promise<void>
}

export const rogueSourceSettings: Values = { table: 'things' }
export const rogueDestinationSettings: Values = { table: 'things', writeMode: 'Insert' }

const mebibyte = 1024 * 1024
const u16 = (number: number) => Buffer.from([number & 0xff, number >> 8])
const whole = (payload: Buffer, { sequence }: RoguePacket): Strike => ({ bytes: frame(payload, sequence) })
/** A header that announces more than there is. */
export const header = (length: number, sequence: number) =>
  Buffer.from([length & 0xff, (length >> 8) & 0xff, length >> 16, sequence])

const script = (
  name: string,
  stage: Stage,
  code: string,
  strike: (packet: RoguePacket) => Strike,
): RogueMysqlScript => ({ name, code, act: (packet) => (packet.stage === stage ? strike(packet) : undefined) })
const payloads = (
  name: string,
  stage: Stage,
  code: string,
  change: (payload: Buffer, packet: RoguePacket) => Buffer,
): RogueMysqlScript => script(name, stage, code, (packet) => whole(change(packet.payload, packet), packet))
const silent = (
  name: string,
  stage: Stage,
  code: string,
  bytes: (packet: RoguePacket) => Buffer,
): RogueMysqlScript => ({
  ...script(name, stage, code, (packet) => ({ bytes: bytes(packet), hush: true })),
  silent: true,
})
const nothing = Buffer.alloc(0)
export const bytesOf = (...parts: (Buffer | number[] | string)[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))))

/** Overwrites bytes of a greeting, counted from the zero behind its version. */
const inGreeting = (payload: Buffer, offset: number, bytes: number[]): Buffer => {
  const changed = Buffer.from(payload)
  Buffer.from(bytes).copy(changed, changed.indexOf(0, 1) + 1 + offset)
  return changed
}

const greetings: readonly RogueMysqlScript[] = [
  script('greets as SSH', 'greeting', 'wrong_protocol', () => ({ bytes: Buffer.from('SSH-2.0-OpenSSH_9.2p1\r\n') })),
  script('greets as SMTP', 'greeting', 'wrong_protocol', () => ({
    bytes: Buffer.from('220 mail.example.com ESMTP\r\n'),
  })),
  script('greets as HTTP', 'greeting', 'wrong_protocol', () => ({
    bytes: Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'),
  })),
  script('closes at once', 'greeting', 'connection_lost', () => ({ bytes: nothing })),
  script('closes in its greeting', 'greeting', 'connection_lost', ({ payload }) => ({
    bytes: frame(payload, 0).subarray(0, 20),
  })),
  payloads('greets with nothing', 'greeting', 'wrong_protocol', () => nothing),
  payloads('greets by protocol 9', 'greeting', 'wrong_protocol', (payload) => bytesOf([9], payload.subarray(1))),
  payloads('greets with one byte', 'greeting', 'wrong_protocol', () => Buffer.from([10])),
  payloads('cuts its greeting in the challenge', 'greeting', 'wrong_protocol', (payload) => payload.subarray(0, 20)),
  payloads('cuts its greeting before the plugin', 'greeting', 'wrong_protocol', (payload) => payload.subarray(0, 45)),
  payloads('has a version without end', 'greeting', 'wrong_protocol', () => Buffer.alloc(60_000, 0x61).fill(10, 0, 1)),
  payloads('has a version of 30 KB', 'greeting', 'wrong_protocol', (payload) =>
    bytesOf([10], 'a'.repeat(30_000), payload.subarray(payload.indexOf(0, 1))),
  ),
  payloads('is older than MySQL 4.1', 'greeting', 'wrong_protocol', (payload) => inGreeting(payload, 13, [0, 0])),
  script('greets with 16 MiB', 'greeting', 'wrong_protocol', () => ({
    bytes: header(0xff_fffe, 0),
    repeated: () => Buffer.alloc(mebibyte, 10),
  })),
  script('greets out of order', 'greeting', 'wrong_protocol', ({ payload }) => ({ bytes: frame(payload, 7) })),
  script('confirms before it was answered', 'greeting', 'wrong_protocol', ({ payload }) => ({
    bytes: bytesOf(frame(payload, 0), frame(confirmation(0), 1)),
  })),
  script('greets twice', 'greeting', 'wrong_protocol', ({ payload }) => ({
    bytes: bytesOf(frame(payload, 0), frame(payload, 1)),
  })),
  payloads('has too many connections', 'greeting', 'platform_unavailable', () =>
    bytesOf([0xff], u16(1040), 'Too many connections'),
  ),
  payloads('refuses without a number', 'greeting', 'wrong_protocol', () => Buffer.from([0xff])),
  payloads('offers compression and everything else', 'greeting', 'wrong_protocol', (payload) =>
    inGreeting(inGreeting(payload, 13, [0xff, 0xff]), 18, [0xff, 0xff]).subarray(0, 60),
  ),
]

const signIns: readonly RogueMysqlScript[] = [
  payloads('wants an unknown plugin', 'sign-in', 'not_supported', () =>
    bytesOf([0xfe], 'authentication_windows_client\0', Buffer.alloc(20, 65)),
  ),
  payloads('wants a plugin that objects inherit', 'sign-in', 'not_supported', () =>
    bytesOf([0xfe], '__proto__\0', Buffer.alloc(20, 65)),
  ),
  payloads('wants the password in clear text', 'sign-in', 'not_supported', () =>
    bytesOf([0xfe], 'mysql_clear_password\0'),
  ),
  payloads('wants the old sign-in', 'sign-in', 'not_supported', () => Buffer.from([0xfe])),
  payloads('sends a key that is none', 'sign-in', 'not_supported', () => bytesOf([1], 'no key')),
  payloads('wants another factor', 'sign-in', 'wrong_protocol', () => bytesOf([2], 'other\0', Buffer.alloc(20, 65))),
  payloads('answers the sign-in with an unknown packet', 'sign-in', 'wrong_protocol', () =>
    Buffer.from([0x77, 1, 2, 3]),
  ),
  payloads('answers the sign-in with rows', 'sign-in', 'wrong_protocol', () => text('abc', 'b')),
  payloads('answers the sign-in with nothing', 'sign-in', 'wrong_protocol', () => nothing),
  payloads('cuts the confirmation of the sign-in', 'sign-in', 'wrong_protocol', () => Buffer.from([0, 0])),
  payloads('refuses the user with an error that is cut', 'sign-in', 'wrong_protocol', () => Buffer.from([0xff, 0x15])),
  payloads('refuses the user', 'sign-in', 'invalid_credentials', () => fail(1045, '28000', 'Access denied')),
  script('switches the sign-in for ever', 'sign-in', 'wrong_protocol', ({ sequence }) => ({
    bytes: bytesOf(
      ...Array.from({ length: 40 }, (_, at) =>
        frame(bytesOf([0xfe], 'mysql_native_password\0', Buffer.alloc(20, 65)), (sequence + at) % 256),
      ),
    ),
  })),
  script('sends a sign-in of 1 MiB', 'sign-in', 'wrong_protocol', ({ sequence }) => ({
    bytes: frame(Buffer.alloc(mebibyte, 1), sequence),
  })),
  script('confirms and keeps talking', 'sign-in', 'unexpected_response', (packet) => ({
    bytes: bytesOf(frame(packet.payload, packet.sequence), frame(text('more'), packet.sequence + 1)),
  })),
  script('confirms and then gives up', 'sign-in', 'connection_lost', (packet) => ({
    bytes: bytesOf(frame(packet.payload, packet.sequence), frame(fail(1053, '08S01', 'Shutdown'), 0)),
  })),
]

const answers: readonly RogueMysqlScript[] = [
  script('asks for a file at every statement', 'confirmation', 'unexpected_response', ({ sequence }) => ({
    bytes: frame(bytesOf([0xfb], '/etc/passwd'), sequence),
    continues: true,
  })),
  script('asks for a file at every question', 'count', 'unexpected_response', ({ sequence }) => ({
    bytes: frame(bytesOf([0xfb], '/etc/passwd'), sequence),
    continues: true,
  })),
  payloads('cuts a confirmation', 'confirmation', 'unexpected_response', () => Buffer.from([0, 0xfe, 1])),
  payloads('confirms more rows than there are numbers', 'confirmation', 'unexpected_response', () =>
    bytesOf([0, 0xff, 0, 2, 0, 0, 0]),
  ),
  payloads('announces more results', 'confirmation', 'unexpected_response', () =>
    Buffer.from([0, 0, 0, 0x0a, 0, 0, 0]),
  ),
  payloads('confirms with nothing', 'confirmation', 'unexpected_response', () => nothing),
  payloads('sends an error that is cut', 'confirmation', 'unexpected_response', () => Buffer.from([0xff, 0x10])),
  payloads('sends an error with a state that is cut', 'confirmation', 'unexpected_response', () =>
    bytesOf([0xff, 0x10, 0x04], '#420'),
  ),
  payloads('sends an unknown error of 60 KB', 'confirmation', 'statement_failed', () =>
    fail(65_000, 'XX000', 'canary'.repeat(10_000)),
  ),
  script('sends an error of 1 MiB', 'confirmation', 'unexpected_response', ({ sequence }) => ({
    bytes: frame(fail(1064, '42000', 'x'.repeat(mebibyte)), sequence),
  })),
  script('answers out of order', 'confirmation', 'unexpected_response', ({ payload }) => ({
    bytes: frame(payload, 99),
  })),
  script('closes in an answer', 'confirmation', 'connection_lost', ({ payload }) => ({
    bytes: frame(payload, 1).subarray(0, 5),
  })),
  payloads('has no columns', 'count', 'unexpected_response', () => Buffer.from([0xfc, 0, 0])),
  payloads('has two thousand and one columns', 'count', 'too_many_columns', () => bytesOf([0xfc], u16(2001))),
  payloads('has sixteen million columns', 'count', 'too_many_columns', () => Buffer.from([0xfd, 0xff, 0xff, 0xff])),
  payloads('has more columns than there are numbers', 'count', 'too_many_columns', () => Buffer.alloc(9, 0xfe)),
  payloads('cuts the number of columns', 'count', 'unexpected_response', () => Buffer.from([0xfd, 1])),
  payloads('cuts the definition of a column', 'column', 'unexpected_response', (payload) =>
    payload.subarray(0, payload.length - 6),
  ),
  payloads('defines a column with a name beyond its packet', 'column', 'unexpected_response', () =>
    bytesOf([3], 'def', [0, 0, 0, 0xfc, 0xff, 0xff], 'name'),
  ),
  payloads('defines a column with nothing', 'column', 'unexpected_response', () => nothing),
  payloads('defines a column of 60 KB that is none', 'column', 'unexpected_response', () => Buffer.alloc(60_000, 3)),
  payloads('ends the columns too early', 'column', 'unexpected_response', () => Buffer.from([0xfe, 0, 0, 2, 0])),
  script('defines columns without end', 'columns-end', 'unexpected_response', ({ sequence }) => ({
    bytes: bytesOf(...Array.from({ length: 300 }, (_, at) => frame(Buffer.alloc(40, 3), (sequence + at) % 256))),
  })),
  payloads('ends the columns with a row', 'columns-end', 'unexpected_response', () => text('1', 'a')),
  payloads('cuts a row', 'row', 'unexpected_response', (payload) => payload.subarray(0, payload.length - 1)),
  payloads('sends a row with a value too many', 'row', 'unexpected_response', (payload) =>
    bytesOf(payload, text('more')),
  ),
  payloads('sends a value beyond its row', 'row', 'unexpected_response', () =>
    bytesOf([0xfd, 0xff, 0xff, 0x7f], 'short'),
  ),
  payloads('sends a value longer than memory', 'row', 'unexpected_response', () => Buffer.alloc(20, 0xfe)),
  payloads('sends a row of nothing', 'row', 'unexpected_response', () => nothing),
  payloads('fails among the rows', 'row', 'statement_timeout', () => fail(1317, '70100', 'interrupted')),
  payloads('ends the rows with more results to come', 'rows-end', 'unexpected_response', () =>
    Buffer.from([0xfe, 0, 0, 0x0a, 0]),
  ),
  script('sends a row of 16 MiB packets without end', 'row', 'row_too_large', ({ sequence }) => ({
    bytes: nothing,
    repeated: (round) => Buffer.concat([header(0xff_ffff, (sequence + round) % 256), Buffer.alloc(0xff_ffff, 0xfe)]),
  })),
  {
    name: 'sends rows without end to a question about its tables',
    code: 'response_too_large',
    act: ({ stage, sql, payload, sequence }) =>
      stage === 'row' && !sql.includes('order by `penstock_source`')
        ? {
            bytes: nothing,
            repeated: () =>
              Buffer.concat(Array.from({ length: 256 }, (_, at) => frame(payload, (sequence + at) % 256))),
          }
        : undefined,
  },
  {
    name: 'confirms questions instead of answering them',
    act: ({ stage, sequence, sql }) => {
      if (stage === 'count') return { bytes: frame(confirmation(0), sequence), continues: true }
      return stage === 'confirmation' || stage === 'greeting' || stage === 'sign-in' || sql === ''
        ? undefined
        : { bytes: nothing, continues: true }
    },
  },
  {
    name: 'leaves every value out',
    act: ({ stage, payload, sequence }) =>
      stage === 'row' ? { bytes: frame(nulls(payload), sequence), continues: true } : undefined,
  },
  {
    name: 'sends bytes that are not text for every value',
    act: ({ stage, payload, sequence }) =>
      stage === 'row' ? { bytes: frame(spoilt(payload), sequence), continues: true } : undefined,
  },
  {
    name: 'says that nothing was changed',
    act: ({ stage, sequence }) =>
      stage === 'confirmation' ? { bytes: frame(confirmation(0), sequence), continues: true } : undefined,
  },
  {
    name: 'sends everything byte by byte',
    act: () => undefined,
  },
]

const stalls: readonly RogueMysqlScript[] = [
  silent('never greets', 'greeting', 'unreachable', () => nothing),
  silent('greets half', 'greeting', 'unreachable', ({ payload }) => frame(payload, 0).subarray(0, 9)),
  silent('never answers the sign-in', 'sign-in', 'unreachable', () => nothing),
  silent('never confirms', 'confirmation', 'statement_timeout', () => nothing),
  silent('never sends a row', 'row', 'statement_timeout', () => nothing),
  silent('sends half a row', 'row', 'statement_timeout', ({ payload, sequence }) =>
    frame(payload, sequence).subarray(0, 5),
  ),
]

export const rogueMysqlScripts: readonly RogueMysqlScript[] = [...greetings, ...signIns, ...answers, ...stalls]

function values(payload: Buffer): number {
  let count = 0
  for (let at = 0; at < payload.length; count += 1) at += 1 + (payload[at] === 0xfb ? 0 : (payload[at] ?? 0))
  return count
}
const nulls = (payload: Buffer) => Buffer.alloc(values(payload), 0xfb)
const spoilt = (payload: Buffer) =>
  Buffer.concat(Array.from({ length: values(payload) }, () => Buffer.from([3, 0xff, 0x80, 0x27])))

/** Starts one on a free port. */
export async function startRogueMysql({ name, act }: RogueMysqlScript): Promise<RogueMysql> {
  const sockets = new Set<Socket>()
  let hush = Promise.withResolvers<void>()
  const pieces: Buffer[] = []
  const byteByByte = name.endsWith('byte by byte')
  const server = net.createServer({ noDelay: true }, (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => {})
    let index = 0
    let over = false
    const send = (bytes: Buffer) => {
      if (byteByByte) for (const byte of bytes) socket.write(Buffer.from([byte]))
      else socket.write(bytes)
    }
    conversation(socket, {
      received: (bytes) => pieces.push(bytes),
      send(stage, payload, sequence, sql) {
        if (over) return
        const strike = act({ stage, payload, sequence, sql, index: index++ })
        if (!strike) return send(frame(payload, sequence))
        rogue.struck = true
        if (strike.continues) return send(strike.bytes)
        over = true
        if (strike.hush) {
          socket.write(strike.bytes)
          return hush.resolve()
        }
        const { repeated } = strike
        if (!repeated) return void socket.end(strike.bytes)
        let round = 0
        const repeat = () => {
          while (!socket.destroyed && socket.write(repeated(round++)));
        }
        socket.on('drain', repeat)
        socket.write(strike.bytes)
        repeat()
      },
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const rogue: RogueMysql = {
    port,
    struck: false,
    secrets: {
      host: '127.0.0.1',
      port,
      database: 'penstock',
      user: 'ada',
      password: 'canary-of-rogue',
      tlsMode: 'disable',
    },
    get received() {
      return Buffer.concat(pieces)
    },
    set received(bytes) {
      pieces.splice(0, pieces.length, bytes)
    },
    async hushed() {
      await hush.promise
      hush = Promise.withResolvers()
    },
    async close() {
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
  return rogue
}
