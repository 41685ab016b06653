import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { after, before, describe, type TestContext, test } from 'node:test'
import { generateMasterKey } from '../packages/server/src/secrets/seal.ts'
import { addPasskey, preparePasskeySignIn } from './harness/authenticator.ts'
import {
  type Claims,
  type HostileProvider,
  setProvider,
  settingsFor,
  signInAtProvider,
  startHostileProvider,
  startRealProvider,
} from './harness/identity-provider.ts'
import { type Organization, type Reply, startServiceOn, startTestService, type TestService } from './harness/service.ts'
import { addPerson, invite, newEmail } from './harness/users.ts'

/** Single sign-on: with a real provider (oidc-provider), and against one that lies. */

const env = { PENSTOCK_MASTER_KEY: generateMasterKey() }
let service: TestService
before(async () => {
  service = await startTestService(env)
})
after(() => service.close())

const sql = async (text: string, values: unknown[] = []) => (await service.database.pool.query(text, values)).rows
const get = (path: string, headers: Record<string, string> = {}, at = service) =>
  at.send({ method: 'GET', path, headers })
const cookiesOf = ({ headers }: Reply) => headers['set-cookie'] ?? ''
const cookieIn = (reply: Reply, name: string) => new RegExp(`${name}=([^;]*)`).exec(cookiesOf(reply))?.[1] ?? ''

/** Begins a sign-in. */
async function begin({ organizationId }: Organization) {
  const reply = await get(`/sso/${organizationId}`)
  assert.equal(reply.status, 303, reply.text)
  const cookie = `penstock-single-sign-on=${cookieIn(reply, 'penstock-single-sign-on')}`
  const url = new URL(reply.headers.location ?? '')
  const { state = '', nonce = '' } = Object.fromEntries(url.searchParams)
  return { url, cookie, state, nonce, reply }
}
/** Who is signed in by the answer to a callback. */
async function whoIn(reply: Reply) {
  assert.equal(reply.status, 303, reply.text)
  assert.equal(reply.headers.location, '/sign-in?single-sign-on')
  const cookie = `penstock_session=${cookieIn(reply, 'penstock_session')}`
  return (await service.call('getMe', { headers: { cookie } })).response
}
async function signIn(organization: Organization, login: string): Promise<Reply> {
  const { url, cookie } = await begin(organization)
  return get(await signInAtProvider(url.href, login), { cookie })
}
function assertPage(reply: Reply, status: number, title: RegExp): void {
  assert.equal(reply.status, status, reply.text)
  assert.match(reply.text, title)
  assert.doesNotMatch(cookiesOf(reply), /penstock_session/)
}
const people = async (t: TestContext, claims: Record<string, Claims>) => {
  const organization = await service.addOrganization()
  return { organization, provider: await startRealProvider(t, claims) }
}

