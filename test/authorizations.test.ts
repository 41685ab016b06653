import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, beforeEach, describe, test } from 'node:test'
import { loadConnector } from '@penstock/connectors/load'
import { removeOAuthApp } from '../packages/server/src/secrets/oauth-apps.ts'
import { generateMasterKey } from '../packages/server/src/secrets/seal.ts'
import { openSecrets } from '../packages/server/src/secrets/secrets.ts'
import { openSide } from '../packages/server/src/transfers/sides.ts'
import { firstConfiguration, firstSide } from './harness/configurations.ts'
import { createLink, openLink } from './harness/connect-links.ts'
import { consent, openBrowser, startConsentServer } from './harness/consenting.ts'
import { type Caller, callerOf, source } from './harness/fixtures.ts'
import { createInProcessRunners } from './harness/in-process-runners.ts'
import { appOfTests, authorizable, registerApp } from './harness/oauth-apps.ts'
import { type Reply, startServiceOn, startTestService, type TestService } from './harness/service.ts'

/** Connectors that are authorized with a click: the whole way, against an authorization server that is not ours. */

const platform = await startConsentServer()
const { authorization } = authorizable
assert(authorization)
const { server } = authorization
const routes = { [new URL(server.tokenUrl).origin]: platform.url }
const masterKey = generateMasterKey()
let service: TestService
let caller: Caller
let accountId: string
before(async () => {
  const runners = createInProcessRunners({ localFolders: [], loadConnector }, routes)
  service = await startTestService({ PENSTOCK_MASTER_KEY: masterKey }, {}, runners)
  caller = callerOf(service, await service.addOrganization())
})
after(async () => {
  await service.close()
  await platform.close()
})
const app = () => ({ env: service.config.environment.name, slug: server.slug })
const owner = () => ({ accountId, connectorId: authorizable.id })
const keyring = () => service.service.deps.keyring
const savedSecrets = async () =>
  openSecrets(service.database, keyring(), await firstConfiguration(service.database, owner()))
const openedSide = async () =>
  openSide(
    { ...service.service.deps, database: service.database },
    await firstSide(service.database, authorizable, accountId),
    { job: 'check' },
  )
const sql = async (text: string, ...values: unknown[]) => (await service.database.pool.query(text, values)).rows
const connector = () => ({ accountId, id: authorizable.id })
const start = async (): Promise<string> => (await caller.expect(caller.call('authorizeConnector', connector()))).url
const attempt = async () => (await caller.expect(caller.call('getConnectorAuthorization', connector()))).attempt
const authorized = async () => (await caller.expect(caller.call('getConnectorAuthorization', connector()))).authorized
/** The token endpoint is `/token` at the server of the test, as at Google. */
const authorize = async () => {
  const browser = openBrowser(service)
  const reply = await browser.get(await consent(platform, await browser.open(await start())))
  assert.equal(reply.status, 200, reply.text)
}
/** Fails where any of what must stay secret is in the log of the service. */
const assertLogsClean = (...secrets: readonly string[]) => {
  const log = service.logLines.join('\n')
  for (const secret of secrets) assert(!log.includes(secret), secret)
}

beforeEach(async () => {
  await registerApp(service, authorizable)
  accountId = (await caller.addAccount()).id
  await caller.addConnectors(accountId, authorizable)
})

