import assert from 'node:assert/strict'
import { generateKeyPairSync, hash } from 'node:crypto'
import { before, describe, type TestContext, test } from 'node:test'
import { scopeNames } from '@penstock/wire'
import { generateMasterKey } from '../packages/server/src/secrets/seal.ts'
import { newChallenge } from '../packages/server/src/users/challenges.ts'
import { digestOf } from '../packages/server/src/users/sessions.ts'
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
import { type Organization, type Reply, startServiceOn, type TestService } from './harness/service.ts'
import { startTests } from './harness/started.ts'
import { addPerson, invite, newEmail, type Person } from './harness/users.ts'

/** Single sign-on: with a real provider (oidc-provider), and against one that lies. */

const env = { PENSTOCK_MASTER_KEY: generateMasterKey() }
const service = await startTests({ env })

const sql = async (text: string, values: unknown[] = []) => (await service.database.pool.query(text, values)).rows
const get = (path: string, headers: Record<string, string> = {}, at = service) =>
  at.send({ method: 'GET', path, headers })
const cookiesOf = ({ headers }: Reply) => String(headers['set-cookie'] ?? '')
const cookieIn = (reply: Reply, name: string) => new RegExp(`${name}=([^;]*)`).exec(cookiesOf(reply))?.[1] ?? ''

