import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { after, beforeEach, describe, test } from 'node:test'
import { type ConnectorContext, ConnectorError, type DestinationContext } from '@penstock/connector'
import { type AccessTokens, openTokens } from '../packages/connectors/src/platform-api/oauth.ts'
import { openKeyring } from '../packages/server/src/secrets/keyring.ts'
import { leaseSecret, releaseSecret } from '../packages/server/src/secrets/leases.ts'
import { rotateMasterKey } from '../packages/server/src/secrets/rotate.ts'
import { generateMasterKey, parseMasterKey } from '../packages/server/src/secrets/seal.ts'
import { openSecrets } from '../packages/server/src/secrets/secrets.ts'
import { createInteractiveJobs } from '../packages/server/src/transfers/interactive.ts'
import { JobHost } from '../packages/server/src/transfers/job-host.ts'
import { openSide } from '../packages/server/src/transfers/sides.ts'
import { firstSide } from './harness/configurations.ts'
import { people, startEngine, taken } from './harness/engine.ts'
import { createInProcessRunners } from './harness/in-process-runners.ts'
import type { Renewing } from './harness/renewing-process.ts'
import { startRotatingTokens } from './harness/rotating-tokens.ts'
import { noSecretManagers } from './harness/secret-managers.ts'
import { postgresql } from './harness/transfers.ts'
import { until } from './harness/until.ts'

/**
 * Secrets that a platform replaces: refresh tokens that can be used one time, at a server that revokes all of them if one is
 * used again. The PostgreSQL connector is used as a connector with such a token, in its field `password`.
 */

const engine = await startEngine({ heartbeatTimeoutMs: 400, retry: { firstMs: 1, mostMs: 10, totalMs: 60_000 } })
const server = await startRotatingTokens()
after(async () => {
  await engine.close()
  await server.close()
})
const { sides, caller, accountId, service } = engine
const { database, config } = service
const { masterKey } = config
assert(masterKey)
const configured = await firstSide(database, postgresql, accountId)
const { configurationId } = configured
const owner = { accountId, connectorId: postgresql.id, configurationId }
const secret = { ...owner, name: 'password' }
const keyringOf = () => openKeyring(database, masterKey)

const tokensOf = (context: ConnectorContext): AccessTokens =>
  openTokens(context, {
    platform: 'Acme',
    url: server.url,
    client: { id: 'acme', secret: 'client-secret' },
    grant: { type: 'refresh_token', key: 'password', rotates: true },
  })
const saved = async () => (await openSecrets(database, await keyringOf(), owner)).password
const leases = () => engine.sql(`select lease_id from secrets where lease_id is not null or lease_until is not null`)
const signIn = async (password = server.signIn()) =>
  void (await caller.expect(
    caller.call('configureConnector', { accountId, id: postgresql.id, body: { secretConfig: { password } } }),
  ))
/** A destination that needs another token for each batch. */
const renewing = (deliver: (context: DestinationContext, token: string) => void = () => {}) => ({
  batch: () => ({ rowsMax: 10, bytesMax: 1 << 20 }),
  open: (context: DestinationContext) => {
    const tokens = tokensOf(context)
    let token = ''
    return {
      deliver: async (batch: Parameters<typeof taken>[0]) => {
        token = await tokens.token(token)
        deliver(context, token)
        return taken(batch)
      },
    }
  },
})

beforeEach(async () => {
  sides.source = people(25)
  sides.destination = renewing()
  await signIn()
})