test('a person consents, and what was granted is sealed in the configuration', async () => {
  const link = await start()
  assert.match(link, /^http:\/\/penstock\.test\/oauth\/authorize\/[\w-]{43}$/)
  const browser = openBrowser(service)
  const opened = await browser.get(link)
  assert.equal(opened.status, 303)
  assert.match(
    opened.headers['set-cookie'] ?? '',
    /^penstock-authorization-[0-9a-f]{16}=[\w-]{43}; Max-Age=3600; Path=\/; HttpOnly; SameSite=Lax$/,
  )
  assert.equal(opened.headers['referrer-policy'], 'no-referrer')
  const address = new URL(opened.headers.location ?? '')
  assert.equal(address.origin + address.pathname, server.authorizeUrl)
  const { state = '', code_challenge = '', ...asked } = Object.fromEntries(address.searchParams)
  assert.deepEqual(asked, {
    access_type: 'offline',
    prompt: 'consent',
    response_type: 'code',
    client_id: appOfTests.clientId,
    redirect_uri: 'http://penstock.test/oauth/callback',
    scope: 'https://www.googleapis.com/auth/datamanager',
    code_challenge_method: 'S256',
  })
  const back = await consent(platform, address)
  const page = await browser.get(back)
  assert.equal(page.status, 200, page.text)
  assert.match(page.headers['content-type'] ?? '', /^text\/html/)
  assert.match(page.headers['content-security-policy'] ?? '', /default-src 'none'/)
  assert.match(page.text, /is authorized/)
  assert(page.text.includes(`/accounts/${accountId}/connectors`))
  assert(!/<script/i.test(page.text))

  const { form } = platform.asked.at(-1) ?? assert.fail()
  const { code = '', code_verifier = '' } = form
  assert.equal(createHash('sha256').update(code_verifier).digest('base64url'), code_challenge)
  assert.deepEqual(
    { ...form },
    {
      grant_type: 'authorization_code',
      code,
      code_verifier,
      redirect_uri: 'http://penstock.test/oauth/callback',
      client_id: appOfTests.clientId,
      client_secret: appOfTests.clientSecret,
    },
  )
  const { refreshToken = '', ...others } = await savedSecrets()
  assert.match(refreshToken, /^canary-refresh-token-\d+$/)
  assert.deepEqual(others, {})
  assert.deepEqual(await sql('select * from authorizations where account_id = $1', accountId), [])
  assertLogsClean(state, code, code_verifier, refreshToken, appOfTests.clientSecret, link.slice(-43))
  for (const secret of [state, code, refreshToken, appOfTests.clientSecret]) assert(!page.text.includes(secret))
})

test('the client of the app counts as filled, is shown to no one, and reaches the job', async () => {
  await authorize()
  assert.equal(await authorized(), true)
  const { secretConfig, configured } = await caller.expect(caller.call('getConnectorConfiguration', connector()))
  assert.equal(configured, true)
  const fields = secretConfig[0]?.configuration.map(({ name, required, value }) => [name, required, value])
  assert.deepEqual(fields, [
    ['clientId', false, ''],
    ['clientSecret', false, ''],
    ['refreshToken', true, '********'],
  ])
  const side = openedSide
  const { refreshToken } = await savedSecrets()
  assert.deepEqual((await side()).secrets, { ...appOfTests, refreshToken })
  // A secret that is rotated reaches every connector.
  await registerApp(service, authorizable, { ...appOfTests, clientSecret: 'canary-rotated-secret' })
  assert.equal((await side()).secrets.clientSecret, 'canary-rotated-secret')
  await registerApp(service, authorizable, { clientId: 'another-app', clientSecret: 'canary-of-another' })
  assert.match((await side()).refusal?.message ?? '', /registered another app at Google.*Authorize the connector again/)
  await removeOAuthApp(service.database, app())
  assert.match((await side()).refusal?.message ?? '', /removed the app at Google.*`oauth-app set google` of Penstock/)
  assert(!JSON.stringify(await side()).includes('canary-of-another'))
  const { checks } = await caller.expect(caller.call('checkConnector', connector()))
  assert.match(checks[0]?.message ?? '', /removed the app at Google/)
})

