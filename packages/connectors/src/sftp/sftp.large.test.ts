import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { Connector, ConnectorError, ConnectorErrorCode, Json, Row, Values } from '@penstock/connector'
import { acceptDestination, acceptSource, type ServerError, testContext } from '@penstock/connector/acceptance'
import ssh2 from 'ssh2'
import { skipWithout } from '../../../../test/harness/programs.ts'
import { startOpenSsh } from '../../test/openssh-server.ts'
import { startSftpServer } from '../../test/sftp-server.ts'
import { makeSshKey } from '../../test/ssh-keys.ts'
import { batchOf, deliver as deliverTo, readAll as readChunks } from '../../test/tables.ts'
import { startTcpProxy, type TcpProxy } from '../../test/tcp-proxy.ts'
import { sftpDestination } from './sftp-destination.ts'
import { sftpSource } from './sftp-source.ts'

const directory = await mkdtemp(join(tmpdir(), 'penstock-sftp-'))
after(() => rm(directory, { recursive: true, force: true }))

const makeKey = (passphrase?: string, rounds = 4) =>
  makeSshKey('ed25519', passphrase ? { passphrase, cipher: 'aes256-ctr', rounds } : {})
const [hostKey, userKey, strangeKey, lockedKey] = [makeKey(), makeKey(), makeKey(), makeKey('canary-passphrase')]
const fingerprint = `SHA256:${createHash('sha256')
  .update(Buffer.from(hostKey.public.split(' ')[1] ?? '', 'base64'))
  .digest('base64')
  .replace(/=+$/, '')}`

const columns = ['id', 'email', 'note']
const rows = Array.from({ length: 40_000 }, (_, index) => [`${index}`, `person${index}@example.com`, `Zoë, ${index}`])
const csvOf = (part: readonly (readonly string[])[]) =>
  [columns, ...part].map((row) => `${row.map((cell) => `"${cell}"`).join(',')}\n`).join('')

const inbox = join(directory, 'inbox')
await mkdir(inbox)
await writeFile(join(inbox, '1.csv'), csvOf(rows.slice(0, 25_000)))
await writeFile(join(inbox, '2.csv.gz'), gzipSync(csvOf(rows.slice(25_000, 39_000))))
await writeFile(join(directory, 'elsewhere.csv'), csvOf(rows.slice(39_000)))
await symlink(join(directory, 'elsewhere.csv'), join(inbox, '3.csv'))
await writeFile(join(inbox, '.hidden.csv.partial'), 'half')
await writeFile(join(inbox, 'notes.txt'), 'not meant')
await mkdir(join(inbox, 'sub.csv'))

const status = ssh2.utils.sftp.STATUS_CODE
type TestServer = { name: string; port: number; username: string; errors?: ServerError[] }
const plain = await startSftpServer({
  hostKey: hostKey.private,
  username: 'ada',
  keys: [userKey.public, lockedKey.public],
  password: 'canary-password',
})
after(() => plain.close())
const writeProblem = (
  name: string,
  status: number,
  action: ServerError['action'],
  code: ConnectorErrorCode,
): ServerError => ({
  name,
  action,
  code,
  start: () => {
    plain.writeStatus = status
  },
  stop: () => {
    plain.writeStatus = undefined
  },
})
const testServers: TestServer[] = [
  {
    name: 'a server of plain SFTP 3, by ssh2, in this process',
    port: plain.port,
    username: 'ada',
    errors: [
      writeProblem('fails to write', status.FAILURE, 'retry', 'platform_error'),
      writeProblem('forbids to write', status.PERMISSION_DENIED, 'reconfigure', 'permission_denied'),
    ],
  },
]
const openSsh = await startOpenSsh(directory, hostKey.private, [userKey.public])
if (openSsh) {
  after(() => openSsh.close())
  testServers.push({ name: 'OpenSSH, started by this test', port: openSsh.port, username: openSsh.username })
}

// Every proxy starts before the first test is registered. If all registered tests end during an `await`, the runner calls the
// hooks of `after`, which close the servers that later tests need.
const lines = await Promise.all(
  testServers.map(async (testServer, index) => {
    const proxy = await startTcpProxy(testServer.port)
    after(() => proxy.close())
    const outbox = join(directory, `outbox-${index}`)
    await mkdir(outbox)
    return { testServer, proxy, outbox }
  }),
)

