import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { ConfigError, readConfig } from '../packages/server/src/config.ts'
import { describeEgress } from '../packages/server/src/egress-settings.ts'
import { createTestDatabase } from './harness/database.ts'
import { callerOf, connectorBySlug } from './harness/fixtures.ts'
import { prepareStage } from './harness/process.ts'
import { startTestService } from './harness/service.ts'
import { until } from './harness/until.ts'

/** Who can reach the API determines where connectors can connect to. */

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
      assert.equal(egressOf(env).networkPolicy, 'any')
      assert.match(sentence(env), /private addresses, because the service listens only on \S+\.$/)
    })
  }

  for (const [name, value, reason] of [
    ['PENSTOCK_HOST', '0.0.0.0', 'PENSTOCK_HOST is not a loopback address'],
    ['PENSTOCK_HOST', '::', 'PENSTOCK_HOST is not a loopback address'],
    ['PENSTOCK_HOST', '10.0.0.5', 'PENSTOCK_HOST is not a loopback address'],
    ['PENSTOCK_HOST', '127.example.com', 'PENSTOCK_HOST is not a loopback address'],
    ['PENSTOCK_PUBLIC_URL', 'https://data.example.com', 'PENSTOCK_PUBLIC_URL is set'],
    ['PENSTOCK_PUBLIC_URL', 'http://localhost:8080', 'PENSTOCK_PUBLIC_URL is set'],
    ['PENSTOCK_TRUSTED_PROXIES', '127.0.0.1', 'PENSTOCK_TRUSTED_PROXIES is set'],
  ] as const) {
    test(`is public where ${name} is ${value}`, () => {
      assert.equal(egressOf({ [name]: value }).networkPolicy, 'public')
      assert.equal(sentence({ [name]: value }), `Connectors may connect to public addresses only, because ${reason}.`)
      assert.equal(egressOf({ [name]: value, PENSTOCK_EGRESS: 'any' }).networkPolicy, 'any', 'unless it is set')
    })
  }

  test('is public for a worker of its own', () => {
    assert.equal(egressOf({}, false).networkPolicy, 'public')
    assert.match(sentence({}, false), /public addresses only, because a worker does not know who has access/)
    assert.equal(egressOf({ PENSTOCK_EGRESS: 'any' }, false).networkPolicy, 'any')
  })
})