describe('with a real provider', () => {
  test('a person is found by a verified e-mail address, linked, and then known by the subject', async (t) => {
    const email = newEmail()
    const claims: Record<string, Claims> = { ada: { email: email.toUpperCase(), email_verified: true, name: 'Ada' } }
    const { organization, provider } = await people(t, claims)
    const person = await addPerson(service, organization, { email, role: 'editor' })
    await setProvider(service, organization, provider)
    const me = await whoIn(await signIn(organization, 'ada'))
    assert.deepEqual(
      [me.id, me.method, me.role, me.organizationId],
      [person.id, 'single sign-on', 'editor', organization.organizationId],
    )
    claims.ada = { email: newEmail(), email_verified: true }
    assert.equal((await whoIn(await signIn(organization, 'ada'))).id, person.id)
    const audited = await sql(
      `select details from audit_events where action = 'signInWithSingleSignOn' and actor_id = $1`,
      [person.id],
    )
    assert.deepEqual(audited, Array(2).fill({ details: { method: 'single sign-on' } }))
    // Another account with the address that the person has here.
    claims.eve = { email, email_verified: true }
    assertPage(await signIn(organization, 'eve'), 403, /belongs to another account/)
  })

  test('an invited person has accepted with it', async (t) => {
    const email = newEmail()
    const { organization, provider } = await people(t, { ada: { email, email_verified: true, name: 'Ada Lopez' } })
    const invited = await invite(service, organization, { email, role: 'admin' })
    await setProvider(service, organization, provider)
    const me = await whoIn(await signIn(organization, 'ada'))
    assert.deepEqual([me.id, me.role, me.name, me.hasPassword], [invited.id, 'admin', 'Ada Lopez', false])
    assert.equal((await service.call('getInvitation', { body: { token: invited.token } })).error, 'link_invalid')
  })

  test('people are added only as the settings say', async (t) => {
    const claims = {
      ada: { email: 'ada@one.example', email_verified: true, name: 'Ada\u0000Lopez' },
      bob: { email: 'bob@two.example', email_verified: true },
      eve: { email: 'eve@one.example', email_verified: 'true' },
      none: {},
    }
    const { organization, provider } = await people(t, claims)
    await setProvider(service, organization, provider)
    assertPage(await signIn(organization, 'ada'), 403, /not in this organization/)
    const newUsers = { role: 'viewer' as const, accountIds: null }
    await setProvider(service, organization, provider, { newUsers, emailDomains: ['ONE.example'] })
    const me = await whoIn(await signIn(organization, 'ada'))
    assert.deepEqual([me.role, me.name, me.email], ['viewer', 'Ada Lopez', 'ada@one.example'])
    for (const login of ['bob', 'eve', 'none'])
      assertPage(await signIn(organization, login), 403, /not in this organiz/)
    const { rows } = {
      rows: await sql('select count(*)::int as n from users where organization_id = $1', [organization.organizationId]),
    }
    assert.deepEqual(rows, [{ n: 1 }])
  })

  test('where it is required, passwords and passkeys sign in owners alone', async (t) => {
    const email = newEmail()
    const { organization, provider } = await people(t, { ada: { email, email_verified: true } })
    const person = await addPerson(service, organization, { email, role: 'admin' })
    const owner = await addPerson(service, organization, { role: 'owner' })
    const { credential } = await addPasskey(service, person)
    await setProvider(service, organization, provider, { required: true })
    assert.equal((await service.call('getMe', { headers: { cookie: person.headers.cookie } })).status, 401)
    assert.equal((await service.call('getMe', { headers: { cookie: owner.headers.cookie } })).status, 200)
    const byPassword = ({ email, password }: typeof person) => service.call('signIn', { body: { email, password } })
    assert.equal((await byPassword(person)).error, 'single_sign_on_required')
    assert.equal((await byPassword({ ...person, password: 'wrong' })).error, 'sign_in_failed')
    const body = await preparePasskeySignIn(service, credential)
    assert.equal((await service.call('signInWithPasskey', { body })).error, 'single_sign_on_required')
    assert.equal((await byPassword(owner)).status, 200)
    assert.equal((await whoIn(await signIn(organization, 'ada'))).id, person.id)
    await service.call('deleteSingleSignOn', { token: organization.token })
    assert.equal((await byPassword(person)).status, 200)
    assertPage(await get(`/sso/${organization.organizationId}`), 404, /No single sign-on/)
  })
})