test('what was granted is saved in the configuration that was named, and in no other', async () => {
  const body = { name: 'Second' }
  const second = await caller.expect(caller.call('createConnectorConfiguration', { ...connector(), body }))
  const { configurationId } = second
  const of = { ...connector(), query: { configurationId } }
  const { url } = await caller.expect(caller.call('authorizeConnector', of))
  const stateOf = async (call: object) => {
    const { authorized, attempt } = await caller.expect(
      caller.call('getConnectorAuthorization', { ...connector(), ...call }),
    )
    return [authorized, attempt]
  }
  assert.deepEqual(
    [await stateOf({}), await stateOf(of)],
    [
      [false, null],
      [false, 'pending'],
    ],
  )
  const browser = openBrowser(service)
  const reply = await browser.get(await consent(platform, await browser.open(url)))
  assert.equal(reply.status, 200, reply.text)
  assert.deepEqual(
    [await stateOf({}), await stateOf(of)],
    [
      [false, null],
      [true, null],
    ],
  )
  assert.deepEqual(await savedSecrets(), {})
  const owner = { accountId, connectorId: authorizable.id, configurationId }
  assert.deepEqual(Object.keys(await openSecrets(service.database, keyring(), owner)), ['refreshToken'])
  // If it is deleted while the person consents, nothing is saved elsewhere.
  const again = await caller.expect(caller.call('authorizeConnector', of))
  const back = await consent(platform, await browser.open(again.url))
  await caller.expect(caller.call('deleteConnectorConfiguration', of))
  assert.equal((await browser.get(back)).status, 400)
  assert.deepEqual(await savedSecrets(), {})
})

test('a client of the account takes the place of the app, and its grant goes', async () => {
  await authorize()
  const save = (secretConfig: Record<string, string | null>) =>
    caller.call('configureConnector', { ...connector(), body: { secretConfig } })
  const refused = await save({ clientId: 'own-client' })
  assert.equal(refused.status, 400)
  assert.deepEqual(
    refused.details.map(({ field }) => field),
    ['body.secretConfig.clientSecret', 'body.secretConfig.refreshToken'],
  )
  assert.equal((await save({ refreshToken: 'stolen' })).status, 400)
  assert.equal(await authorized(), true)
  // A form that is sent back unchanged changes nothing.
  await caller.expect(save({ clientId: '', clientSecret: '', refreshToken: '********' }))
  assert.equal(await authorized(), true)
  await caller.expect(save({ clientId: 'own-client', clientSecret: 'own-secret', refreshToken: 'own-token' }))
  assert.equal(await authorized(), false)
  const side = await openedSide()
  const own = { clientId: 'own-client', clientSecret: 'own-secret', refreshToken: 'own-token' }
  assert.deepEqual(side.secrets, own)
  await authorize()
  assert.deepEqual(Object.keys(await savedSecrets()), ['refreshToken'])
  const [row] = await sql('select settings from configurations where account_id = $1', accountId)
  assert.deepEqual(row.settings, {})
})

test('a person who comes from elsewhere is shown first who gets the access', async () => {
  const link = new URL(await start()).pathname
  const from = (site: string) => service.send({ method: 'GET', path: link, headers: { 'sec-fetch-site': site } })
  for (const site of ['cross-site', 'same-site', 'none']) {
    const reply = await from(site)
    assert.equal(reply.status, 200)
    assert.match(reply.text, /give Account \(Test organization\) access to your account at Google/)
    assert.equal(reply.headers['set-cookie'], undefined)
  }
  assert.equal((await from('same-origin')).status, 303)
  assert.equal((await from('cross-site')).status, 410)
  const unknown = { method: 'GET', path: `/oauth/authorize/${'A'.repeat(43)}`, headers: { 'sec-fetch-site': 'none' } }
  assert.equal((await service.send(unknown)).status, 404)
})

