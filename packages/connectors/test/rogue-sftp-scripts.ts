import type { Socket } from 'node:net'
import type { Connection } from 'ssh2'
import { numbersFrom } from './random.ts'
import { type RogueAnswer, type RogueSftpScript, type Strike, sendPacket } from './rogue-sftp.ts'
import { answer, attributes, names, packet, type Stage, status, string, u32 } from './rogue-sftp-files.ts'

const identification = 'SSH-2.0-OpenSSH_9.2p1 rogue\r\n'
const mebibyte = 1024 * 1024

const says = (name: string, code: string, ...parts: (string | Buffer)[]): RogueSftpScript => ({
  name,
  code,
  raw: (socket) => void socket.end(Buffer.concat(parts.map((part) => Buffer.from(part)))),
})
const repeats = (name: string, code: string, first: string, piece: Buffer): RogueSftpScript => ({
  name,
  code,
  raw(socket: Socket) {
    socket.write(first)
    const repeat = () => {
      while (!socket.destroyed && socket.write(piece));
    }
    socket.on('drain', repeat)
    repeat()
  },
})

/** A packet of SSH before encryption. */
function plainPacket(payload: Buffer): Buffer {
  const padding = 8 - ((5 + payload.length) % 8) + 8
  return Buffer.concat([u32(1 + payload.length + padding), Buffer.from([padding]), payload, Buffer.alloc(padding)])
}
const offer = (...lists: string[]): Buffer =>
  plainPacket(
    Buffer.concat([Buffer.from([20]), Buffer.alloc(16, 7), ...lists.map((list) => string(list)), Buffer.alloc(5)]),
  )
const usual = ['aes128-ctr', 'aes128-ctr', 'hmac-sha2-256', 'hmac-sha2-256', 'none', 'none', '', '']

const beforeSsh: readonly RogueSftpScript[] = [
  says('greets as HTTP', 'wrong_protocol', 'HTTP/1.1 400 Bad Request\r\n\r\n'),
  says('greets as MySQL', 'wrong_protocol', Buffer.from([74, 0, 0, 0, 10]), '10.11.0-MariaDB\0', Buffer.alloc(60, 65)),
  says('closes at once', 'wrong_protocol'),
  says('speaks SSH 1', 'wrong_protocol', 'SSH-1.5-old\r\n'),
  says('has zeros in its identification', 'wrong_protocol', 'SSH-2.0-\0\0\0\r\n', Buffer.alloc(64)),
  says('closes behind its identification', 'connection_lost', identification),
  says('continues with garbage', 'wrong_protocol', identification, Buffer.alloc(4000, 0x55)),
  says('sends a packet of 4 GiB', 'wrong_protocol', identification, Buffer.alloc(64, 0xff)),
  says('sends a packet of nothing', 'wrong_protocol', identification, Buffer.alloc(64)),
  says('cuts its offer', 'wrong_protocol', identification, plainPacket(Buffer.from([20, 1, 2, 3]))),
  says(
    'offers names beyond its packet',
    'wrong_protocol',
    identification,
    plainPacket(Buffer.concat([Buffer.from([20]), Buffer.alloc(16), u32(0xffff_ffff), Buffer.alloc(20)])),
  ),
  says('offers nothing known', 'not_supported', identification, offer('rot13', 'ssh-ed25519', ...usual)),
  says(
    'wants to choose the prime itself',
    'not_supported',
    identification,
    offer('diffie-hellman-group-exchange-sha256', 'ssh-ed25519', ...usual),
  ),
  says(
    'wants compression',
    'not_supported',
    identification,
    offer('curve25519-sha256', 'ssh-ed25519', ...usual.slice(0, 4), 'zlib', 'zlib', '', ''),
  ),
  says(
    'offers twice',
    'wrong_protocol',
    identification,
    offer('curve25519-sha256', 'ssh-ed25519', ...usual),
    offer('curve25519-sha256', 'ssh-ed25519', ...usual),
  ),
  says(
    'exchanges a key that is none',
    'wrong_protocol',
    identification,
    offer('curve25519-sha256', 'ssh-ed25519', ...usual),
    plainPacket(Buffer.concat([Buffer.from([31]), string('key'), string('other'), string('signature')])),
  ),
  says(
    'disconnects with a canary',
    'connection_lost',
    identification,
    plainPacket(Buffer.concat([Buffer.from([1]), u32(2), string('Protocol canary'), string('en')])),
  ),
  repeats('identifies without end', 'wrong_protocol', 'SSH-2.0-', Buffer.alloc(65_536, 0x61)),
  repeats('sends text without end', 'wrong_protocol', '', Buffer.from('once upon a time\r\n'.repeat(4_000))),
]

