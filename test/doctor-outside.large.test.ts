import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer as createHttpsServer } from 'node:https'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { startVault, vaultOfTests } from '../packages/connectors/test/vault-server.ts'
import { generateMasterKey } from '../packages/server/src/secrets/seal.ts'
import { startCollector } from './harness/collector.ts'
import { addAccountWithConnection, makeInbox } from './harness/connections.ts'
import { createTestDatabase, type TestDatabase } from './harness/database.ts'
import { callerOf, source } from './harness/fixtures.ts'
import { startMailServer } from './harness/mail-server.ts'
import { freePort, prepareStage, type Stage } from './harness/process.ts'
import { startReplicatedPostgres } from './harness/replicated-postgres.ts'
import { startTestService } from './harness/service.ts'
import { withSession } from './harness/session.ts'
import { claimed } from './harness/standings.ts'

/** `penstock doctor` checks what settings name outside of the process: problems with their values, and what to do. */

const certificate = (name: string) => join(import.meta.dirname, '../packages/connectors/test/certificates', name)

type Check = { name: string; ok: boolean; message: string }

describe('the doctor', () => {
  let stage: Stage
  let database: TestDatabase
  let folder: string
  const masterKey = generateMasterKey()
  const finish: (() => Promise<void>)[] = []
  before(async () => {
    stage = await prepareStage({ after: (work) => void finish.push(work) })
    database = await createTestDatabase()
    finish.push(database.drop)
    folder = await mkdtemp(join(tmpdir(), 'penstock-doctor-'))
    finish.push(() => rm(folder, { recursive: true }))
  })
  after(async () => {
    for (const work of finish) await work()
  })

  const find = async (name: string, settings: Record<string, string>): Promise<Check> => {
    const env = { DATABASE_URL: database.url, PENSTOCK_MASTER_KEY: masterKey, PENSTOCK_PORT: '0', ...settings }
    const { stdout } = await stage.penstock(['doctor', '--json'], { env })
    assert(!stdout.includes('canary'), stdout)
    const found = (JSON.parse(stdout) as Check[]).find((check) => check.name === name && check.message !== '')
    assert(found, stdout)
    return found
  }
  const assertFinds = async (name: string, settings: Record<string, string>, ok: boolean, says: RegExp) => {
    const found = await find(name, settings)
    assert.match(found.message, says)
    assert.equal(found.ok, ok, found.message)
  }
  const mail = (address: string) => ({ PENSTOCK_SMTP_URL: address, PENSTOCK_MAIL_FROM: 'a@example.com' })

  test('names a mail server that does not answer, refuses the login or does not speak TLS', async (t) => {
    const login = { user: 'penstock', password: 'right' }
    const [plain, secure] = [await startMailServer({ login }), await startMailServer({ secure: true })]
    t.after(plain.close)
    t.after(secure.close)
    const dead = await freePort()
    await assertFinds(
      'mail',
      mail(`smtp://u:canary@127.0.0.1:${dead}`),
      false,
      new RegExp(`127\\.0\\.0\\.1:${dead} does not answer .*PENSTOCK_SMTP_URL`),
    )
    await assertFinds(
      'mail',
      mail(`smtp://penstock:canary@127.0.0.1:${plain.port}`),
      false,
      /refuses the login .*Check user and password/,
    )
    await assertFinds('mail', mail(`smtps://u:canary@127.0.0.1:${plain.port}`), false, /TLS with .* fails .*smtp:\/\//)
    await assertFinds('mail', mail(`smtps://127.0.0.1:${secure.port}`), false, /TLS with .* fails/)
    await assertFinds(
      'mail',
      mail(`smtp://penstock:right@127.0.0.1:${plain.port}`),
      true,
      /answers and accepts the login$/,
    )
  })

  test('names a mail server that accepts connections and says nothing', async (t) => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1')
    t.after(async () => void silent.close())
    await once(silent, 'listening')
    const { port } = silent.address() as { port: number }
    await assertFinds('mail', mail(`smtp://127.0.0.1:${port}`), false, /does not answer as a mail server/)
  })

  test('names a collector that is away, refuses or is not an address', async (t) => {
    const [accepting, refusing] = [
      await startCollector(),
      await startCollector((response) => void response.writeHead(401).end()),
    ]
    t.after(accepting.close)
    t.after(refusing.close)
    const to = (OTEL_EXPORTER_OTLP_ENDPOINT: string) => ({
      OTEL_EXPORTER_OTLP_ENDPOINT,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-key=canary',
    })
    await assertFinds(
      'telemetry',
      to(`http://127.0.0.1:${await freePort()}`),
      false,
      /Nothing listens on .*OTEL_EXPORTER_OTLP_ENDPOINT/,
    )
    await assertFinds('telemetry', to('collector:4318'), false, /is not an http or https address/)
    await assertFinds('telemetry', to(refusing.url), false, /status 401\. Check OTEL_EXPORTER_OTLP_HEADERS/)
    await assertFinds('telemetry', to(accepting.url), true, /^traces, metrics, logs: /)
  })

  test('names a folder of connectors that is missing, and certificates that cannot be used', async () => {
    const missing = join(folder, 'none')
    await assertFinds(
      'connectors',
      { PENSTOCK_CONNECTORS_DIR: missing },
      false,
      /PENSTOCK_CONNECTORS_DIR does not exist: create or mount it/,
    )
    const file = join(folder, 'not.pem')
    await writeFile(file, 'canary')
    await assertFinds('TLS files', { OTEL_EXPORTER_OTLP_CERTIFICATE: file }, false, /contains no certificate/)
    await assertFinds('TLS files', { OTEL_EXPORTER_OTLP_CERTIFICATE: missing }, false, /cannot be read \(ENOENT\)/)
  })

  test('warns of an open address without TLS or a trusted proxy, and of a public address that does not answer', async () => {
    const open = { PENSTOCK_HOST: '0.0.0.0' }
    await assertFinds(
      'listening',
      open,
      true,
      /^warning: 0\.0\.0\.0:\d+ is open .*without TLS.*without a trusted proxy/,
    )
    const behind = {
      ...open,
      PENSTOCK_PUBLIC_URL: `https://127.0.0.1:${await freePort()}`,
      PENSTOCK_TRUSTED_PROXIES: '10.0.0.1',
    }
    await assertFinds('listening', behind, true, /^0\.0\.0\.0:\d+, behind 10\.0\.0\.1$/)
    await assertFinds(
      'public URL',
      behind,
      true,
      /^warning: Nothing listens on https:\/\/127\.0\.0\.1:\d+ \(ECONNREFUSED\)/,
    )
  })

  test('names a queue that waits without a worker, and transfers without heartbeats', async (t) => {
    const inbox = await makeInbox()
    t.after(inbox.remove)
    const service = await startTestService({ ...inbox.env, PENSTOCK_MASTER_KEY: masterKey })
    t.after(service.close)
    const { pool } = service.database
    const settings = { DATABASE_URL: service.databaseUrl }
    const sweep = (offset: string) =>
      pool.query(`update alert_sweeps set next_time = now() + $1::interval where name = 'open and idle'`, [offset])
    await pool.query(`update alert_sweeps set next_time = '2026-01-01' where name = 'open and idle'`)
    await assertFinds(
      'workers',
      settings,
      true,
      /^warning: No worker has worked yet: waiting transfers: 0, running: 0\./,
    )
    await sweep('-1 hour')
    await assertFinds(
      'workers',
      settings,
      true,
      /^warning: No worker has worked for 36\d\d seconds: waiting transfers: 0, running: 0\. Start a worker/,
    )
    const caller = callerOf(service, await service.addOrganization())
    const connection = await addAccountWithConnection(caller, inbox.folder)
    const { id } = await caller.expect(caller.call('startTransfer', { ...connection, body: {} }))
    await assertFinds(
      'workers',
      settings,
      false,
      /^No worker has worked for 36\d\d seconds: waiting transfers: 1, running: 0, /,
    )
    await sweep('1 minute')
    await assertFinds('workers', settings, true, /^waiting transfers: 1, running: 0$/)
    await pool.query(claimed('id = $1', { heartbeat: `now() - interval '1 hour'` }), [id])
    await assertFinds(
      'workers',
      settings,
      false,
      /^Running transfers without a heartbeat (\(1\)) for more than 40 seconds.* the last heartbeat of a transfer was at 20/,
    )
  })

  test('asks secret managers, and says which one does not answer or does not accept the sign-in', async (t) => {
    const vault = await startVault()
    t.after(vault.close)
    const managersFile = join(folder, 'managers.json')
    const tokenFile = join(folder, 'vault-token')
    const assertManagers = async (ok: boolean, says: RegExp, more: object = {}) => {
      const auth = { method: 'token', tokenFile }
      const manager = { type: 'vault', address: vault.url, auth, allow: [{ prefix: 'penstock/{accountId}/' }], ...more }
      await writeFile(managersFile, JSON.stringify({ managers: { vault: manager } }))
      await assertFinds('secret managers', { PENSTOCK_SECRET_MANAGERS: managersFile }, ok, says)
    }
    await writeFile(tokenFile, vaultOfTests.rootToken)
    await assertManagers(true, /^vault answer$/)
    await assertManagers(true, /^warning: nobody can use vault/, { allow: [] })
    await writeFile(tokenFile, 'canary-wrong')
    await assertManagers(true, /^warning: vault: Vault does not let this service read .*PENSTOCK_SECRET_MANAGERS/)
    const dead = `http://127.0.0.1:${await freePort()}`
    await assertManagers(false, /^vault: Vault cannot be used/, { address: dead })
  })

  test('asks the issuer of identity tokens once a configuration signs in without a key', async (t) => {
    const service = await startTestService({ PENSTOCK_MASTER_KEY: masterKey })
    t.after(service.close)
    const settings = { DATABASE_URL: service.databaseUrl }
    await assertFinds('identity', settings, true, /^no configuration signs in without a key$/)
    const caller = callerOf(service, await service.addOrganization())
    const { id: accountId } = await caller.addAccount()
    await caller.addConnectors(accountId, source)
    const identityRoleArn = 'arn:aws:iam::123456789012:role/Name'
    const body = { secretConfig: { authType: 'web-identity', identityRoleArn } }
    await caller.expect(caller.call('configureConnector', { accountId, id: source.id, body }))
    await assertFinds('identity', settings, false, /Clouds trust only https addresses/)
    const away = { ...settings, PENSTOCK_PUBLIC_URL: `https://127.0.0.1:${await freePort()}` }
    await assertFinds('identity', away, true, /^warning: .*Nothing listens on .*Clouds must reach it/)
    const tls = { key: readFileSync(certificate('localhost.key')), cert: readFileSync(certificate('localhost.pem')) }
    let answers: Record<string, unknown> = {}
    const server = createHttpsServer(tls, ({ url = '' }, response) => {
      const found = answers[url.slice(url.lastIndexOf('/') + 1)]
      response.writeHead(found === undefined ? 401 : 200).end(JSON.stringify(found))
    }).listen(0, '127.0.0.1')
    t.after(async () => void server.close())
    await once(server, 'listening')
    const issuer = `https://localhost:${(server.address() as { port: number }).port}`
    const open = { ...settings, PENSTOCK_PUBLIC_URL: issuer, NODE_EXTRA_CA_CERTS: certificate('ca.pem') }
    await assertFinds('identity', open, false, /openid-configuration has the status 401/)
    answers = { 'openid-configuration': { issuer: 'https://other.example.com' } }
    await assertFinds('identity', open, false, /openid-configuration is not the document of this service/)
    answers = { 'openid-configuration': { issuer }, 'jwks.json': { keys: [] } }
    await assertFinds('identity', open, false, /jwks\.json is not the document of this service/)
    answers = { 'openid-configuration': { issuer }, 'jwks.json': { keys: [{}] } }
    await assertFinds('identity', open, true, /^the issuer https:\/\/localhost:\d+ answers/)
  })

  test('names a replica that is away, frozen, promoted or another database', async (t) => {
    const replicated = await startReplicatedPostgres(t, { synchronous: false })
    const settings = { DATABASE_URL: replicated.primaryUrl, PENSTOCK_DATABASE_REPLICA_URL: replicated.standbyUrl }
    await assertFinds('replica', settings, true, /^follows the database$/)
    const frozen = createServer(() => {}).listen(0, '127.0.0.1')
    t.after(async () => void frozen.close())
    await once(frozen, 'listening')
    const silent = new URL(replicated.standbyUrl)
    silent.port = String((frozen.address() as { port: number }).port)
    await assertFinds(
      'replica',
      { ...settings, PENSTOCK_DATABASE_REPLICA_URL: silent.href },
      false,
      /does not answer.*PENSTOCK_DATABASE_REPLICA_URL/,
    )
    const away = new URL(replicated.standbyUrl)
    away.port = String(await freePort())
    await assertFinds(
      'replica',
      { ...settings, PENSTOCK_DATABASE_REPLICA_URL: away.href },
      false,
      /Nothing listens on .*PENSTOCK_DATABASE_REPLICA_URL/,
    )
    await assertFinds(
      'replica',
      { ...settings, PENSTOCK_DATABASE_REPLICA_URL: database.url },
      false,
      /is not a standby/,
    )
    await withSession(replicated.standbyUrl, (session) => session.query('select pg_wal_replay_pause()'))
    await withSession(replicated.primaryUrl, (session) =>
      session.query(`select pg_logical_emit_message(true, 'doctor', 'x'); checkpoint`),
    )
    await assertFinds('replica', settings, false, /^The replica is \d+ bytes behind/)
  })
})