function secretsOf(port: number, username: string): Values {
  return { hostname: '127.0.0.1', port, username, sshPrivateKey: userKey.private, hostKeyFingerprint: fingerprint }
}

/** Failures of the line between us and a server. */
const breaksOf = (proxy: TcpProxy): ServerError => ({
  name: 'breaks off again and again',
  action: 'retry',
  code: 'connection_lost',
  start: () => proxy.cutAfter(2500),
  stop: () => proxy.cutAfter(undefined),
})
const absenceOf = (proxy: TcpProxy): ServerError => ({
  name: 'is not there',
  action: 'reconnect',
  code: 'unreachable',
  start: () => proxy.shut(),
  stop: () => proxy.open(),
})
const hangOf = (proxy: TcpProxy) => ({ start: proxy.stall, reached: proxy.stalled, stop: proxy.pass })

/** The rows of the visible files. */
async function readRows(path: string): Promise<Row[]> {
  const names = (await readdir(path)).filter((name) => !name.startsWith('.')).sort()
  const texts = await Promise.all(names.map((name) => readFile(join(path, name), 'utf8')))
  return texts.flatMap((text) => {
    const [header, ...lines] = text.split(/\r?\n/).filter((line) => line !== '')
    assert.equal(header?.replaceAll('"', ''), columns.join())
    return lines.map((line) => {
      const [, id = '', email = '', note = ''] = /^"?(\d+)"?,"?([^",]+)"?,"?(Zoë, \d+)"?$/.exec(line) ?? []
      return [id, email, note]
    })
  })
}

if (!openSsh) test('SFTP against OpenSSH', { skip: skipWithout('sshd') }, () => {})

for (const { testServer, proxy, outbox } of lines) {
  const secrets = secretsOf(proxy.port, testServer.username)
  acceptSource({
    connector: sftpSource,
    testServer: testServer.name,
    columns,
    rows,
    secrets,
    wrongSecrets: { ...secrets, sshPrivateKey: strangeKey.private },
    settings: { path: inbox, pattern: '*.csv*' },
    missing: { path: join(inbox, 'nothing-here.csv') },
    errors: [breaksOf(proxy), absenceOf(proxy)],
    hang: hangOf(proxy),
  })
  acceptDestination({
    connector: sftpDestination,
    testServer: testServer.name,
    columns,
    rows,
    secrets,
    wrongSecrets: { ...secrets, sshPrivateKey: strangeKey.private },
    settings: { path: outbox, fileFormat: 'CSV', gzip: false },
    missing: { path: join(outbox, 'nothing-here') },
    readBack: () => readRows(outbox),
    reset: async () => {
      for (const name of await readdir(outbox)) await rm(join(outbox, name))
    },
    deduplicates: true,
    visible: 'when finished',
    hang: hangOf(proxy),
    errors: [
      breaksOf(proxy),
      { ...absenceOf(proxy), name: 'goes away', action: 'retry', code: 'connection_lost' },
      ...(testServer.errors ?? []),
    ],
  })
  test(`leaves no half-written file behind when a transfer was cancelled that had confirmed nothing, against ${testServer.name}`, async () => {
    for (const name of await readdir(outbox)) await rm(join(outbox, name))
    const stop = new AbortController()
    const writer = await sftpDestination.destination?.deliver?.open(
      testContext({ secrets, columns, settings: { path: outbox }, signal: stop.signal }),
    )
    await writer?.deliver({ key: 'k', columns, rows: rows.slice(0, 10), firstRow: 1 })
    assert.match((await readdir(outbox)).join(), /^\.\d{8}T\d{6}Z-\w+\.csv\.partial$/)
    stop.abort()
    await writer?.close?.()
    const next = await sftpDestination.destination?.deliver?.open(
      testContext({ secrets, columns, settings: { path: outbox } }),
    )
    await next?.abort?.()
    await next?.close?.()
    assert.deepEqual(await readdir(outbox), [])
  })
}

