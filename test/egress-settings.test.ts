import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ConfigError, describeEgress, readConfig } from '../packages/server/src/config.ts'
import { createTestDatabase } from './harness/database.ts'
import { callerOf, connectorBySlug } from './harness/fixtures.ts'
import { prepareStage } from './harness/process.ts'
import { startTestService } from './harness/service.ts'
import { until } from './harness/until.ts'

/** What connectors may connect to follows who can reach the API. */

type Env = Record<string, string>
const egressOf = (env: Env, listens = true) => readConfig(env, { listens }).egress
const sentence = (env: Env, listens = true) => describeEgress(egressOf(env, listens))

describe('PENSTOCK_EGRESS that is not set', () => {
  const loopback: Env[] = [
    {},
    ...['127.0.0.1', '127.8.8.8', '::1', 'localhost'].map((host) => ({ PENSTOCK_HOST: host })),
  ]
  for (const env of loopback) {
    test(`is any for a service on loopback alone: ${JSON.stringify(env)}`, () => {
      assert.equal(egressOf(env).reach, 'any')
      assert.match(sentence(env), /private addresses, because the service listens on \S+ alone\.$/)
    })
  }

  for (const [name, value, reason] of [
    ['PENSTOCK_HOST', '0.0.0.0', 'PENSTOCK_HOST is not a loopback address'],
    ['PENSTOCK_HOST', '::', 'PENSTOCK_HOST is not a loopback address'],
    ['PENSTOCK_HOST', '10.0.0.5', 'PENSTOCK_HOST is not a loopback address'],
    ['PENSTOCK_HOST', '127.example.com', 'PENSTOCK_HOST is not a loopback address'],
    ['PENSTOCK_PUBLIC_URL', 'https://pipes.example.com', 'PENSTOCK_PUBLIC_URL is set'],
    ['PENSTOCK_PUBLIC_URL', 'http://localhost:8080', 'PENSTOCK_PUBLIC_URL is set'],
    ['PENSTOCK_TRUSTED_PROXIES', '127.0.0.1', 'PENSTOCK_TRUSTED_PROXIES is set'],
  ] as const) {
    test(`is public where ${name} is ${value}`, () => {
      assert.equal(egressOf({ [name]: value }).reach, 'public')
      assert.equal(sentence({ [name]: value }), `Connectors may connect to public addresses only, because ${reason}.`)
      assert.equal(egressOf({ [name]: value, PENSTOCK_EGRESS: 'any' }).reach, 'any', 'unless it is set')
    })
  }

  test('is public for a worker of its own', () => {
    assert.equal(egressOf({}, false).reach, 'public')
    assert.match(sentence({}, false), /public addresses only, because a worker does not know who has access/)
    assert.equal(egressOf({ PENSTOCK_EGRESS: 'any' }, false).reach, 'any')
  })
})

test('PENSTOCK_EGRESS counts wherever it is set', () => {
  for (const reach of ['any', 'public'] as const) {
    assert.equal(egressOf({ PENSTOCK_EGRESS: reach, PENSTOCK_HOST: '0.0.0.0' }).reach, reach)
    assert.equal(egressOf({ PENSTOCK_EGRESS: reach }).reach, reach)
    assert.match(sentence({ PENSTOCK_EGRESS: reach }), /because PENSTOCK_EGRESS is set\.$/)
  }
})

test('PENSTOCK_EGRESS_ALLOW names what is allowed besides, and is refused whole where a part is wrong', () => {
  const env = { PENSTOCK_EGRESS: 'public', PENSTOCK_EGRESS_ALLOW: 'db.internal:5432, 10.1.0.0/16' }
  assert.deepEqual(
    egressOf(env).allow.map(({ text }) => text),
    ['db.internal:5432', '10.1.0.0/16'],
  )
  assert.match(sentence(env), /only and to db\.internal:5432, 10\.1\.0\.0\/16 \(PENSTOCK_EGRESS_ALLOW\), because/)
  for (const wrong of ['169.254.169.254', 'db.internal,10.0.0.0/40', 'https://db.internal']) {
    assert.throws(
      () => readConfig({ PENSTOCK_EGRESS_ALLOW: wrong }),
      (error) => error instanceof ConfigError && /^PENSTOCK_EGRESS_ALLOW must be host names/.test(error.message),
    )
  }
})

test('an exposed service refuses a private address, naming the settings, until the operator allows it', async (t) => {
  const postgresql = connectorBySlug('postgresql')
  const reachOf = async (env: Env) => {
    const service = await startTestService({ PENSTOCK_EGRESS: '', ...env })
    t.after(service.close)
    const caller = callerOf(service, await service.addOrganization())
    const { id: accountId } = await caller.addAccount()
    await caller.addConnectors(accountId, postgresql)
    const { hostname, port } = new URL(service.databaseUrl)
    const rest = { database: 'd', user: 'u', password: 'p', tlsMode: 'disable' }
    await caller.expect(
      caller.call('configureConnector', {
        ...{ accountId, id: postgresql.id },
        body: { secretConfig: { ...rest, host: hostname, port } },
      }),
    )
    const { checks } = await caller.expect(caller.call('checkConnector', { accountId, id: postgresql.id }))
    return { reach: checks[0], port }
  }
  const { reach, port } = await reachOf({})
  assert.equal(reach?.ok, false)
  assert.match(reach?.message ?? '', /127\.0\.0\.1 is a private address.*PENSTOCK_EGRESS_ALLOW/)
  assert.equal((await reachOf({ PENSTOCK_EGRESS_ALLOW: `127.0.0.1:${port}` })).reach?.ok, true)
  assert.equal((await reachOf({ PENSTOCK_EGRESS_ALLOW: '127.0.0.1:1' })).reach?.ok, false)
})

test('serve and worker say at their start which it is, and why', async (t) => {
  const [stage, database] = [await prepareStage(t), await createTestDatabase()]
  t.after(database.drop)
  const masterKey = Buffer.alloc(32, 7).toString('base64')
  const env = { DATABASE_URL: database.url, PENSTOCK_MASTER_KEY: masterKey }
  const served = await stage.serve({ env })
  assert.match(served.said.stdout, /^Connectors may connect to private addresses, because .* 127\.0\.0\.1 alone\.$/m)
  assert.match(served.said.stderr, /"egress":"any"/)
  const exposed = await stage.serve({ env: { ...env, PENSTOCK_PUBLIC_URL: 'http://localhost' } })
  assert.match(exposed.said.stdout, /^Connectors .* public addresses only, because PENSTOCK_PUBLIC_URL is set\.$/m)
  const worker = stage.start('penstock', ['worker'], { env })
  await until('the worker says it', () => /"egress":"public".*a worker does not know/.test(worker.said.stderr))
})
