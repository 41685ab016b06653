import type net from 'node:net'

/** Answers that no PostgreSQL gives, in bytes of its protocol (version 3.0). */

/** The behaviour of a rogue server on a connection. */
export type RogueScript = {
  /** Unique; completes the sentence “the server …”. */
  readonly name: string
  /** From some point on it sends nothing, or nothing whole, and keeps the connection: only a deadline ends that. */
  readonly silent?: boolean
  /** Its answer is wrong in a way that a client can see, so no work may succeed. */
  readonly visible: boolean
  /** The bytes to send instead of the bytes of the server behind it; absent if the script responds without a server. */
  readonly mutate?: () => (message: Message) => readonly Buffer[] | 'close'
  /** Answers alone, without a server behind it. */
  readonly answer?: Answers
}

/** A message of a server: its type, and its content without type and length. */
export type Message = { readonly type: string; readonly body: Buffer }

export type Send = (socket: net.Socket) => void

/** The responses to the startup packet and to each statement. */
export type Answers = { readonly signIn: Send; readonly statement?: Send; readonly connected?: Send }

export const encode = ({ type, body }: Message, length = body.length + 4): Buffer => {
  const head = Buffer.alloc(5)
  head.write(type, 'latin1')
  head.writeUInt32BE(length, 1)
  return Buffer.concat([head, body])
}

const bytes = (...parts: (string | number | Buffer)[]): Buffer =>
  Buffer.concat(
    parts.map((part) => (Buffer.isBuffer(part) ? part : typeof part === 'string' ? Buffer.from(part) : int32(part))),
  )
const int32 = (value: number): Buffer => {
  const buffer = Buffer.alloc(4)
  buffer.writeInt32BE(value | 0)
  return buffer
}
const int16 = (value: number): Buffer => {
  const buffer = Buffer.alloc(2)
  buffer.writeInt16BE(value)
  return buffer
}
const message = (type: string, ...parts: (string | number | Buffer)[]): Buffer =>
  encode({ type, body: bytes(...parts) })
const text = (value: string): string => `${value}\0`
const head = (type: string, length: number): Buffer => encode({ type, body: Buffer.alloc(0) }, length)

const ok = message('R', 0)
const ready = message('Z', 'I')
const keyData = message('K', 4711, 12345)
const parameters = [
  ['server_version', '18.0'],
  ['client_encoding', 'UTF8'],
  ['standard_conforming_strings', 'on'],
].map(([name = '', value = '']) => message('S', text(name), text(value)))
const signedIn = Buffer.concat([ok, ...parameters, keyData, ready])
const done = (tag: string) => message('C', text(tag))
const column = (name: string) => bytes(text(name), 0, int16(0), 25, int16(-1), -1, int16(0))
const description = (...names: string[]) => message('T', int16(names.length), ...names.map(column))
const error = (fields: Record<string, string>) =>
  message('E', ...Object.entries(fields).map(([code, value]) => code + text(value)), '\0')
const sasl = message('R', 10, text('SCRAM-SHA-256'), '\0')

const send =
  (...parts: Buffer[]): Send =>
  (socket) =>
    void socket.write(Buffer.concat(parts))

/** Sends the same again and again, as fast as it is taken. */
const endless =
  (unit: Buffer, before: Buffer = Buffer.alloc(0)): Send =>
  (socket) => {
    const block = Buffer.concat(Array.from({ length: Math.ceil(65_536 / unit.length) }, () => unit))
    socket.write(before)
    const more = () => {
      while (!socket.destroyed && socket.write(block));
      if (!socket.destroyed) socket.once('drain', () => setImmediate(more))
    }
    more()
  }

/** Announces a message of so many bytes, and sends so many of them. */
const announced =
  (type: string, length: number, sent: number, before: Buffer = Buffer.alloc(0)): Send =>
  (socket) => {
    socket.write(Buffer.concat([before, head(type, length)]))
    let left = sent
    const block = Buffer.alloc(65_536)
    const more = () => {
      while (left > 0 && !socket.destroyed) {
        left -= block.length
        if (!socket.write(block)) return void socket.once('drain', more)
      }
    }
    more()
  }

const trickle =
  (unit: Buffer): Send =>
  (socket) => {
    let at = 0
    // An interval, because deadlines under test are timeouts.
    const timer = setInterval(() => void socket.write(unit.subarray(at % unit.length, (at++ % unit.length) + 1)), 5)
    socket.on('close', () => clearInterval(timer))
  }