describe('a secret that a transfer renews', () => {
  test('is replaced by one job at a time, and every job sees the new one', async () => {
    const versions = () => engine.sql(`select version, saved_time from configurations order by connector_id`)
    const before = await versions()
    const ids = [await engine.connectSides(), await engine.connectSides(), await engine.connectSides()]
    const started = await Promise.all(ids.map((id) => engine.start(id)))
    const exchanges = server.exchanges
    // Loops of several workers, which share only the database.
    await Promise.all(ids.map(() => engine.work()))
    for (const [at, { id }] of started.entries()) {
      const { status, records, error } = await engine.get(ids[at] ?? '', id)
      assert.deepEqual([status, records.accepted, error], ['succeeded', 25, null])
    }
    // Three batches of each, and no token twice: the server would have revoked them all.
    assert.equal(server.exchanges - exchanges, 9)
    assert.equal(await saved(), server.current)
    assert.deepEqual(await leases(), [])
    assert.deepEqual(await versions(), before)
  })

  test('is there for others although the transfer fails afterwards', async () => {
    sides.destination = renewing(() => {
      throw new ConnectorError('request_refused', 'The account is closed.')
    })
    const { status } = await engine.move(await engine.connectSides())
    assert.equal(status, 'failed')
    assert.equal(await saved(), server.current)
    assert.match(String(server.current), /-1$/)
  })

  test('does not appear in what is reported', async () => {
    sides.destination = renewing((_, token) => {
      throw new ConnectorError('request_refused', `Who sends ${server.current}, ${token} and client-secret?`)
    })
    const { error } = await engine.move(await engine.connectSides())
    assert.match(String(error?.message), /^Who sends \[redacted\],/)
  })

  test('is saved although the transfer is cancelled while the platform is asked', async () => {
    const held = server.hold()
    const connection = await engine.connectSides()
    const { id } = await engine.start(connection)
    const working = engine.work()
    await held.came
    await caller.expect(caller.call('cancelTransfer', { accountId, id: connection, transferId: id }))
    const heartbeats = () => engine.statements.filter((text) => /set heartbeat/.test(text)).length
    const before = heartbeats()
    // The transfer hears of it by the second one, and waits for what it has sent.
    await until('the worker knows', () => heartbeats() > before + 1)
    held.answer()
    await working
    assert.equal((await engine.get(connection, id)).status, 'cancelled')
    assert.equal(await saved(), server.current)
    assert.match(String(server.current), /-1$/)
    assert.deepEqual(await leases(), [])
  })

  test('gives way to the one that a person saved meanwhile', async () => {
    const held = server.hold()
    const connection = await engine.connectSides()
    sides.source = people(5)
    const { id } = await engine.start(connection)
    const working = engine.work()
    await held.came
    await signIn('signed-in-again')
    held.answer()
    await working
    assert.equal((await engine.get(connection, id)).status, 'succeeded')
    assert.equal(await saved(), 'signed-in-again')
    assert.deepEqual(await leases(), [])
  })

  test('survives a rotation of the master key', async () => {
    const held = server.hold()
    const connection = await engine.connectSides()
    const { id } = await engine.start(connection)
    const working = engine.work()
    await held.came
    const next = parseMasterKey(generateMasterKey())
    assert(next)
    // Up to the step until which every process can still learn the next key. The engine of this test is not told of rotations.
    const interrupted = () => Promise.reject(new Error('interrupted'))
    await assert.rejects(rotateMasterKey(service, await keyringOf(), next, interrupted), /interrupted/)
    held.answer()
    await working
    assert.equal((await engine.get(connection, id)).status, 'succeeded')
    assert.equal(await saved(), server.current)
    assert.deepEqual(await engine.sql(`select key_id from secrets where key_id <> $1`, next.id), [])
  })

  test('that was removed meanwhile is said to be', async () => {
    const held = server.hold()
    const connection = await engine.connectSides()
    const { id } = await engine.start(connection)
    const following = await engine.connectSides()
    const next = await engine.start(following)
    const working = engine.work()
    await held.came
    await engine.sql(`delete from secrets where name = 'password'`)
    held.answer()
    await working
    const { error } = await engine.get(connection, id)
    assert.equal(error?.code, 'invalid_credentials')
    assert.match(String(error?.message), /was removed from the connector/)
    const { error: missing } = await engine.get(following, next.id)
    assert.match(String(missing?.message), /is not saved in the connector/)
  })
})

describe('the right to replace a secret', () => {
  test('is waited for, as long as the transfer is wanted', async () => {
    const lease = await leaseSecret(database, await keyringOf(), secret)
    assert(typeof lease === 'object')
    assert.equal(await leaseSecret(database, await keyringOf(), secret), 'busy')
    const connection = await engine.connectSides()
    const cancelled = await engine.start(connection)
    const asked = () => engine.statements.filter((text) => /lease_until < now/.test(text)).length
    const before = asked()
    const working = engine.work()
    await until('it has asked several times', () => asked() > before + 2)
    await caller.expect(caller.call('cancelTransfer', { accountId, id: connection, transferId: cancelled.id }))
    await working
    assert.equal((await engine.get(connection, cancelled.id)).status, 'cancelled')
    assert.equal(server.current, await saved())
    // Another one waits until it is given back.
    const { id } = await engine.start(connection)
    const working2 = engine.work()
    const then = asked()
    await until('it has asked', () => asked() > then)
    await releaseSecret(database, lease)
    await working2
    assert.equal((await engine.get(connection, id)).status, 'succeeded')
  })

  test('ends after a while where its process was killed', async () => {
    const held = server.hold()
    const child = renewInProcess(1)
    await held.came
    child.process.kill('SIGKILL')
    await once(child.process, 'exit')
    held.answer()
    const [left] = await engine.sql<{ seconds: number }>(
      `select extract(epoch from lease_until - now())::float as seconds from secrets where lease_id is not null`,
    )
    assert(left && left.seconds > 0 && left.seconds <= 60)
    // The token that the process used is no longer valid. This is the next one, as if the response had been saved.
    await engine.sql(`update secrets set lease_until = now() - interval '1 second' where lease_id is not null`)
    const lease = await leaseSecret(database, await keyringOf(), secret)
    assert(typeof lease === 'object')
    assert.match(lease.value, /-0$/)
    await releaseSecret(database, lease)
  })

  test('is given back when the runner of a job ends, however it does', async () => {
    const keyring = await keyringOf()
    const secrets = new JobHost({ database, keyring }, [configured])
    const asked = { slug: postgresql.slug, configurationId, key: 'password' }
    await secrets.answer('leaseSecret', asked)
    assert.equal((await leases()).length, 1)
    await secrets.close()
    assert.deepEqual(await leases(), [])
    // The request of a killed runner arrives after its end.
    await secrets.answer('leaseSecret', asked)
    assert.deepEqual(await leases(), [])
  })

  test('is one over all processes', async () => {
    const exchanges = server.exchanges
    const results = await Promise.all([1, 2, 3].map(() => renewInProcess(4).result()))
    const tokens = results.flatMap((result) => {
      assert(result.ok, JSON.stringify(result))
      return result.value.map(({ message }) => message)
    })
    assert.equal(new Set(tokens).size, 12)
    assert.equal(server.exchanges - exchanges, 12)
    assert.equal(await saved(), server.current)
  })
})