describe('a sign-in', () => {
  let organization: Organization
  let provider: HostileProvider
  const email = newEmail()
  before(async () => {
    organization = await service.addOrganization()
    await addPerson(service, organization, { email })
    provider = await startHostileProvider()
    await setProvider(service, organization, provider)
  })
  const callback = (parameters: Record<string, string>, cookie: string) =>
    get(`/sso/callback?${new URLSearchParams(parameters)}`, { cookie })
  const verified = { email, email_verified: true }

  test('is bound to its browser, counts once, and ends after ten minutes', async (t) => {
    const one = await begin(organization)
    assert.match(cookiesOf(one.reply), /; Path=\/sso; Max-Age=3600; HttpOnly; SameSite=Lax$/)
    assert.equal(one.url.searchParams.get('code_challenge_method'), 'S256')
    const other = await begin(organization)
    const requests = provider.requests.length
    assertPage(await callback({ code: 'x', state: one.state }, other.cookie), 400, /not expected/)
    assertPage(await callback({ code: 'x', state: one.state }, ''), 400, /not expected/)
    assertPage(await callback({ code: 'x' }, one.cookie), 400, /not expected/)
    assert.equal(provider.requests.length, requests, 'the provider is not asked')
    provider.idToken = provider.token(one.nonce, verified)
    assert.equal((await callback({ code: 'x', state: one.state }, one.cookie)).status, 303)
    assertPage(await callback({ code: 'x', state: one.state }, one.cookie), 400, /not expected/)
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 10 * 60_000 })
    assertPage(await callback({ code: 'x', state: other.state }, other.cookie), 400, /not expected/)
  })

  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const lies: Record<string, (nonce: string) => string> = {
    'that is not signed': (nonce) => provider.token(nonce, verified, { alg: 'none' }),
    'with another key': (nonce) => provider.token(nonce, verified, {}, privateKey),
    'of another issuer': (nonce) => provider.token(nonce, { ...verified, iss: 'https://login.example.com' }),
    'for another client': (nonce) => provider.token(nonce, { ...verified, aud: 'other' }),
    'for another sign-in': () => provider.token('another', verified),
    'that has expired': (nonce) => provider.token(nonce, { ...verified, exp: 1_000, iat: 900 }),
    'without a subject': (nonce) => provider.token(nonce, { ...verified, sub: undefined }),
    'that is none': () => 'rubbish',
  }
  for (const [what, token] of Object.entries(lies)) {
    test(`is refused with an ID token ${what}`, async () => {
      const { cookie, state, nonce } = await begin(organization)
      provider.idToken = token(nonce)
      const reply = await service.service.app.inject({
        ...{ method: 'GET', url: `/sso/callback?${new URLSearchParams({ code: 'secret-code', state })}` },
        ...{ headers: { cookie }, remoteAddress: `2001:db8:${what.length}::1` },
      })
      assert.equal(reply.statusCode, 422, reply.body)
      assert.match(reply.body, /did not complete the sign-in/)
      const log = service.logLines.join('\n')
      for (const secret of ['secret-code', 'an access token', provider.idToken]) {
        assert(!reply.body.includes(secret) && !log.includes(secret))
      }
    })
  }

  test('knows where providers say that an address is verified', async () => {
    const own = await service.addOrganization()
    const asked = await startHostileProvider()
    asked.metadata.userinfo_endpoint = `${asked.issuer}/userinfo`
    await setProvider(service, own, asked)
    let visits = 0
    const signInWith = async (sub: string, claims: Claims & { xms_edov?: unknown }, userInfo: Claims) => {
      const { cookie, state, nonce } = await begin(own)
      asked.idToken = asked.token(nonce, { sub, ...claims })
      asked.userInfo = { sub, ...userInfo }
      // Each from an address of its own, as failures are counted by address.
      const { statusCode, body, headers } = await service.service.app.inject({
        ...{ method: 'GET', url: `/sso/callback?${new URLSearchParams({ code: 'x', state })}`, headers: { cookie } },
        remoteAddress: `2001:db8:0:${++visits}::1`,
      })
      return { status: statusCode, text: body, headers } as unknown as Reply
    }
    const addressOf = async () => (await addPerson(service, own)).email
    // Okta: the address in the ID token, and that it is verified in the answer about the user.
    const ofOkta = await addressOf()
    const okta = [{ email: ofOkta }, { email: ofOkta, email_verified: true }] as const
    assert.equal((await whoIn(await signInWith('okta', ...okta))).email, ofOkta)
    assert.equal(asked.requests.at(-1), 'GET /userinfo')
    // Microsoft Entra ID: a claim of its own, which the administrator adds.
    const ofEntra = await addressOf()
    const before = asked.requests.length
    assert.equal((await whoIn(await signInWith('entra', { email: ofEntra, xms_edov: true }, {}))).email, ofEntra)
    assert(!asked.requests.slice(before).includes('GET /userinfo'))
    // What is nowhere verified links no one, and neither does what the standard claim denies.
    const email = await addressOf()
    const unverified: [Claims & { xms_edov?: unknown }, Claims][] = [
      [{ email }, { email }],
      [
        { email, xms_edov: false },
        { email, email_verified: true },
      ],
      [{ email, email_verified: false, xms_edov: true }, {}],
      [{ email }, { email: 'other@example.com', email_verified: true }],
    ]
    for (const [claims, userInfo] of unverified)
      assertPage(await signInWith('none', claims, userInfo), 403, /not in this organization/)
    // Who is linked signs in although the answer about the user cannot be had.
    asked.metadata.userinfo_endpoint = `${asked.issuer}/nothing`
    assert.equal((await whoIn(await signInWith('okta', { email: ofOkta }, {}))).email, ofOkta)
  })

  test('opens its own organization alone, whatever the provider says', async () => {
    const other = await service.addOrganization()
    const theirs = await addPerson(service, other, { role: 'owner' })
    const { cookie, state, nonce } = await begin(organization)
    provider.idToken = provider.token(nonce, { sub: theirs.id, email: theirs.email, email_verified: true })
    assertPage(await callback({ code: 'x', state }, cookie), 403, /not in this organization/)
    // Nor does a subject that is linked elsewhere, by the same issuer.
    await setProvider(service, other, provider)
    const linking = await begin(other)
    provider.idToken = provider.token(linking.nonce, { sub: 'two', email: theirs.email, email_verified: true })
    assert.equal((await whoIn(await callback({ code: 'x', state: linking.state }, linking.cookie))).id, theirs.id)
    const again = await begin(organization)
    provider.idToken = provider.token(again.nonce, { sub: 'two', email: theirs.email, email_verified: true })
    assertPage(await callback({ code: 'x', state: again.state }, again.cookie), 403, /not in this organization/)
    // A state of one organization is nothing in another one.
    const [mine, foreign] = [await begin(organization), await begin(other)]
    const mixed = mine.cookie.replace(organization.organizationId, other.organizationId)
    assertPage(await callback({ code: 'x', state: mine.state }, mixed), 400, /not expected/)
    assertPage(await callback({ code: 'x', state: foreign.state }, mine.cookie), 400, /not expected/)
  })

  test('from another site asks first, and an error of the provider is a page', async () => {
    const { organizationId } = organization
    const asked = await get(`/sso/${organizationId}`, { 'sec-fetch-site': 'cross-site' })
    assertPage(asked, 200, /Sign in to Test organization/)
    assert.equal(asked.headers['set-cookie'], undefined)
    for (const unknown of ['0123456789abcdef', 'x', `${organizationId}0`]) {
      assertPage(await get(`/sso/${unknown}`), 404, /No single sign-on/)
    }
    const { cookie, state } = await begin(organization)
    assertPage(await callback({ error: 'access_denied', state }, cookie), 403, /access_denied/)
  })
})