/** A type of packet that the library has for a sign-in. */
const banner = Buffer.concat([Buffer.from([53]), string('a'.repeat(30_000)), string('en')])
const reject = (name: string, code: string, signIn: NonNullable<RogueSftpScript['signIn']>): RogueSftpScript => ({
  name,
  code,
  signIn,
})
const afterSignIn = (
  name: string,
  code: string | undefined,
  session: (connection: Connection) => void,
): RogueSftpScript => ({
  name,
  ...(code === undefined ? {} : { code }),
  session(connection) {
    session(connection)
    return true
  },
})

const signIns: readonly RogueSftpScript[] = [
  reject('accepts no credentials', 'invalid_credentials', (context) => {
    context.reject(['publickey'])
    return true
  }),
  reject('accepts everyone in part', 'invalid_credentials', (context) => {
    context.reject(['publickey'], true)
    return true
  }),
  reject('lets in only by an unknown way', 'invalid_credentials', (context) => {
    context.reject(['rogue' as never])
    return true
  }),
  reject('sends banners without end', 'wrong_protocol', (_context, connection) => {
    for (let round = 0; round < 60; round += 1) sendPacket(connection, banner)
    return true
  }),
  reject('cuts its answer to the sign-in', 'connection_lost', (_context, connection) => {
    sendPacket(connection, Buffer.from([51, 0, 0]))
    connection.end()
    return true
  }),
  reject('disconnects at the sign-in', 'connection_lost', (_context, connection) => {
    sendPacket(connection, Buffer.concat([Buffer.from([1]), u32(2), string('canary'), string('en')]))
    return true
  }),
  reject('closes at the sign-in', 'connection_lost', (_context, connection) => {
    connection.end()
    return true
  }),
  afterSignIn('closes behind the sign-in', 'connection_lost', (connection) => connection.end()),
  afterSignIn('sends unknown packets behind the sign-in', undefined, (connection) => {
    for (let type = 192; type < 250; type += 1) sendPacket(connection, Buffer.from([type, 1, 2, 3]))
  }),
  afterSignIn('sends data for a channel that is not there', undefined, (connection) => {
    sendPacket(connection, Buffer.concat([Buffer.from([94]), u32(0xffff_fffe), string('data')]))
  }),
  afterSignIn('sends data for a channel beyond all', undefined, (connection) => {
    sendPacket(connection, Buffer.concat([Buffer.from([94]), u32(0xffff_ffff), string('data')]))
  }),
  afterSignIn('cuts a packet behind the sign-in', undefined, (connection) =>
    sendPacket(connection, Buffer.from([94, 0])),
  ),
  afterSignIn('opens channels itself', undefined, (connection) => {
    for (const type of ['x11', 'forwarded-tcpip', 'session', 'auth-agent@openssh.com']) {
      sendPacket(
        connection,
        Buffer.concat([
          Buffer.from([90]),
          string(type),
          u32(7),
          u32(1 << 20),
          u32(1 << 15),
          string('127.0.0.1'),
          u32(1),
        ]),
      )
    }
  }),
]

const script = (
  name: string,
  stage: Stage,
  code: string | undefined,
  strike: (found: RogueAnswer) => Strike,
): RogueSftpScript => ({
  name,
  ...(code === undefined ? {} : { code }),
  act: (found) => (found.stage === stage ? strike(found) : undefined),
})
const answers = (name: string, stage: Stage, code: string | undefined, change: (found: RogueAnswer) => Buffer) =>
  script(name, stage, code, (found) => ({ bytes: packet(change(found)), continues: true }))

const file = attributes(16n, 'file')
const withSizes = (size: bigint, kind: 'file' | 'directory' | 'link' = 'file') => attributes(size, kind)
const cut = ({ answer: whole }: RogueAnswer) => whole.subarray(0, whole.length - 3)