/** Renews the secret this number of times in a separate process. */
function renewInProcess(times: number) {
  assert(masterKey)
  const given: Renewing = {
    databaseUrl: service.databaseUrl,
    masterKey: masterKey.key.export().toString('base64'),
    accountId,
    slug: postgresql.slug,
    key: 'password',
    tokenUrl: server.url,
    times,
  }
  const program = join(import.meta.dirname, 'harness', 'renewing-process.ts')
  const child = spawn(process.execPath, [program, JSON.stringify(given)], { stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    text += piece
  })
  type Result = { ok: true; value: { message: string }[] } | { ok: false; error: unknown }
  return { process: child, result: () => once(child, 'close').then((): Result => JSON.parse(text)) }
}

describe('a check', () => {
  const run = async (secrets: JobHost) => {
    const check = async (context: ConnectorContext) => {
      await tokensOf(context).token()
      return [{ name: 'Authentication', ok: true, message: 'It answers.' }] as const
    }
    const runners = createInProcessRunners({ localFolders: [], loadConnector: async () => ({ ...postgresql, check }) })
    const interactive = createInteractiveJobs(runners, { atOnce: 1, perOrganization: 1 })
    const deps = { database, keyring: await keyringOf(), secretManagers: noSecretManagers }
    const connector = await openSide(deps, configured, { job: 'check' })
    const job = { kind: 'check', connector, deadlineMs: 60_000 } as const
    return interactive.run(job, { organizationId: 'any', id: accountId }, new AbortController().signal, secrets)
  }

  test('renews a secret, too', async () => {
    const result = await run(new JobHost({ database, keyring: await keyringOf() }, [configured]))
    assert(result.ok)
    assert.equal(await saved(), server.current)
    assert.match(String(server.current), /-1$/)
    assert.deepEqual(await leases(), [])
  })

  test('fails with what the service itself met', async () => {
    await assert.rejects(run(new JobHost({ database, keyring: await keyringOf() })), /not of its job/)
  })
})

test('a runner reaches the secrets of its job alone', async () => {
  const secrets = new JobHost({ database, keyring: await keyringOf() }, [configured])
  const { slug } = postgresql
  const before = await saved()
  for (const argument of [
    { slug, configurationId, key: 'host' },
    { slug, configurationId, key: '__proto__' },
    { slug, configurationId, key: 'constructor' },
    { slug, configurationId, key: 7 },
    { slug, key: 'password' },
    { slug, configurationId: 'ffffffffffffffff', key: 'password' },
    { slug, configurationId: [configurationId], key: 'password' },
    { slug: 'local-folder', configurationId, key: 'password' },
    { slug: 'amazon-s3-source', configurationId, key: 'secretAccessKey' },
    { slug: ['postgresql'], configurationId, key: 'password' },
    null,
    'postgresql',
    {},
  ]) {
    await assert.rejects(secrets.answer('leaseSecret', argument), /not of its job/, JSON.stringify(argument))
  }
  const lease = (await secrets.answer('leaseSecret', { slug, configurationId, key: 'password' })) as { leaseId: string }
  for (const argument of [
    { leaseId: 'unknown', value: 'new' },
    { leaseId: lease.leaseId, value: '' },
    { leaseId: lease.leaseId, value: 7 },
    { leaseId: lease.leaseId, value: 'x'.repeat(65_537) },
    { leaseId: lease.leaseId },
    null,
  ]) {
    await assert.rejects(secrets.answer('replaceSecret', argument), /not of its job/)
  }
  assert.equal(await saved(), before)
  assert.equal(await secrets.answer('replaceSecret', { leaseId: lease.leaseId, value: 'once' }), 'once')
  await assert.rejects(secrets.answer('replaceSecret', { leaseId: lease.leaseId, value: 'twice' }), /not of its job/)
  await assert.rejects(secrets.answer('releaseSecret', lease.leaseId), /not of its job/)
  assert.equal(await saved(), 'once')
})

test('a runner of a transfer reaches no secret that was saved for another host since', async () => {
  const settings = { host: 'before.example', port: 5432, database: 'any', user: 'any' }
  const frozen = { role: 'Destination', settings } as const
  const secrets = new JobHost({ database, keyring: await keyringOf() }, [{ ...configured, frozen }])
  const lease = secrets.answer('leaseSecret', { slug: postgresql.slug, configurationId, key: 'password' })
  await assert.rejects(lease, { code: 'settings_changed', side: 'Destination' })
  await secrets.close()
})