describe('the settings', () => {
  test('hide the secret, keep it for the same client alone, and are not saved without a provider', async () => {
    const organization = await service.addOrganization()
    const provider = await startHostileProvider()
    const { token } = organization
    const set = (body: ReturnType<typeof settingsFor>, at = service) => at.call('setSingleSignOn', { token, body })
    assert.equal((await service.call('getSingleSignOn', { token })).status, 404)
    assert.equal((await set(settingsFor(provider))).status, 200)
    const { response, text } = await service.call('getSingleSignOn', { token })
    const { clientSecret = '', ...rest } = settingsFor(provider)
    assert.equal(response.clientSecret, '********')
    assert.equal(response.redirectUri, 'http://penstock.test/sso/callback')
    assert(!text.includes(clientSecret))
    assert.equal((await set({ ...rest, required: false })).status, 200)
    assert.equal((await set({ ...rest, clientSecret: '********' })).status, 200)
    const moved = await startHostileProvider()
    const kept = await set({ ...rest, issuer: moved.issuer, clientSecret: '********' })
    assert.deepEqual([kept.error, kept.details[0]?.field], ['invalid_request', 'body.clientSecret'])
    assert.deepEqual(moved.requests, [], 'a saved secret goes to no other issuer')
    const stored = JSON.stringify(
      await sql('select t::text from oauth_apps t union all select t::text from audit_events t'),
    )
    assert(!stored.includes(clientSecret))
    moved.metadata.issuer = provider.issuer
    const good = { ...provider.metadata, issuer: moved.issuer }
    for (const metadata of [
      ...[moved.metadata, {}, { ...good, jwks_uri: undefined }],
      ...['javascript:alert(1)', 'http://example.com/auth', 'x', 7, `https://example.com/${'x'.repeat(3_000)}`].map(
        (address) => ({ ...good, authorization_endpoint: address }),
      ),
    ]) {
      moved.metadata = metadata
      const { status, error } = await set(settingsFor(moved))
      assert.deepEqual([status, error], [422, 'provider_refused'])
    }
    for (const issuer of ['ftp://example.com', 'x', 'https://user:pass@example.com', 'https://example.com/?a=b']) {
      assert.equal((await set(settingsFor({ issuer }))).error, 'invalid_request')
    }
    assert.equal((await service.call('getSingleSignOn', { token })).response.issuer, provider.issuer)
    const owner = { role: 'owner', accountIds: null } as never
    assert.equal((await set(settingsFor(provider, { newUsers: owner }))).error, 'invalid_request')
  })

  test('reach no address that connectors may not reach', async (t) => {
    const organization = await service.addOrganization()
    const other = await startServiceOn(service.databaseUrl, { ...env, PENSTOCK_EGRESS: 'public' })
    t.after(() => other.close())
    const provider = await startHostileProvider()
    const call = (issuer: string) =>
      other.call('setSingleSignOn', { token: organization.token, body: settingsFor({ issuer }) })
    assert.equal((await call(provider.issuer)).error, 'invalid_request')
    for (const host of [provider.issuer.slice(7), '169.254.169.254', '10.0.0.1', '[::1]']) {
      const { error, details } = await call(`https://${host}`)
      assert.equal(error, 'provider_refused')
      assert.match(details[0]?.message ?? '', /not allowed|private|address/i)
    }
    assert.deepEqual(provider.requests, [])
  })
})