const files: readonly RogueSftpScript[] = [
  answers('cuts its version', 'version', 'unexpected_response', () => Buffer.from([2, 0])),
  answers('has an extension beyond its version', 'version', 'unexpected_response', () =>
    Buffer.concat([Buffer.from([2]), u32(3), u32(0xffff)]),
  ),
  answers('answers with a status instead of a version', 'version', 'unexpected_response', () => status(u32(0), 0)),
  answers('has limits of one byte', 'version', undefined, () =>
    Buffer.concat([Buffer.from([2]), u32(3), string('limits@openssh.com'), string('1')]),
  ),
  script('sends a packet of SFTP of 4 GiB', 'realpath', 'unexpected_response', () => ({
    bytes: Buffer.alloc(64, 0xff),
  })),
  script('sends a packet of SFTP of 1 GiB', 'stat', 'unexpected_response', () => ({
    bytes: Buffer.from([0x40, 0, 0, 0, 104]),
  })),
  script('sends a packet of SFTP without bytes', 'stat', 'unexpected_response', () => ({ bytes: Buffer.alloc(8) })),
  answers('sends a packet of SFTP of no known type', 'stat', 'unexpected_response', ({ id }) => answer(77, id)),
  script('answers another question', 'stat', 'connection_lost', () => ({
    bytes: packet(answer(105, u32(4711), file)),
  })),
  answers('gives the version twice', 'stat', 'unexpected_response', () => Buffer.concat([Buffer.from([2]), u32(3)])),
  answers('has no path', 'realpath', 'unexpected_response', ({ id }) => names(id)),
  answers('has a path with control characters', 'realpath', 'unexpected_response', ({ id }) =>
    names(id, ['/a\u001b[2J', file]),
  ),
  answers('has a path of 30 KB', 'realpath', 'unexpected_response', ({ id }) => names(id, ['/'.repeat(30_000), file])),
  answers('confirms a question for a path', 'realpath', 'unexpected_response', ({ id }) => status(id, 0)),
  answers('fails with an unknown number', 'stat', 'platform_error', ({ id }) => status(id, 0xffff_ffff)),
  answers('has attributes without a size', 'fstat', 'unexpected_response', ({ id }) => answer(105, id, u32(0))),
  answers('confirms a question for attributes', 'fstat', 'unexpected_response', ({ id }) => status(id, 0)),
  answers('has a file of 16 EiB', 'fstat', 'unexpected_response', ({ id }) =>
    answer(105, id, withSizes(2n ** 64n - 1n)),
  ),
  answers('cuts attributes', 'fstat', 'unexpected_response', cut),
  answers('has more extensions of attributes than bytes', 'fstat', 'unexpected_response', ({ id }) =>
    answer(105, id, u32(0x8000_0000), u32(0xffff_ffff)),
  ),
  answers('opens a directory without naming it', 'opendir', 'unexpected_response', ({ id }) => status(id, 0)),
  answers('names a directory by 200 KB', 'opendir', undefined, ({ id }) =>
    answer(102, id, string(Buffer.alloc(200_000))),
  ),
  answers('lists nothing without end', 'readdir-end', 'too_many_files', ({ id }) => names(id)),
  answers('lists files without end', 'readdir-end', 'too_many_files', ({ id }) =>
    names(id, ...Array.from({ length: 1_000 }, (_, at): [string, Buffer] => [`${at}.txt`, file])),
  ),
  answers('lists a name with a slash', 'readdir', 'unexpected_response', ({ id }) =>
    names(id, ['../../etc/a.csv', file]),
  ),
  answers('lists a name with a zero', 'readdir', 'unexpected_response', ({ id }) => names(id, ['a\0.csv', file])),
  answers('lists a name without letters', 'readdir', 'unexpected_response', ({ id }) => names(id, ['', file])),
  answers('lists a name of 30 KB', 'readdir', 'unexpected_response', ({ id }) => names(id, ['a'.repeat(30_000), file])),
  answers('lists itself and what is above', 'readdir', 'object_not_found', ({ id }) =>
    names(id, ['.', file], ['..', file]),
  ),
  answers('lists four billion names', 'readdir', 'unexpected_response', ({ id }) =>
    answer(104, id, u32(0xffff_ffff), string('a')),
  ),
  answers('confirms a question for names', 'readdir', 'unexpected_response', ({ id }) => status(id, 0)),
  answers('lists a file larger than numbers are', 'readdir', 'unexpected_response', ({ id }) =>
    names(id, ['a.csv', withSizes(2n ** 63n)]),
  ),
  {
    name: 'lists links in a circle',
    act({ stage, id, index }) {
      if (stage === 'readdir') return { bytes: packet(names(id, ['a.csv', withSizes(4n, 'link')])), continues: true }
      // The first question is for the directory.
      return stage === 'stat' && index > 1 ? { bytes: packet(status(id, 4)), continues: true } : undefined
    },
  },
  answers('opens a file without naming it', 'open', 'unexpected_response', ({ id }) => status(id, 0)),
  answers('sends more bytes than were asked for', 'read', undefined, ({ id }) =>
    answer(103, id, string(Buffer.alloc(100_000, 0x61))),
  ),
  answers('confirms a question for bytes', 'read', 'source_changed', ({ id }) => status(id, 0)),
  answers('cuts bytes', 'read', 'unexpected_response', cut),
  answers('ends a file early', 'read', 'source_changed', ({ id }) => status(id, 1)),
  answers('has a file of another size each time', 'fstat', undefined, ({ id, index }) =>
    answer(105, id, withSizes(BigInt(index))),
  ),
  answers('names a file instead of confirming bytes', 'write', undefined, ({ id }) => answer(102, id, string('file'))),
  answers('does not accept bytes', 'write', 'platform_error', ({ id }) => status(id, 4)),
  {
    name: 'sends everything byte by byte',
    act: ({ answer: whole }) => ({ bytes: packet(whole), continues: true }),
    bend: (bytes) => bytes,
  },
]