describe('the cookie that binds an authorization to its browser', () => {
  const openIn = (link: string, cookie: string, at = service) =>
    at.send({ method: 'GET', path: new URL(link).pathname, headers: { cookie } })
  const setBy = (reply: Reply) => /^([^=]+)=([^;]*); (.*)$/.exec(reply.headers['set-cookie'] ?? '') ?? assert.fail()

  test('is never one that was planted, and no other browser completes the authorization', async () => {
    const planted = 'A'.repeat(43)
    const first = setBy(await openIn(await start(), ''))
    const names = ['penstock-authorization', '__Host-penstock-authorization', first[1]]
    const cookie = names.map((name) => `${name}=${planted}`).join('; ')
    const opened = await openIn(await start(), cookie)
    const [, name, value] = setBy(opened)
    assert.notEqual(value, planted)
    assert.notEqual(name, first[1], 'one for each state')
    const back = new URL(await consent(platform, new URL(opened.headers.location ?? '')))
    const answer = (cookie: string) =>
      service.send({ method: 'GET', path: back.pathname + back.search, headers: { cookie } })
    assert.equal((await answer(`${cookie}; ${name}=${planted}`)).status, 403)
    assert.equal((await answer(`penstock-authorization=${value}`)).status, 403)
    const done = await answer(`${cookie}; ${name}=${value}`)
    assert.equal(done.status, 200, done.text)
    assert.equal(done.headers['set-cookie'], `${name}=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax`)
  })

  test('lets one browser complete several that it opened one after another', async () => {
    const browser = openBrowser(service)
    const addresses = [await browser.open(await start()), await browser.open(await start())]
    for (const address of addresses) assert.equal((await browser.get(await consent(platform, address))).status, 200)
    assert.equal(browser.cookies.size, 0)
  })

  test('gives way to newer ones before their number makes requests too large', async () => {
    const browser = openBrowser(service)
    for (let opened = 0; opened < 20; opened++) await browser.open(await start())
    const newest = await browser.open(await start())
    assert.equal(browser.cookies.size, 8)
    assert.equal((await browser.get(await consent(platform, newest))).status, 200)
  })

  for (const publicUrl of ['https://penstock.test', 'https://penstock.test/tools']) {
    test(`cannot be set by another host for ${publicUrl}`, async (t) => {
      const env = { PENSTOCK_MASTER_KEY: masterKey, PENSTOCK_PUBLIC_URL: publicUrl }
      const other = await startServiceOn(service.databaseUrl, env)
      t.after(() => other.close())
      const path = `/oauth/authorize/${(await start()).slice(-43)}`
      const reply = await other.send({ method: 'GET', path })
      assert.equal(reply.status, 303, reply.text)
      const [, name, , rest] = setBy(reply)
      assert.match(name ?? '', /^__Host-penstock-authorization-[0-9a-f]{16}$/)
      assert.equal(rest, 'Max-Age=3600; Path=/; HttpOnly; SameSite=Lax; Secure')
    })
  }
})

test('only the newest authorizations of a connector are kept', async () => {
  const links: string[] = []
  for (let started = 0; started < 21; started++) links.push(await start())
  const browser = openBrowser(service)
  assert.equal((await browser.get(links[0] ?? '')).status, 404)
  assert.equal((await browser.get(links[1] ?? '')).status, 303)
  const [row] = await sql('select count(*)::int as kept from authorizations where account_id = $1', accountId)
  assert.equal(row.kept, 20)
})