/** Begins a sign-in. */
async function begin({ organizationId }: Organization) {
  const reply = await get(`/sso/${organizationId}`)
  assert.equal(reply.status, 303, reply.text)
  const [cookie = ''] = cookiesOf(reply).split(';')
  const url = new URL(reply.headers.location ?? '')
  const { state = '', nonce = '' } = Object.fromEntries(url.searchParams)
  return { url, cookie, state, nonce, reply }
}
/** The person whom the response to a callback signs in. */
async function whoIn(reply: Reply) {
  assert.equal(reply.status, 303, reply.text)
  assert.equal(reply.headers.location, '/sign-in?single-sign-on')
  const cookie = `penstock_session=${cookieIn(reply, 'penstock_session')}`
  return (await service.call('getMe', { headers: { cookie } })).response
}
/** @param person one who is signed in already, in the same browser */
async function signIn(organization: Organization, login: string, person?: Pick<Person, 'headers'>): Promise<Reply> {
  const { url, cookie } = await begin(organization)
  const cookies = person ? `${cookie}; ${person.headers.cookie}` : cookie
  return get(await signInAtProvider(url.href, login), { cookie: cookies })
}
function assertPage(reply: Reply, status: number, title: RegExp): void {
  assert.equal(reply.status, status, reply.text)
  assert.match(reply.text, title)
  assert.doesNotMatch(cookiesOf(reply), /penstock_session/)
}
/** Token of the link on the page that asks for the confirmation, which leads to the sign-in. */
const linkOf = (reply: Reply): string => {
  assertPage(reply, 403, /Confirm that it is you/)
  return /\/sign-in\?confirm#([\w.-]+)"/.exec(reply.text)?.[1] ?? assert.fail(reply.text)
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
    const me = await whoIn(await signIn(organization, 'ada', person))
    assert.deepEqual(
      [me.id, me.method, me.role, me.organizationId],
      [person.id, 'single sign-on', 'editor', organization.organizationId],
    )
    claims.ada = { email: newEmail(), email_verified: true }
    assert.equal((await whoIn(await signIn(organization, 'ada'))).id, person.id)
    await service.service.settleAudit()
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
    const byPassword = ({ email, password }: typeof person, more: object = {}) =>
      service.call('signIn', { body: { email, password, ...more } })
    assert.equal((await byPassword(person)).error, 'single_sign_on_required')
    assert.equal((await byPassword({ ...person, password: 'wrong' })).error, 'sign_in_failed')
    const body = await preparePasskeySignIn(service, credential)
    assert.equal((await service.call('signInWithPasskey', { body })).error, 'single_sign_on_required')
    assert.equal((await byPassword(owner)).status, 200)
    assert.equal((await byPassword(person, { link: linkOf(await signIn(organization, 'ada')) })).status, 200)
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
    await invite(service, organization, { email })
    provider = await startHostileProvider()
    await setProvider(service, organization, provider)
  })
  const callback = (parameters: Record<string, string>, cookie: string) =>
    get(`/sso/callback?${new URLSearchParams(parameters)}`, { cookie })
  const verified = { email, email_verified: true }

  test('is bound to its browser, counts once, and has an end', async () => {
    const one = await begin(organization)
    const set =
      /^penstock-single-sign-on-[0-9a-f]{16}=[0-9a-f]{16}\.[\w-]{43}; Max-Age=3600; Path=\/; HttpOnly; SameSite=Lax$/
    assert.match(cookiesOf(one.reply), set)
    assert.equal(one.url.searchParams.get('code_challenge_method'), 'S256')
    const other = await begin(organization)
    assert.notEqual(one.cookie.split('=')[0], other.cookie.split('=')[0], 'a cookie for each state')
    const requests = provider.requests.length
    assertPage(await callback({ code: 'x', state: one.state }, other.cookie), 400, /not expected/)
    assertPage(await callback({ code: 'x', state: one.state }, ''), 400, /not expected/)
    assertPage(await callback({ code: 'x' }, one.cookie), 400, /not expected/)
    assert.equal(provider.requests.length, requests, 'the provider is not asked')
    provider.idToken = provider.token(one.nonce, verified)
    const [name, value] = one.cookie.split('=')
    for (const planted of [`penstock-single-sign-on=${value}`, other.cookie.replace(/=.*/, `=${value}`)]) {
      assertPage(await callback({ code: 'x', state: one.state }, planted), 400, /not expected/)
    }
    const signedIn = await callback({ code: 'x', state: one.state }, `${other.cookie}; ${one.cookie}`)
    assert.equal(signedIn.status, 303)
    assert(cookiesOf(signedIn).includes(`${name}=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax`), cookiesOf(signedIn))
    assertPage(await callback({ code: 'x', state: one.state }, one.cookie), 400, /not expected/)
    const bound = other.cookie.split('=')[1] ?? ''
    const browser = bound.split('.').at(-1) ?? ''
    const purpose = ['single sign-on', organization.organizationId, digestOf(browser).toString('hex')]
    const stateFor = (minutes: number) => newChallenge(service.database, service.service.deps.keyring, purpose, minutes)
    const cookieOf = (state: string) => `penstock-single-sign-on-${hash('sha256', state).slice(0, 16)}=${bound}`
    const callWith = (state: string) => callback({ error: 'access_denied', state }, cookieOf(state))
    assertPage(await callWith(await stateFor(-1)), 400, /not expected/)
    assertPage(await callWith(await stateFor(1)), 403, /access_denied/)
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
        method: 'GET',
        url: `/sso/callback?${new URLSearchParams({ code: 'secret-code', state })}`,
        headers: { cookie },
        remoteAddress: `2001:db8:${what.length}::1`,
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
      // Each from a separate address, because failures are counted by address.
      const { statusCode, body, headers } = await service.service.app.inject({
        method: 'GET',
        url: `/sso/callback?${new URLSearchParams({ code: 'x', state })}`,
        headers: { cookie },
        remoteAddress: `2001:db8:0:${++visits}::1`,
      })
      return { status: statusCode, text: body, headers } as unknown as Reply
    }
    const addressOf = async () => (await invite(service, own)).email
    // Okta: the address in the ID token, and that it is verified in the answer about the user.
    const ofOkta = await addressOf()
    const okta = [{ email: ofOkta }, { email: ofOkta, email_verified: true }] as const
    assert.equal((await whoIn(await signInWith('okta', ...okta))).email, ofOkta)
    assert.equal(asked.requests.at(-1), 'GET /userinfo')
    // Microsoft Entra ID: a custom claim, which the administrator adds.
    const ofEntra = await addressOf()
    const before = asked.requests.length
    assert.equal((await whoIn(await signInWith('entra', { email: ofEntra, xms_edov: true }, {}))).email, ofEntra)
    assert(!asked.requests.slice(before).includes('GET /userinfo'))
    // Addresses that are nowhere verified link no one, and neither do addresses that the standard claim denies.
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
    // A linked person signs in even if the user info is not available.
    asked.metadata.userinfo_endpoint = `${asked.issuer}/nothing`
    assert.equal((await whoIn(await signInWith('okta', { email: ofOkta }, {}))).email, ofOkta)
  })

  test('opens its own organization alone, whatever the provider says', async () => {
    const other = await service.addOrganization()
    const theirs = await invite(service, other, { role: 'admin' })
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
    await service.service.settleAudit()
    const stored = JSON.stringify(
      await sql('select t::text from oauth_apps t union all select t::text from audit_events t'),
    )
    assert(!stored.includes(clientSecret))
    moved.metadata.issuer = provider.issuer
    const good = { ...provider.metadata, issuer: moved.issuer }
    for (const metadata of [
      moved.metadata,
      {},
      { ...good, jwks_uri: undefined },
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

describe('who becomes someone by single sign-on', () => {
  const byPassword = ({ email, password }: Person, more: object = {}) =>
    service.call('signIn', { body: { email, password, ...more } })
  const isSignedIn = async ({ headers }: Person) => (await service.call('getMe', { headers })).status === 200
  const claimsOf = (emails: Record<string, string>) =>
    Object.fromEntries(Object.entries(emails).map(([login, email]) => [login, { email, email_verified: true }]))

  test('a key that may write the settings of the organization sets nothing that signs people in', async (t) => {
    const { organization, provider } = await people(t, {})
    const owner = await addPerson(service, organization, { role: 'owner' })
    await setProvider(service, organization, provider)
    const hostile = await startHostileProvider()
    const branding = { name: 'Acme' }
    for (const scopes of [['organization:write' as const], [...scopeNames]]) {
      const client = await service.call('createClient', { token: organization.token, body: { name: 'Key', scopes } })
      const { id: clientId, clientSecret } = client.response
      const { accessToken: token } = (await service.call('createToken', { body: { clientId, clientSecret } })).response
      const replies = [
        await service.call('setSingleSignOn', { token, body: settingsFor(hostile) }),
        await service.call('deleteSingleSignOn', { token }),
        await service.call('setSignInRules', { token, body: { secondFactorRequired: false } }),
      ]
      for (const { status, error, details } of replies) {
        assert.deepEqual([status, error], [403, 'forbidden'])
        assert.match(details[0]?.message ?? '', /owner, or client credentials without limits/)
      }
      const saved = await service.call('setBranding', { token, body: branding })
      assert.equal(saved.status, scopes.length === 1 ? 403 : 200)
    }
    assert.deepEqual(hostile.requests, [], 'the provider of the key is not even asked')
    const { headers } = owner
    assert.equal((await service.call('setSingleSignOn', { headers, body: settingsFor(provider) })).status, 200)
  })

  test('an owner, and who has a password or a passkey, confirms with it; then the account is known', async (t) => {
    const emails = { ada: newEmail(), bob: newEmail(), eve: newEmail() }
    const { organization, provider } = await people(t, claimsOf(emails))
    const owner = await addPerson(service, organization, { email: emails.ada, role: 'owner' })
    const editor = await addPerson(service, organization, { email: emails.bob, role: 'editor' })
    await setProvider(service, organization, provider, { required: true })
    const identities = () =>
      sql('select user_id from user_identities where organization_id = $1', [organization.organizationId])
    const link = linkOf(await signIn(organization, 'ada'))
    assert.deepEqual(await identities(), [])
    // The confirmation is only for this person, works one time, and needs the person's earlier sign-in.
    const other = await addPerson(service, organization, { role: 'owner' })
    assert.equal((await byPassword(other, { link })).error, 'link_invalid')
    assert.equal((await byPassword({ ...owner, password: 'wrong' }, { link })).error, 'sign_in_failed')
    assert.deepEqual(await identities(), [])
    const confirmed = await byPassword(owner, { link })
    assert.deepEqual([confirmed.status, confirmed.response.method], [200, 'single sign-on'], confirmed.text)
    assert.equal((await byPassword(owner, { link })).error, 'link_invalid')
    assert.deepEqual(await identities(), [{ user_id: owner.id }])
    assert.equal((await whoIn(await signIn(organization, 'ada'))).id, owner.id)
    // If single sign-on is required, a password is refused for signing in, but still confirms.
    assert.equal((await byPassword(editor)).error, 'single_sign_on_required')
    assert.equal((await byPassword(editor, { link: 'bm9uZQ.bm9uZQ' })).error, 'link_invalid')
    assert.equal((await byPassword(editor, { link: linkOf(await signIn(organization, 'bob')) })).status, 200)
    assert.equal((await whoIn(await signIn(organization, 'bob'))).id, editor.id)
    // With a passkey. If a second factor is required, the password of a person who has one does not confirm.
    const eve = await addPerson(service, organization, { email: emails.eve, role: 'owner' })
    const { credential } = await addPasskey(service, eve)
    await sql('update organizations set second_factor_required = true where id = $1', [organization.organizationId])
    const toEve = linkOf(await signIn(organization, 'eve'))
    assert.equal((await byPassword(eve, { link: toEve })).error, 'second_factor_required')
    const body = { ...(await preparePasskeySignIn(service, credential)), link: toEve }
    assert.equal((await service.call('signInWithPasskey', { body })).response.method, 'single sign-on')
    assert.equal((await whoIn(await signIn(organization, 'eve'))).id, eve.id)
  })

  test('a person who is signed in with what they had before is connected as they come back', async (t) => {
    const emails = { ada: newEmail(), bob: newEmail() }
    const { organization, provider } = await people(t, claimsOf(emails))
    const [ada, bob] = [
      await addPerson(service, organization, { email: emails.ada, role: 'owner' }),
      await addPerson(service, organization, { email: emails.bob, role: 'owner' }),
    ]
    await setProvider(service, organization, provider)
    linkOf(await signIn(organization, 'ada', bob))
    assert.equal((await whoIn(await signIn(organization, 'ada', ada))).id, ada.id)
    assert.equal((await whoIn(await signIn(organization, 'ada'))).id, ada.id)
  })

  test('an invited owner accepts with the link of the invitation, and no one is made an owner by an address', async (t) => {
    const emails = { ada: newEmail() }
    const { organization, provider } = await people(t, claimsOf(emails))
    const invited = await invite(service, organization, { email: emails.ada, role: 'owner' })
    await setProvider(service, organization, provider)
    assertPage(await signIn(organization, 'ada'), 403, /link of your invitation/)
    const joined = async () =>
      (await sql('select joined_time is not null as joined from users where id = $1', [invited.id]))[0]
    assert.deepEqual(await joined(), { joined: false })
    assert.equal((await service.call('getInvitation', { body: { token: invited.token } })).status, 200)
  })

  for (const [what, change] of [
    ['another issuer', (at: TestService, by: Organization, next: HostileProvider) => setProvider(at, by, next)],
    ['none', (at: TestService, { token }: Organization) => at.call('deleteSingleSignOn', { token })],
  ] as const) {
    test(`sessions that began at an issuer end in every process once there is ${what}`, async (t) => {
      const email = newEmail()
      const { organization, provider } = await people(t, claimsOf({ ada: email }))
      await invite(service, organization, { email, role: 'editor' })
      const owner = await addPerson(service, organization, { role: 'owner' })
      await setProvider(service, organization, provider)
      const cookie = `penstock_session=${cookieIn(await signIn(organization, 'ada'), 'penstock_session')}`
      const byProvider = { headers: { cookie } } as Person
      assert(await isSignedIn(byProvider))
      await setProvider(service, organization, provider, { emailDomains: ['example.com'] })
      assert(await isSignedIn(byProvider), 'the issuer is the same')
      await change(service, organization, await startHostileProvider())
      assert(!(await isSignedIn(byProvider)))
      assert(await isSignedIn(owner), 'one that began with a password stays')
    })
  }

  test('a link of the issuer before does not count any more', async (t) => {
    const email = newEmail()
    const { organization, provider } = await people(t, claimsOf({ ada: email }))
    const owner = await addPerson(service, organization, { email, role: 'owner' })
    await setProvider(service, organization, provider)
    const link = linkOf(await signIn(organization, 'ada'))
    await setProvider(service, organization, await startHostileProvider())
    assert.equal((await byPassword(owner, { link })).error, 'link_invalid')
  })
})
