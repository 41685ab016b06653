import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import type { CheckStep, Connector, Values } from '@penstock/connector'
import { type TestContextOptions, testContext } from '@penstock/connector/acceptance'
import { createEgress, type NetworkPolicy } from '@penstock/connector/egress'
import { parseAllowed } from '@penstock/connector/egress/allowed'
import { skipWithout } from '../../../../test/harness/programs.ts'
import { until } from '../../../../test/harness/until.ts'
import { startMariadb } from '../../test/mariadb.ts'
import { startOpenSsh } from '../../test/openssh-server.ts'
import { startPostgresql } from '../../test/postgresql.ts'
import { startForwardingServer } from '../../test/ssh-forwarding.ts'
import { makeSshKey } from '../../test/ssh-keys.ts'
import { batchOf, connectorErrorOf, deliver, readAll, rowsOf } from '../../test/tables.ts'
import { clickhouseSource } from '../clickhouse/clickhouse-source.ts'
import { connectors } from '../index.ts'
import { mysql } from '../mysql/mysql.ts'
import { postgresql } from '../postgresql/postgresql.ts'
import { sftpSource } from '../sftp/sftp-source.ts'
import { openBastion } from './bastion.ts'
import { reach } from './reach.ts'

const key = () => makeSshKey('ed25519')
const locked = makeSshKey('ed25519', { passphrase: 'canary-passphrase', cipher: 'aes256-ctr', rounds: 4 })
const [hostKey, otherHostKey, userKey, strangeKey] = [key(), key(), key(), key()]
const fingerprintOf = (pair: { public: string }) =>
  `SHA256:${createHash('sha256')
    .update(Buffer.from(pair.public.split(' ')[1] ?? '', 'base64'))
    .digest('base64')
    .replace(/=+$/, '')}`

const directory = await mkdtemp(join(tmpdir(), 'penstock-bastion-'))
after(() => rm(directory, { recursive: true, force: true }))
const database = await startPostgresql()
after(() => database.close())
const mariadb = await startMariadb()
if (mariadb) after(() => mariadb.stop())
const sshd = await startOpenSsh(directory, hostKey.private, [userKey.public, locked.public])
if (sshd) after(() => sshd.close())
const other = await startForwardingServer({ hostKey: hostKey.private, username: 'ada', password: 'canary-password' })
after(() => other.close())

await database.query(
  `create table crm.people as select i as id, repeat('x', 500) as text from generate_series(1, 40000) i`,
)
await database.query('alter table crm.people add primary key (id)')

const bastionAt = (port: number, more: Values = {}): Values => ({
  connectThrough: 'bastion',
  bastionHost: '127.0.0.1',
  bastionPort: port,
  bastionUser: sshd?.username ?? 'ada',
  bastionPrivateKey: userKey.private,
  bastionHostKey: fingerprintOf(hostKey),
  ...more,
})

type Network = { readonly networkPolicy?: NetworkPolicy; readonly allow?: readonly string[] }

function optionsOf(
  connector: Connector,
  secrets: Values,
  { networkPolicy = 'any', allow = [] }: Network = {},
): TestContextOptions & { secrets: Values } {
  const allowed = allow.map((text) => parseAllowed(text) ?? assert.fail(text))
  const egress = createEgress({ networkPolicy, allow: allowed })
  after(() => egress.close())
  return { secrets, egress: reach(egress, connector, secrets) }
}

async function check(connector: Connector, secrets: Values, network?: Network): Promise<CheckStep | undefined> {
  const steps = await connector.check?.(testContext(optionsOf(connector, secrets, network)))
  return steps?.find(({ ok }) => !ok)
}

const settings = { schema: 'crm', table: 'people' }

describe('the fields of a bastion', () => {
  /** Platforms whose own servers speak SFTP. */
  const exceptions = ['liveramp-id-match', 'nexxen-audiences']

  test('are those of every connector whose users choose a server that is no website', () => {
    for (const { slug, secrets, servers = [], integrated } of connectors) {
      // Platforms with an address but without a port are reached over HTTPS. Streams in Kafka name brokers under a condition.
      const isTcp = 'port' in secrets && ('host' in secrets || 'hostname' in secrets)
      const isDatabase =
        isTcp || slug.startsWith('clickhouse-') || (secrets.brokers?.required === true && !secrets.brokers.when)
      const expected = integrated && isDatabase && !exceptions.includes(slug)
      assert.equal(servers.length > 0, expected, slug)
      if (!expected) continue
      for (const server of servers) {
        for (const secret of secrets[server]?.binds ?? []) {
          for (const name of ['connectThrough', 'bastionHost', 'bastionPort', 'bastionHostKey', 'proxyAddress']) {
            assert.ok(secrets[name]?.binds?.includes(secret), `${slug}: ${name} binds ${secret}`)
          }
        }
      }
    }
  })
})