describe('SFTP', () => {
  const secrets = secretsOf(plain.port, 'ada')
  const steps = async (connector: Connector, given: Values) => {
    const found = await connector.check?.(testContext({ secrets: given }))
    return found?.map(({ ok, message }) => (ok ? 'ok' : message)).join()
  }

  test('refuses a server that shows another host key than the one that is set, and names both', async () => {
    const other = `SHA256:${createHash('sha256').update('other').digest('base64')}`
    const answer = (await steps(sftpSource, { ...secrets, hostKeyFingerprint: other })) ?? ''
    assert.match(answer, /another host key/)
    assert.ok(answer.includes(fingerprint))
    assert.equal(await steps(sftpSource, { ...secrets, hostKeyFingerprint: `${other}, ${fingerprint}` }), 'ok')
    const first = { ...secrets, hostKeyFingerprint: other, hostKeyCheck: 'first-use' }
    assert.match((await steps(sftpSource, first)) ?? '', /another host key/, 'what is set counts')
  })

  test('accepts no host key without a fingerprint, and names the one that it saw', async () => {
    const { hostKeyFingerprint: _, ...open } = secrets
    for (const given of [open, { ...open, hostKeyCheck: 'fingerprint' }]) {
      for (const connector of [sftpSource, sftpDestination]) {
        const answer = (await steps(connector, given)) ?? ''
        assert.ok(answer.includes(fingerprint))
        assert.match(answer, /set it as host key fingerprint, or set the host key check to first-use/)
      }
    }
    const found = await sftpSource.check?.(testContext({ secrets: { ...open, hostKeyCheck: 'first-use' } }))
    assert.ok(found?.[0]?.ok && found[0].message.includes(fingerprint))
  })

  test('stores the first host key for the connection, and accepts no other afterwards', async () => {
    const { hostKeyFingerprint: _, ...open } = secrets
    const first = { ...open, hostKeyCheck: 'first-use' }
    const kept = { hostname: '127.0.0.1', port: plain.port, fingerprint }
    const strange = { ...kept, fingerprint: `SHA256:${createHash('sha256').update('other').digest('base64')}` }
    const elsewhere = { ...strange, port: plain.port + 1 }
    const settings = { path: inbox, pattern: '1.csv' }
    const refused = (error: ConnectorError) =>
      error.code === 'host_key_not_trusted' && error.message.includes(fingerprint)

    const [chunk] = await readChunks(sftpSource, { secrets: first, settings })
    assert.deepEqual(chunk?.cursor, kept)
    assert.equal((await readChunks(sftpSource, { secrets, settings }))[0]?.cursor, undefined)
    for (const cursor of [kept, elsewhere]) await readChunks(sftpSource, { secrets: first, settings, cursor })
    await assert.rejects(readChunks(sftpSource, { secrets: first, settings, cursor: strange }), refused)

    const outbox = join(directory, 'first-use')
    await mkdir(outbox)
    const deliver = (state?: Json) =>
      deliverTo(
        sftpDestination,
        { secrets: first, settings: { path: outbox, fileFormat: 'CSV' }, ...(state ? { state } : {}) },
        batchOf(columns, rows.slice(0, 3)),
      )
    assert.deepEqual((await deliver()).state, kept)
    assert.deepEqual((await deliver(elsewhere)).state, kept)
    await assert.rejects(deliver(strange), refused)
  })

  test('signs in with a password, asked for at once or in a dialogue', async () => {
    const { sshPrivateKey: _, ...rest } = secrets
    const dialogue = await startSftpServer({
      hostKey: hostKey.private,
      username: 'ada',
      keys: [],
      password: 'canary-password',
      dialogue: true,
    })
    after(() => dialogue.close())
    for (const port of [plain.port, dialogue.port]) {
      const given = { ...rest, port, authentication: 'password', password: 'canary-password' }
      for (const connector of [sftpSource, sftpDestination]) {
        assert.equal(await steps(connector, given), 'ok')
        const answer = await steps(connector, { ...given, password: 'canary-wrong' })
        assert.match(answer ?? '', /denies access to this user/)
        assert.doesNotMatch(answer ?? '', /canary/)
      }
    }
  })

  test('takes keys that are encrypted or lost their line breaks, and refuses what is none', async () => {
    const locked = { ...secrets, sshPrivateKey: lockedKey.private }
    assert.equal(await steps(sftpSource, { ...locked, passphrase: 'canary-passphrase' }), 'ok')
    assert.match((await steps(sftpSource, locked)) ?? '', /encrypted/)
    assert.match((await steps(sftpSource, { ...locked, passphrase: 'canary-wrong' })) ?? '', /encrypted/)
    const flat = userKey.private.trim().replaceAll('\n', '\\n')
    assert.equal(await steps(sftpDestination, { ...secrets, sshPrivateKey: flat }), 'ok')
    for (const sshPrivateKey of ['canary', userKey.public]) {
      assert.match((await steps(sftpDestination, { ...secrets, sshPrivateKey })) ?? '', /cannot be read/)
    }
  })

  test('refuses a key that mixes its passphrase too often, or is in another form, without trying it', async () => {
    const { key, rounds } = withRounds(lockedKey.private, 4_000_000_000)
    assert.equal(rounds, 4)
    const given = { ...secrets, sshPrivateKey: key, passphrase: 'canary-passphrase' }
    for (const connector of [sftpSource, sftpDestination]) {
      assert.match((await steps(connector, given)) ?? '', /in 4000000000 rounds, and at most 1024 are done/)
    }
    const more = withRounds(lockedKey.private, 1_025).key
    assert.match((await steps(sftpSource, { ...given, sshPrivateKey: more })) ?? '', /in 1025 rounds/)
    for (const [form, sshPrivateKey] of [
      ['PKCS #8', '-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----'],
      ['PuTTY 3', 'PuTTY-User-Key-File-3: ssh-ed25519\nKey-Derivation: Argon2id\nArgon2-Passes: 4000000000'],
    ] as const) {
      assert.ok((await steps(sftpSource, { ...given, sshPrivateKey }))?.includes(`in the form of ${form}`))
    }
  })

  test('says that what answers is no server of SSH', async () => {
    const { port } = new URL(await serveNonsense())
    assert.match((await steps(sftpSource, { ...secrets, port: Number(port) })) ?? '', /does not speak SSH/)
  })

  test('reads files whole although the server answers with less than was asked for', async () => {
    plain.readsShort = true
    try {
      assert.deepEqual(await readAll(join(inbox, '1.csv')), rows.slice(0, 25_000))
    } finally {
      plain.readsShort = false
    }
  })

  test('notices a file that grows or is replaced while it is read', async () => {
    const path = join(directory, 'growing.csv')
    for (const change of [
      () => appendFile(path, '"x","y","z"\n'),
      () => utimes(path, new Date(), new Date(Date.now() + 60_000)),
      () => rm(path),
    ]) {
      await writeFile(path, csvOf(rows))
      await assert.rejects(readAll(path, change), (error: ConnectorError) => error.code === 'source_changed')
    }
  })

  async function readAll(path: string, atFirst: () => Promise<void> = async () => {}): Promise<Row[]> {
    const reader = await sftpSource.source?.open?.(testContext({ secrets, settings: { path } }))
    assert.ok(reader)
    const found: Row[] = []
    try {
      let checkpoint = null
      for await (const chunk of reader.read()) {
        found.push(...chunk.rows)
        checkpoint = chunk.checkpoint
        break
      }
      await atFirst()
      for await (const chunk of reader.read(checkpoint)) found.push(...chunk.rows)
    } finally {
      await reader.close()
    }
    return found
  }
})

/** An encrypted key that claims this number of rounds for its passphrase, and the number of rounds before. */
function withRounds(key: string, rounds: number): { key: string; rounds: number } {
  const lines = key.trim().split('\n')
  const bytes = Buffer.from(lines.slice(1, -1).join(''), 'base64')
  // Behind the magic: the cipher, the function, its options, which are a salt of 16 bytes and the rounds.
  const at = bytes.indexOf('bcrypt') + 'bcrypt'.length + 4 + 4 + 16
  const before = bytes.readUInt32BE(at)
  bytes.writeUInt32BE(rounds, at)
  return { key: [lines[0], bytes.toString('base64'), lines.at(-1), ''].join('\n'), rounds: before }
}

async function serveNonsense(): Promise<string> {
  const { createServer } = await import('node:http')
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  after(() => server.close())
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`
}