test('PENSTOCK_EGRESS counts wherever it is set', () => {
  for (const networkPolicy of ['any', 'public'] as const) {
    assert.equal(egressOf({ PENSTOCK_EGRESS: networkPolicy, PENSTOCK_HOST: '0.0.0.0' }).networkPolicy, networkPolicy)
    assert.equal(egressOf({ PENSTOCK_EGRESS: networkPolicy }).networkPolicy, networkPolicy)
    assert.match(sentence({ PENSTOCK_EGRESS: networkPolicy }), /because PENSTOCK_EGRESS is set\.$/)
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
  const networkPolicyOf = async (env: Env) => {
    const service = await startTestService({ PENSTOCK_EGRESS: '', ...env })
    t.after(service.close)
    const caller = callerOf(service, await service.addOrganization())
    const { id: accountId } = await caller.addAccount()
    await caller.addConnectors(accountId, postgresql)
    const { hostname, port } = new URL(service.databaseUrl)
    const rest = { database: 'd', user: 'u', password: 'p', tlsMode: 'disable' }
    await caller.expect(
      caller.call('configureConnector', {
        accountId,
        id: postgresql.id,
        body: { secretConfig: { ...rest, host: hostname, port } },
      }),
    )
    const { checks } = await caller.expect(caller.call('checkConnector', { accountId, id: postgresql.id }))
    return { networkPolicy: checks[0], port }
  }
  const { networkPolicy, port } = await networkPolicyOf({})
  assert.equal(networkPolicy?.ok, false)
  assert.match(networkPolicy?.message ?? '', /127\.0\.0\.1 is a private address.*PENSTOCK_EGRESS_ALLOW/)
  assert.equal((await networkPolicyOf({ PENSTOCK_EGRESS_ALLOW: `127.0.0.1:${port}` })).networkPolicy?.ok, true)
  assert.equal((await networkPolicyOf({ PENSTOCK_EGRESS_ALLOW: '127.0.0.1:1' })).networkPolicy?.ok, false)
})

test('serve and worker say at their start which it is, and why', async (t) => {
  const [stage, database] = [await prepareStage(t), await createTestDatabase()]
  t.after(database.drop)
  const masterKey = Buffer.alloc(32, 7).toString('base64')
  const env = { DATABASE_URL: database.url, PENSTOCK_MASTER_KEY: masterKey }
  const served = await stage.serve({ env })
  assert.match(served.said.stdout, /^Connectors may connect to private addresses, because .* only on 127\.0\.0\.1\.$/m)
  // The lines of a process on its two outputs can arrive in any order.
  await until('the log says it', () => /"egress":"any"/.test(served.said.stderr))
  const exposed = await stage.serve({ env: { ...env, PENSTOCK_PUBLIC_URL: 'http://localhost' } })
  assert.match(exposed.said.stdout, /^Connectors .* public addresses only, because PENSTOCK_PUBLIC_URL is set\.$/m)
  const worker = stage.start('penstock', ['worker'], { env })
  await until('the worker says it', () => /"egress":"public".*a worker does not know/.test(worker.said.stderr))
})

describe('an address with http:// that secrets are sent to', () => {
  const webhook = connectorBySlug('webhook')
  const httpsFile = connectorBySlug('https-file')
  const signingSecret = `whsec_${Buffer.from('a signing secret of 32 bytes ...').toString('base64')}`
  const start = async (t: TestContext, env: Env) => {
    const service = await startTestService(env)
    t.after(service.close)
    const caller = callerOf(service, await service.addOrganization())
    const { id: accountId } = await caller.addAccount()
    await caller.addConnectors(accountId, webhook, httpsFile)
    const save = (id: string, secretConfig: Record<string, string | null>) =>
      caller.call('configureConnector', { accountId, id, body: { secretConfig } })
    const saveHook = async (url: string) => (await save(webhook.id, { url, signingSecret })).status
    return { caller, accountId, save, saveHook, service }
  }

  test('is refused when it is saved, in a sentence that names the setting', async (t) => {
    const { save, saveHook } = await start(t, { PENSTOCK_EGRESS: 'any' })
    const refused = await save(webhook.id, { url: 'http://hooks.example.com/in?a=1', signingSecret })
    assert.deepEqual([refused.status, refused.error], [400, 'invalid_request'])
    assert.equal(refused.details.length, 1)
    assert.equal(refused.details[0]?.field, 'body.secretConfig.url')
    assert.match(
      refused.details[0]?.message ?? '',
      /^must begin with https:\/\/.*hooks\.example\.com.*PENSTOCK_ALLOW_HTTP$/,
    )
    for (const url of [
      'HTTP://hooks.example.com',
      ' http://10.0.0.5/',
      'http://localhost.example.com/',
      'http://127.example.com/',
    ])
      assert.equal(await saveHook(url), 400, url)
    for (const url of [
      'https://hooks.example.com/in',
      'http://127.0.0.1:8000/',
      'http://[::1]/',
      'http://localhost/in',
    ])
      assert.equal(await saveHook(url), 200, url)
  })

  test('counts only where a secret goes there', async (t) => {
    const { save } = await start(t, { PENSTOCK_EGRESS: 'any' })
    const url = 'http://files.example.com/'
    assert.equal((await save(httpsFile.id, { url })).status, 200)
    for (const secrets of [
      { authentication: 'bearer token', bearerToken: 'a-token-for-files' },
      { authentication: 'user name and password', username: 'u', password: 'a-password' },
      { secretQuery: 'key=a-key' },
    ]) {
      const refused = await save(httpsFile.id, { url, ...secrets })
      assert.deepEqual(
        refused.details.map(({ field }) => field),
        ['body.secretConfig.url'],
        JSON.stringify(secrets),
      )
    }
  })

  test('is allowed to the hosts that PENSTOCK_ALLOW_HTTP names, and to this machine only where private addresses are', async (t) => {
    const allowed = 'hooks.internal, 10.1.0.0/16, gateway.internal:8080'
    const { saveHook } = await start(t, { PENSTOCK_EGRESS: 'public', PENSTOCK_ALLOW_HTTP: allowed })
    for (const url of [
      'http://hooks.internal/in',
      'http://HOOKS.internal.:81/',
      'http://10.1.2.3/',
      'http://gateway.internal:8080/',
    ])
      assert.equal(await saveHook(url), 200, url)
    for (const url of [
      'http://127.0.0.1/',
      'http://localhost/',
      'http://10.2.0.1/',
      'http://gateway.internal/',
      'http://a.hooks.internal/',
    ])
      assert.equal(await saveHook(url), 400, url)
    assert.throws(
      () => readConfig({ PENSTOCK_ALLOW_HTTP: 'http://hooks.internal' }),
      (error) => error instanceof ConfigError && /^PENSTOCK_ALLOW_HTTP must be host names/.test(error.message),
    )
  })

  test('that was saved while it was allowed is refused when it is used', async (t) => {
    const { caller, accountId, save, service } = await start(t, { PENSTOCK_EGRESS: 'any' })
    await caller.expect(save(webhook.id, { url: 'https://hooks.example.com/in', signingSecret }))
    await service.database.pool.query(
      `update configurations set settings = '{"url": "http://hooks.example.com/in"}' where connector_id = $1`,
      [webhook.id],
    )
    const check = await caller.expect(caller.call('checkConnector', { accountId, id: webhook.id }))
    assert.equal(check.ok, false)
    assert.match(check.message, /URL must begin with https:\/\/.*PENSTOCK_ALLOW_HTTP\.$/)
  })
})