const silent = (
  name: string,
  stage: Stage,
  bytes: (found: RogueAnswer) => Buffer = () => Buffer.alloc(0),
): RogueSftpScript => ({
  ...script(name, stage, 'timeout', (found) => ({ bytes: bytes(found), hush: true })),
  silent: true,
})

const stalls: readonly RogueSftpScript[] = [
  silent('never says its version', 'version'),
  silent('never answers a question for a path', 'realpath'),
  silent('never answers a question for a file', 'fstat'),
  silent('never lists', 'readdir'),
  silent('sends half a list', 'readdir', ({ answer: whole }) => packet(whole).subarray(0, 12)),
  silent('never sends bytes', 'read'),
  silent('never confirms bytes', 'write'),
]

export const rogueSftpScripts: readonly RogueSftpScript[] = [...beforeSsh, ...signIns, ...files, ...stalls]

/** Changes one answer of each connection, or bytes of what is exchanged before encryption; how follows from the seed. */
export function rogueSftpMutation(seed: number): RogueSftpScript {
  const random = numbersFrom(seed)
  const kind = random(6)
  const index = random(12)
  const offset = random(1_200)
  const [a, b] = [random(mebibyte), random(256)]
  if (kind === 0) {
    return {
      name: `mutation ${seed}: byte ${offset}`,
      bend(bytes, start) {
        const at = offset - start
        if (at < 0 || at >= bytes.length) return bytes
        const bent = Buffer.from(bytes)
        bent[at] = (bent[at] ?? 0) ^ (b | 1)
        return bent
      },
    }
  }
  return {
    name: `mutation ${seed}: answer ${index}, change ${kind}`,
    act(found) {
      if (found.index !== index) return undefined
      const changed = Buffer.from(found.answer)
      const at = a % changed.length
      switch (kind) {
        case 1:
          changed[at] = (changed[at] ?? 0) ^ (b | 1)
          return { bytes: packet(changed) }
        case 2:
          return { bytes: packet(changed.subarray(0, at)) }
        case 3:
          return { bytes: packet(Buffer.concat([changed.subarray(0, at), Buffer.from([b]), changed.subarray(at)])) }
        case 4:
          return { bytes: Buffer.concat([u32(a), changed]) }
        default:
          return { bytes: Buffer.concat([packet(changed), packet(changed)]) }
      }
    },
  }
}