describe('a bastion', { skip: skipWithout('sshd') }, () => {
  if (!sshd) return
  const pg = (more: Values = {}): Values => ({ ...database.secrets, ...bastionAt(sshd.port), ...more })

  test('leads to PostgreSQL: check, discovery, reading and writing', async () => {
    assert.equal(await check(postgresql, pg()), undefined)
    const options = { ...optionsOf(postgresql, pg()), settings }
    assert.equal(rowsOf(await readAll(postgresql, options)).length, 40_000)
    await database.query('create table crm.written (id int, text text)')
    const into = { ...options, settings: { ...settings, table: 'written' } }
    await deliver(postgresql, into, batchOf(['id', 'text'], [[1, 'one']]))
    assert.deepEqual(await database.query('select * from crm.written'), [{ id: 1, text: 'one' }])
    const page = await postgresql.source?.discover?.table?.({
      ...testContext(options),
      search: '',
      cursor: undefined,
      size: 50,
      withSamples: false,
    })
    assert.ok(page?.items.some(({ value }) => value === 'people'))
  })

  test('leads to MySQL or MariaDB', { skip: skipWithout('mariadbd') }, async () => {
    if (!mariadb) return
    await mariadb.query('create table people (id int primary key)')
    await mariadb.query('insert into people values (1), (2)')
    const secrets = { ...mariadb.secrets, ...bastionAt(sshd.port) }
    assert.equal(await check(mysql, secrets), undefined)
    const rows = await readAll(mysql, { ...optionsOf(mysql, secrets), settings: { table: 'people' } })
    assert.deepEqual(rowsOf(rows), [[1], [2]])
  })

  test('leads to MySQL over TLS, whose certificate is compared with the name of the database', {
    skip: skipWithout('mariadbd'),
  }, async () => {
    if (!mariadb) return
    const secrets = { ...mariadb.secrets, ...bastionAt(sshd.port), tlsMode: 'verify-full', host: 'localhost' }
    const ca = new URL('../../test/certificates/ca.pem', import.meta.url)
    const caCertificate = await (await import('node:fs/promises')).readFile(ca, 'utf8')
    assert.equal((await check(mysql, secrets))?.code, 'certificate_not_trusted')
    assert.equal((await check(mysql, { ...secrets, caCertificate }))?.message, undefined)
  })

  test('leads to SFTP', async () => {
    const path = join(directory, 'people.csv')
    await writeFile(path, 'id\n1\n2\n')
    const secrets = {
      hostname: '127.0.0.1',
      port: sshd.port,
      username: sshd.username,
      sshPrivateKey: userKey.private,
      hostKeyFingerprint: fingerprintOf(hostKey),
      hostKeyCheck: 'fingerprint',
      authentication: 'private key',
      ...bastionAt(sshd.port),
    }
    const chunks = await readAll(sftpSource, { ...optionsOf(sftpSource, secrets), settings: { path } })
    assert.deepEqual(rowsOf(chunks), [['1'], ['2']])
  })

  test('leads to ClickHouse over HTTP, and not to other hosts', async () => {
    const hosts: (string | undefined)[] = []
    const server = http.createServer((request, response) => {
      hosts.push(request.headers.host)
      response.end('Ok.\n')
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    after(() => server.close())
    const origin = `http://localhost:${(server.address() as AddressInfo).port}`
    const egress = createEgress({ networkPolicy: 'any' })
    after(() => egress.close())
    const secrets = { ...bastionAt(sshd.port), address: origin, user: 'u', password: 'p' }
    const reached = reach(egress, clickhouseSource, secrets)
    for (let time = 0; time < 2; time++) assert.equal(await (await reached.request(`${origin}/ping`)).text(), 'Ok.\n')
    assert.deepEqual(hosts, [new URL(origin).host, new URL(origin).host])
    // A bastion that refuses is not asked about another host.
    const refused = reach(egress, clickhouseSource, { ...secrets, bastionHostKey: fingerprintOf(strangeKey) })
    await assert.rejects(reached.request('http://127.0.0.1:1/'), { code: 'unreachable' })
    assert.deepEqual(await connectorErrorOf(refused.request(`${origin}/ping`)), ['reconfigure', 'host_key_not_trusted'])
    assert.deepEqual(await connectorErrorOf(refused.request('http://127.0.0.1:1/')), ['reconnect', 'unreachable'])
  })

  test('accepts a private key with a passphrase, and a password', async () => {
    const keyed = { bastionPrivateKey: locked.private, bastionPassphrase: 'canary-passphrase' }
    assert.equal(await check(postgresql, pg(keyed)), undefined)
    const byPassword = {
      bastionAuthentication: 'password',
      bastionUser: 'ada',
      bastionPort: other.port,
      bastionPassword: 'canary-password',
    }
    assert.equal(await check(postgresql, pg(byPassword)), undefined)
    const wrong = await check(postgresql, pg({ ...byPassword, bastionPassword: 'canary-wrong' }))
    assert.equal(wrong?.code, 'invalid_credentials')
    assert.match(wrong?.message ?? '', /^SSH bastion 127\.0\.0\.1 denies access/)
  })

  test('is refused with a wrong key, a wrong passphrase and a text that is no key', async () => {
    for (const more of [
      { bastionPrivateKey: strangeKey.private },
      { bastionPrivateKey: locked.private, bastionPassphrase: 'canary-wrong' },
      { bastionPrivateKey: 'no key' },
    ]) {
      const step = await check(postgresql, pg(more))
      assert.equal(step?.code, 'invalid_credentials', step?.message)
      assert.doesNotMatch(step?.message ?? '', /canary/)
    }
  })

  test('is not trusted without a fingerprint: the check names the key and suggests it', async () => {
    const { bastionHostKey, ...unknown } = pg()
    const step = await check(postgresql, unknown)
    assert.equal(step?.name, 'connectivity')
    assert.equal(step?.code, 'host_key_not_trusted')
    assert.match(step?.message ?? '', new RegExp(`shows the host key ${RegExp.escape(String(bastionHostKey))}`))
    assert.deepEqual(step?.suggestion, { field: 'bastionHostKey', value: bastionHostKey })
  })

  test('is not trusted with another key: the error has both fingerprints, and suggests nothing', async () => {
    const folder = await mkdtemp(join(directory, 'changed-'))
    const changed = await startOpenSsh(folder, otherHostKey.private, [userKey.public])
    if (!changed) return
    after(() => changed.close())
    const step = await check(postgresql, pg({ bastionPort: changed.port }))
    assert.equal(step?.code, 'host_key_not_trusted')
    assert.equal(step?.suggestion, undefined)
    assert.ok(step?.message.includes(fingerprintOf(hostKey)) && step.message.includes(fingerprintOf(otherHostKey)))
    assert.match(step?.message ?? '', /ask the operator of the server whether the key has changed/)
    const both = `${fingerprintOf(hostKey)}, ${fingerprintOf(otherHostKey)}`
    assert.equal(await check(postgresql, pg({ bastionPort: changed.port, bastionHostKey: both })), undefined)
  })

  test('that forwards nothing, or not to this server, ends with an error about its settings', async () => {
    for (const line of ['AllowTcpForwarding no', 'PermitOpen 127.0.0.1:1']) {
      const folder = await mkdtemp(join(directory, 'closed-'))
      const closed = await startOpenSsh(folder, hostKey.private, [userKey.public], { lines: [line] })
      if (!closed) return
      after(() => closed.close())
      const step = await check(postgresql, pg({ bastionPort: closed.port }))
      assert.equal(step?.code, 'permission_denied', step?.message)
      assert.match(step?.message ?? '', /does not let this user connect to 127\.0\.0\.1:\d+\. Allow it there/)
    }
  })

  test('says what it cannot reach', async () => {
    assert.equal((await check(postgresql, pg({ port: 1 })))?.code, 'unreachable')
    assert.equal((await check(postgresql, pg({ host: 'nowhere.invalid' })))?.code, 'host_not_found')
    assert.equal((await check(postgresql, pg({ bastionPort: 1 })))?.code, 'unreachable')
    assert.equal((await check(postgresql, pg({ bastionPort: database.port })))?.code, 'wrong_protocol')
  })

  test('is under the network policy, and so is the server behind it', async () => {
    let times = 0
    const refusal = async (secrets: Values, network: Network) =>
      // A session that is open was allowed before.
      (await check(postgresql, { ...secrets, bastionPassphrase: `policy ${times++}` }, network))?.message
    const both = [`127.0.0.1:${sshd.port}`, `127.0.0.1:${database.port}`]
    assert.equal(await refusal(pg(), { networkPolicy: 'public', allow: both }), undefined)
    for (const allow of [[], both.slice(0, 1), both.slice(1)]) {
      assert.match(
        (await refusal(pg(), { networkPolicy: 'public', allow })) ?? '',
        /is a private address.*EGRESS_ALLOW/,
      )
    }
    for (const host of ['169.254.169.254', 'metadata.google.internal', '::ffff:169.254.169.254']) {
      assert.match((await refusal(pg({ host }), {})) ?? '', /which this service never connects to/, host)
    }
    const named = { networkPolicy: 'public', allow: [both[0] ?? '', 'localhost'] } as const
    assert.equal(await refusal(pg({ host: 'localhost' }), named), undefined)
  })

  test('is used in one session by all connections at a time, which ends when it is idle', async () => {
    const egress = createEgress({ networkPolicy: 'any' })
    after(() => egress.close())
    let sessions = 0
    const dial: typeof egress.dial = (...given) => {
      sessions += 1
      return egress.dial(...given)
    }
    const open = (secrets: Values) => openBastion(dial, secrets, {}, { idleMs: 50 })
    const secrets = { ...bastionAt(sshd.port), bastionPassphrase: 'one of a kind' }
    const relays = await Promise.all([open(secrets), open(secrets), open(secrets)])
    const streams = await Promise.all(
      Array.from({ length: 60 }, (_, index) => relays[index % 3]?.connect('127.0.0.1', database.port, {})),
    )
    assert.equal(sessions, 1)
    for (const stream of streams) stream?.destroy()
    await until('the session is over', () => (relays[0] as unknown as { isAlive: boolean }).isAlive === false)
    await open(secrets)
    assert.equal(sessions, 2)
  })

  test('that is killed during a transfer breaks it, and the next session reads on', async () => {
    const options = { ...optionsOf(postgresql, pg({ bastionPassphrase: 'killed' })), settings }
    const reader = await postgresql.source?.open?.(testContext(options))
    const ids: unknown[] = []
    let checkpoint: unknown
    const interrupted = async () => {
      for await (const chunk of reader?.read(undefined) ?? []) {
        ids.push(...chunk.rows.map(([id]) => id))
        checkpoint = chunk.checkpointAfter?.(chunk.rows.length)
        if (ids.length === chunk.rows.length) sshd.signal('SIGKILL')
      }
    }
    assert.deepEqual(await connectorErrorOf(interrupted()), ['retry', 'connection_lost'])
    await reader?.close()
    const rest = await readAll(postgresql, options, checkpoint as never)
    ids.push(...rowsOf(rest).map(([id]) => id))
    assert.deepEqual(
      ids,
      Array.from({ length: 40_000 }, (_, index) => index + 1),
    )
  })

  test('that is frozen is noticed, and what waits for it fails', async () => {
    const folder = await mkdtemp(join(directory, 'frozen-'))
    const frozen = await startOpenSsh(folder, hostKey.private, [userKey.public])
    if (!frozen) return
    after(() => {
      frozen.signal('SIGCONT')
      return frozen.close()
    })
    const egress = createEgress({ networkPolicy: 'any' })
    after(() => egress.close())
    const relay = await openBastion(egress.dial, bastionAt(frozen.port), {}, { keepAliveMs: 100 })
    const stream = await relay.connect('127.0.0.1', database.port, {})
    const failed = new Promise((resolve) => stream.on('close', () => resolve(stream.errored)))
    frozen.signal('SIGSTOP')
    const late = relay.connect('127.0.0.1', database.port, {})
    assert.deepEqual(await connectorErrorOf(late), ['retry', 'timeout'])
    assert.match(String(await failed), /SSH bastion 127\.0\.0\.1 does not answer any more/)
  })

  test('that does not answer is given up at the signal', async () => {
    const stop = new AbortController()
    const egress = createEgress({ networkPolicy: 'any' })
    after(() => egress.close())
    const dial: typeof egress.dial = () => {
      stop.abort(new Error('stopped'))
      return new Promise(() => {})
    }
    const opening = openBastion(dial, bastionAt(1), { signal: stop.signal })
    await assert.rejects(opening, /stopped/)
  })
})