describe('what is refused changes nothing', () => {
  const assertUnchanged = async () => {
    assert.deepEqual(await savedSecrets(), {})
    assert.equal(await authorized(), false)
  }

  test('a connector that has no such way, is not added, or whose app is not registered', async () => {
    await caller.addConnectors(accountId, source)
    const call = (id: string, account = accountId) => caller.call('authorizeConnector', { accountId: account, id })
    const other = await call(source.id)
    assert.deepEqual([other.status, other.error], [422, 'authorization_not_supported'])
    const { id: empty } = await caller.addAccount()
    assert.equal((await call(authorizable.id, empty)).error, 'connector_not_added')
    await removeOAuthApp(service.database, app())
    const none = await call(authorizable.id)
    assert.deepEqual([none.status, none.error], [409, 'authorization_not_available'])
    assert.match(none.details[0]?.message ?? '', /`oauth-app set google` of Penstock/)
    const read = await caller.expect(caller.call('getConnectorAuthorization', connector()))
    assert.deepEqual(read, { supported: true, available: false, authorized: false, attempt: null })
    const stranger = callerOf(service, await service.addOrganization())
    assert.equal((await stranger.call('authorizeConnector', connector())).error, 'not_found')
  })

  test('a link that is opened twice, has expired, or is not known', async () => {
    const link = await start()
    const browser = openBrowser(service)
    await browser.open(link)
    assert.equal((await browser.get(link)).status, 410)
    const late = await start()
    await sql(`update authorizations set expires_time = now() - interval '1 second'`)
    assert.equal((await browser.get(late)).status, 410)
    for (const path of ['A'.repeat(43), 'short', `${'A'.repeat(42)}%00`, 'x'.repeat(5_000)]) {
      assert.equal((await browser.get(`/oauth/authorize/${path}`)).status, 404, path)
    }
    assert.equal((await service.send({ method: 'HEAD', path: new URL(await start()).pathname })).status, 404)
    await assertUnchanged()
  })

  test('consent that was denied, and other errors of the platform', async () => {
    assert.equal(await attempt(), null)
    for (const [error, status, outcome] of [
      ['access_denied', 403, 'declined'],
      ['invalid_scope', 422, 'failed'],
      ['user_cancelled_authorize', 403, 'declined'],
      ['<b>canary</b>', 422, 'failed'],
    ] as const) {
      const browser = openBrowser(service)
      const state = (await browser.open(await start())).searchParams.get('state')
      assert.equal(await attempt(), 'pending')
      const query = new URLSearchParams({ error, state: state ?? '', error_description: 'canary-words' })
      const reply = await browser.get(`/oauth/callback?${query}`)
      assert.equal(reply.status, status)
      assert(!reply.text.includes('canary'))
      assert.equal(await attempt(), outcome)
      // The state was used.
      assert.equal((await browser.get(`/oauth/callback?code=any&state=${state}`)).status, 400)
    }
    await assertUnchanged()
    // A grant makes what was before it forgotten.
    await authorize()
    assert.equal(await attempt(), null)
  })

  test('what a customer granted whose link was taken back meanwhile; what became of it, no one else reads', async () => {
    const link = await createLink(caller, accountId, { connectorIds: [authorizable.id] })
    const token = await openLink(service, link)
    const asPage = { token, ...connector() }
    const { url } = (await service.call('authorizeConnector', asPage)).response
    const browser = openBrowser(service)
    const back = await consent(platform, await browser.open(url))
    await caller.expect(caller.call('revokeConnectLink', { id: link.id }))
    const reply = await browser.get(back)
    assert.equal(reply.status, 409)
    assert.match(reply.text, /Nothing was saved/)
    assert.equal(await attempt(), null)
    const [row] = await sql('select outcome from authorizations where account_id = $1', accountId)
    assert.equal(row.outcome, 'failed')
    await assertUnchanged()
  })

  test('another browser, no cookie, a foreign state, and an answer that comes twice', async () => {
    const browser = openBrowser(service)
    const back = await consent(platform, await browser.open(await start()))
    const exchanges = platform.asked.length
    assert.equal((await openBrowser(service).get(back)).status, 403)
    const stranger = openBrowser(service)
    const foreign = await consent(platform, await stranger.open(await start()))
    assert.equal((await stranger.get(back)).status, 403)
    const mixed = new URL(back)
    mixed.searchParams.set('state', 'A'.repeat(43))
    assert.equal((await browser.get(mixed.href)).status, 400)
    for (const query of ['', '?code=any', '?state=', '?state=x&state=y', `?code=a&state=${'x'.repeat(9_000)}`]) {
      assert.equal((await browser.get(`/oauth/callback${query}`)).status, 400, query)
    }
    assert.equal(platform.asked.length, exchanges)
    await assertUnchanged()
    // All of that left the authorization as it was, for the browser that it is bound to.
    const replies = await Promise.all([browser.get(back), browser.get(back)])
    assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 400])
    assert.equal(platform.asked.length, exchanges + 1)
    assert.equal((await browser.get(back)).status, 400)
    assert.equal((await stranger.get(foreign)).status, 200)
  })

  test('an answer that is late, of another issuer, or without a code', async () => {
    const browser = openBrowser(service)
    const late = await consent(platform, await browser.open(await start()))
    await sql(`update authorizations set expires_time = now() - interval '1 second'`)
    assert.equal((await browser.get(late)).status, 410)
    const state = async () => (await browser.open(await start())).searchParams.get('state')
    const issuer = encodeURIComponent('https://attacker.example')
    assert.equal((await browser.get(`/oauth/callback?code=a&state=${await state()}&iss=${issuer}`)).status, 400)
    for (const code of ['', '&code=', `&code=${'x'.repeat(4_097)}`, '&code=a&code=b', '&code=%00', '&code=%C3%A4']) {
      assert.equal((await browser.get(`/oauth/callback?state=${await state()}${code}`)).status, 400, code)
    }
    await assertUnchanged()
    const good = new URL(await consent(platform, await browser.open(await start())))
    good.searchParams.set('iss', server.issuer ?? '')
    assert.equal((await browser.get(good.href)).status, 200)
  })

  test('an exchange that the platform refuses, or that grants too little', async () => {
    const answers: [RegExp, number, Record<string, unknown>][] = [
      [/without a refresh token.*security settings/, 200, { access_token: 'canary-a', token_type: 'Bearer' }],
      [/invalid_grant/, 400, { error: 'invalid_grant', error_description: 'canary-words' }],
      [/does not accept the client/, 401, { error: 'invalid_client' }],
      [/did not grant the scope/, 200, { access_token: 'canary-a', refresh_token: 'canary-r', scope: 'email' }],
      [/an invalid response/, 200, {}],
      [
        /cannot be saved|an invalid response|without a refresh/,
        200,
        { access_token: 'a', refresh_token: 'x'.repeat(70_000) },
      ],
      [/Google/, 429, {}],
      [/Google/, 500, { error: 'canary' }],
    ]
    for (const [message, status, body] of answers) {
      const browser = openBrowser(service)
      const back = await consent(platform, await browser.open(await start()))
      platform.change((response) => Object.assign(response, { body, statusCode: status }))
      const reply = await browser.get(back)
      assert.equal(reply.status, 422, reply.text)
      assert.match(reply.text, message)
      assert(!reply.text.includes('canary'))
    }
    await assertUnchanged()
    assertLogsClean('canary-a', 'canary-r', 'canary-words')
  })

  test('a connector that was removed, or added again, after the link was given out', async () => {
    const browser = openBrowser(service)
    const unopened = await start()
    const back = await consent(platform, await browser.open(await start()))
    await caller.expect(caller.call('removeConnector', connector()))
    await caller.addConnectors(accountId, authorizable)
    assert.equal((await browser.get(unopened)).status, 404)
    assert.equal((await browser.get(back)).status, 400)
    // If the connector is removed while the platform is asked, the redirect finds another connector in its place.
    const next = await consent(platform, await browser.open(await start()))
    await sql(`
      begin; set local session_replication_role = replica;
      update authorizations set configuration_id = 'ffffffffffffffff'; commit
    `)
    assert.equal((await browser.get(next)).status, 409)
    const deleted = await consent(platform, await browser.open(await start()))
    await caller.expect(caller.call('deleteAccount', { id: accountId }))
    assert.equal((await browser.get(deleted)).status, 409)
    assert.deepEqual(await savedSecrets(), {})
  })

  test('an app that was replaced after the person consented', async () => {
    const browser = openBrowser(service)
    const back = await consent(platform, await browser.open(await start()))
    await registerApp(service, authorizable, { clientId: 'another-app', clientSecret: 'canary-of-another' })
    const exchanges = platform.asked.length
    assert.equal((await browser.get(back)).status, 409)
    assert.equal(platform.asked.length, exchanges)
    await assertUnchanged()
  })
})