/** After sign-in went well, each statement is answered so. */
const statement = (name: string, answer: Send, silent = false): RogueScript => ({
  name: `answers statements with ${name}`,
  visible: true,
  silent,
  answer: { signIn: send(signedIn), statement: answer },
})
const signIn = (name: string, answer: Send, silent = false): RogueScript => ({
  name: `answers the sign-in with ${name}`,
  visible: true,
  silent,
  answer: { signIn: answer },
})
const sayNothing: Send = () => {}

/** Each is a mistake of its own; none needs a server behind it. */
export const answeringScripts: readonly RogueScript[] = [
  {
    name: 'closes each connection',
    visible: true,
    answer: { connected: (socket) => socket.destroy(), signIn: sayNothing },
  },
  {
    name: 'resets each connection',
    visible: true,
    answer: { connected: (socket) => socket.resetAndDestroy(), signIn: sayNothing },
  },
  {
    name: 'greets like SSH',
    visible: true,
    answer: { connected: send(Buffer.from('SSH-2.0-OpenSSH_9.2\r\n')), signIn: sayNothing },
  },
  signIn('its end', (socket) => socket.end()),
  signIn('HTTP', send(Buffer.from('HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n'))),
  signIn('one byte, and ends', (socket) => socket.end('R')),
  signIn('nothing', sayNothing, true),
  signIn('single bytes', trickle(message('S', text('x'.repeat(4000)), text('y'))), true),
  signIn('an authentication of no type', send(message('R', 99))),
  ...[2, 6, 7, 9].map((type) => signIn(`an authentication that is not supported (${type})`, send(message('R', type)))),
  signIn('an authentication without a type', send(head('R', 4))),
  signIn('a request for MD5 without salt', send(message('R', 5))),
  signIn('a request for a password that is too long', send(message('R', 3, 0))),
  signIn('endless requests for the password', endless(message('R', 3))),
  signIn('no mechanism', send(message('R', 10, '\0'))),
  signIn('a mechanism that is not known', send(message('R', 10, text('X-NONE'), '\0'))),
  signIn('a list of mechanisms that never ends', send(message('R', 10, 'SCRAM-SHA-256'))),
  signIn('a challenge that was not asked for', send(message('R', 11, 'r=1,s=AAAA,i=4096'))),
  signIn('a challenge of nonsense', send(sasl, message('R', 11, 'nonsense'))),
  signIn('a challenge with a nonce of its own', send(sasl, message('R', 11, 'r=abc,s=AAAA,i=4096'))),
  signIn('a challenge of very many rounds', send(sasl, message('R', 11, 'r=abc,s=AAAA,i=2147483647'))),
  signIn('a proof that was not asked for', send(message('R', 12, 'v=AAAA'))),
  signIn('a welcome in the middle of SCRAM', send(sasl, signedIn)),
  signIn('readiness before any welcome', send(ready)),
  signIn('endless parameters', endless(message('S', text('a'), text('b')), ok)),
  signIn('endless notices', endless(message('N', 'M', text('hello'), '\0'), ok)),
  signIn('a key that is too short', send(ok, message('K', 1), ready)),
  signIn('another version of the protocol', send(message('v', 3, 0))),
  signIn('an error without its end', send(message('E', 'SFATAL\0', 'Mno'))),
  signIn('an error without a field', send(message('E', '\0'))),
  signIn('an error of no code', send(error({ S: 'FATAL', M: 'password authentication is not what this is' }))),
  signIn('an error whose code is none', send(error({ S: 'FATAL', C: '\u001b[31m', M: 'x' }))),
  signIn('an error of a code that is not known', send(error({ S: 'FATAL', C: 'ZZ123', M: 'x' }))),
  ...[0, 3, 0x7fffffff, 0xffffffff].map((length) => signIn(`a message of ${length} bytes`, send(head('S', length)))),
  signIn('700 MB of a parameter', announced('S', 700e6, 700e6)),
  signIn('a type of message that is not known', send(message('\u0001', 1))),
  signIn('rows', send(ok, message('D', int16(0)), ready)),

  statement('its end', (socket) => socket.end()),
  statement('nothing', sayNothing, true),
  statement('single bytes', trickle(description('a'.repeat(900))), true),
  statement('32,767 columns that are not there', send(message('T', int16(32_767)))),
  statement('−5 columns', send(message('T', int16(-5)))),
  statement(
    'too many columns',
    send(description(...Array.from({ length: 2001 }, (_, at) => `c${at}`)), done('SELECT 0'), ready),
  ),
  statement('a column whose name never ends', send(message('T', int16(1), 'name'))),
  statement('a column with a name of a megabyte', send(description('x'.repeat(1_000_000)), done('SELECT 0'), ready)),
  statement('columns and more', send(message('T', int16(0), 'more'), done('SELECT 0'), ready)),
  statement(
    'columns of names that objects have',
    send(
      description('__proto__', 'constructor', 'toString'),
      message('D', int16(3), -1, -1, -1),
      done('SELECT 1'),
      ready,
    ),
  ),
  statement('a row without columns', send(message('D', int16(1), -1), done('SELECT 1'), ready)),
  statement(
    'a row of too many values',
    send(description('a'), message('D', int16(2), -1, -1), done('SELECT 1'), ready),
  ),
  statement('a row of −1 values', send(description('a'), message('D', int16(-1)), done('SELECT 1'), ready)),
  statement('a value of −2 bytes', send(description('a'), message('D', int16(1), -2), done('SELECT 1'), ready)),
  statement(
    'a value that is longer than its row',
    send(description('a'), message('D', int16(1), 100, 'x'), done('SELECT 1'), ready),
  ),
  statement('700 MB of a row', announced('D', 700e6, 700e6, description('a'))),
  statement('endless rows', endless(message('D', int16(1), 1, 'x'), description('a'))),
  statement('endless rows of nothing', endless(message('D', int16(0)), description())),
  statement('endless notices', endless(message('N', 'M', text('hello'), '\0'))),
  statement('endless notifications', endless(message('A', 1, text('channel'), text('payload')))),
  statement('endless columns', endless(description('a'))),
  statement('endless completions', endless(done('SELECT 0'))),
  statement('endless empty statements', endless(message('I'))),
  statement('endless readiness', endless(ready)),
  statement('a completion without its end', send(message('C', 'SELECT 0'), ready)),
  statement('a completion of nonsense', send(done('\u0007 7'), ready)),
  statement('a completion of nothing', send(done(''), ready)),
  statement('a completion of something else', send(done('DROP TABLE'), ready)),
  statement('a completion of too many rows', send(done('COPY 99999999999999999999999'), ready)),
  statement('readiness alone', send(ready)),
  statement('readiness of no status', send(done('SELECT 0'), message('Z', 'X'))),
  statement('readiness in a transaction that failed', send(done('SELECT 0'), message('Z', 'E'))),
  statement('readiness that is too long', send(done('SELECT 0'), message('Z', 'I', 0))),
  statement('a request for COPY', send(message('G', '\0', int16(0)))),
  statement('a request for COPY of −1 columns', send(message('G', '\0', int16(-1)))),
  statement('COPY of nothing', send(message('H', '\0', int16(0)), message('c'), done('COPY 0'), ready)),
  statement(
    'COPY in binary',
    send(message('H', '\u0001', int16(1), int16(1)), message('d', 'PGCOPY\n'), message('c'), done('COPY 1'), ready),
  ),
  statement('COPY both ways', send(message('W', '\0', int16(0)))),
  statement('COPY data out of place', send(message('d', 'a\tb\n'), done('COPY 1'), ready)),
  statement('700 MB of COPY data', announced('d', 700e6, 700e6, message('H', '\0', int16(0)))),
  statement('the end of a COPY out of place', send(message('c'), done('COPY 0'), ready)),
  statement('the result of a function', send(message('V', 4, 'abcd'), ready)),
  statement('a portal that is suspended', send(message('s'), ready)),
  statement('a notification that is too short', send(message('A', 1))),
  statement('a welcome', send(signedIn)),
  statement('an error without its end', send(message('E', 'SERROR\0', 'C42P01\0', 'Mno'), ready)),
  statement('an error of 10 MB', send(error({ S: 'ERROR', C: '42P01', M: 'x'.repeat(10e6) }), ready)),
  statement('an error of very many fields', send(message('E', text('M').repeat(500_000), '\0'), ready)),
  statement('an error of no code', send(error({ S: 'ERROR', M: 'does not support SSL' }), ready)),
  statement('an error whose code is very long', send(error({ S: 'ERROR', C: 'X'.repeat(100_000), M: 'x' }), ready)),
  statement('an error whose code objects have', send(error({ S: 'ERROR', C: 'constructor', M: 'x' }), ready)),
  statement('an error, and says no more', send(error({ S: 'FATAL', C: '57P01', M: 'bye' })), true),
  statement(
    'two errors',
    send(error({ S: 'ERROR', C: '42601', M: 'a' }), error({ S: 'ERROR', C: '42601', M: 'b' }), ready),
  ),
  ...[0, 3, 0x7fffffff, 0xffffffff].map((length) => statement(`a message of ${length} bytes`, send(head('C', length)))),
]
