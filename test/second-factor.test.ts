import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { UserRole } from '@penstock/wire'
import { basePath, operations } from '@penstock/wire'
import { generateMasterKey } from '../packages/server/src/secrets/seal.ts'
import { allowPasswords, removePasskeys } from '../packages/server/src/users/operator.ts'
import { addPasskey, type Credential, preparePasskey, preparePasskeySignIn } from './harness/authenticator.ts'
import { anyProvider, setProvider } from './harness/identity-provider.ts'
import { type Organization, startServiceOn } from './harness/service.ts'
import { startTests } from './harness/started.ts'
import { until } from './harness/until.ts'
import { addPerson, cookieOf, goodPassword, invite, type Person, signInAgain } from './harness/users.ts'

/**
 * An organization that does not accept a password without a second factor: what people can do before they have registered a
 * passkey, and after.
 */

const env = { PENSTOCK_EGRESS: 'any', PENSTOCK_MASTER_KEY: generateMasterKey() }
const service = await startTests({ env })

const sql = async (text: string, values: unknown[] = []) => (await service.database.pool.query(text, values)).rows
const headersOf = ({ headers }: Pick<Person, 'headers'>) => ({ ...headers })
const me = (person: Pick<Person, 'headers'>) => service.call('getMe', { headers: headersOf(person) })
const signInWith = async (credential: Credential): Promise<Pick<Person, 'headers'>> => {
  const reply = await service.call('signInWithPasskey', { body: await preparePasskeySignIn(service, credential) })
  assert.equal(reply.status, 200, reply.text)
  return { headers: { cookie: cookieOf(reply), 'x-csrf-token': reply.response.csrfToken ?? '' } }
}
const signIn = ({ email, password, organizationId }: Person) =>
  service.call('signIn', { body: { email, password, organizationId } })
const set = (by: Pick<Person, 'headers'>, secondFactorRequired: boolean) =>
  service.call('setSignInRules', { headers: headersOf(by), body: { secondFactorRequired } })

/** An organization with an owner who has a passkey and has signed in with it. */
async function prepare(required = true) {
  const organization = await service.addOrganization()
  const owner = await addPerson(service, organization, { role: 'owner' })
  const { credential } = await addPasskey(service, owner)
  const byPasskey = await signInWith(credential)
  const add = (role: UserRole = 'viewer') => addPerson(service, organization, { role })
  const people = { viewer: await add(), holder: await add('editor') }
  const held = (await addPasskey(service, people.holder)).credential
  if (required) assert.equal((await set(byPasskey, true)).status, 200)
  return { organization, owner, byPasskey, credential, ...people, held }
}

describe('a second factor that is required', () => {
  test('ends sessions that began with a password, in every process, and no others', async (t) => {
    const other = await startServiceOn(service.databaseUrl, env)
    t.after(() => other.close())
    const inOther = ({ headers }: Pick<Person, 'headers'>) => other.call('getMe', { headers: { ...headers } })
    const { owner, byPasskey, viewer, holder, held } = await prepare(false)
    const withPasskey = await signInWith(held)
    // Cached in both processes.
    for (const person of [owner, viewer, holder, withPasskey]) {
      for (const reply of [await me(person), await inOther(person)]) assert.equal(reply.status, 200)
    }
    const reply = await set(byPasskey, true)
    assert.equal(reply.response.secondFactorRequired, true)
    await service.service.settleAudit()
    const events = await sql(
      `select before, after from audit_events where action = 'setSignInRules' and actor_id = $1`,
      [owner.id],
    )
    assert.deepEqual(
      events.map(({ before, after }) => [before, after]),
      [[{ secondFactorRequired: false }, { secondFactorRequired: true }]],
    )
    assert.equal((await set(byPasskey, true)).status, 200, 'once more changes nothing')
    for (const person of [owner, viewer, holder]) assert.equal((await me(person)).status, 401)
    for (const person of [byPasskey, withPasskey]) assert.equal((await me(person)).status, 200)
    await until('the other process knows', async () => (await inOther(viewer)).status === 401)
    assert.equal((await inOther(withPasskey)).status, 200)
  })

  test('is required by no one who has none', async () => {
    const { organization, owner, byPasskey } = await prepare(false)
    const refused = await set(owner, true)
    assert.deepEqual([refused.status, refused.error], [409, 'second_factor_missing'])
    assert.equal((await me(owner)).status, 200)
    // Set with a client's token. An owner must have a passkey then.
    const byKey = ({ token }: Organization) =>
      service.call('setSignInRules', { token, body: { secondFactorRequired: true } })
    const without = await service.addOrganization()
    const { id } = await addPerson(service, without, { role: 'owner' })
    assert.equal((await byKey(without)).error, 'second_factor_missing')
    const admin = await addPerson(service, without, { role: 'admin' })
    await addPasskey(service, admin)
    assert.equal((await byKey(without)).error, 'second_factor_missing')
    const forbidden = await set(await signInAgain(service, admin), true)
    assert.deepEqual([forbidden.status, forbidden.error], [403, 'forbidden'])
    await sql(`update users set joined_time = null where id = $1`, [id])
    assert.equal((await byKey(organization)).status, 200)
    assert.equal((await set(byPasskey, false)).status, 200)
  })

  test('of a person without one: the password opens nothing but the registration of a passkey', async () => {
    const { viewer } = await prepare()
    const reply = await signIn(viewer)
    assert.equal(reply.status, 200, reply.text)
    assert.deepEqual([reply.response.mustRegisterPasskey, reply.response.scopes], [true, []])
    const before: Pick<Person, 'headers'> = {
      headers: { cookie: cookieOf(reply), 'x-csrf-token': reply.response.csrfToken ?? '' },
    }
    assert.deepEqual((await me(before)).response, reply.response)
    // Every operation of the table, whatever it would need.
    for (const [id, operation] of Object.entries(operations)) {
      if (operation.actsIn === 'public' || 'beforeSecondFactor' in operation) continue
      const path = operation.path.replaceAll(/\{\w+\}/g, '0123456789abcdef')
      const { method } = operation
      const answer = await service.send({ method, path: `${basePath}${path}`, headers: headersOf(before) })
      assert.deepEqual([answer.status, answer.error], [403, 'second_factor_required'], id)
    }
    const { body } = await preparePasskey(service, before)
    const registered = await service.call('registerPasskey', { headers: headersOf(before), body })
    assert.equal(registered.status, 201, registered.text)
    // The session continues under another token. The previous token is invalid.
    assert.equal((await me(before)).status, 401)
    const since = await service.call('getMe', { headers: { cookie: cookieOf(registered) } })
    assert.deepEqual(
      [since.response.mustRegisterPasskey, since.response.method, since.response.scopes?.includes('reports:read')],
      [false, 'passkey', true],
    )
    const own = { headers: { cookie: cookieOf(registered), 'x-csrf-token': since.response.csrfToken ?? '' } }
    assert.equal((await service.call('listAccounts', { headers: headersOf(own) })).status, 200)
  })

  test('of a person who has one: the password is refused, and registers no other passkey', async () => {
    const { viewer, holder, held, owner, credential } = await prepare()
    for (const person of [holder, owner]) {
      const refused = await signIn(person)
      assert.deepEqual([refused.status, refused.error], [403, 'second_factor_required'])
      assert.equal(refused.headers['set-cookie'], undefined)
    }
    // Without the password, the response reveals nothing about the second factor.
    const guess = await service.call('signIn', { body: { email: holder.email, password: 'not the password' } })
    assert.deepEqual([guess.status, guess.error], [401, 'sign_in_failed'])
    for (const one of [held, credential]) assert.equal((await me(await signInWith(one))).status, 200)

    // Two sessions of one person without a passkey: the first to register is the only one.
    const [first, second] = [await signInAgain(service, viewer), await signInAgain(service, viewer)]
    const late = (await preparePasskey(service, second)).body
    await addPasskey(service, first)
    const refused = await service.call('registerPasskey', { headers: headersOf(second), body: late })
    assert.deepEqual([refused.status, refused.error], [403, 'second_factor_required'])
    assert.equal((await sql('select from passkeys where user_id = $1', [viewer.id])).length, 1)
    assert.equal((await signIn(viewer)).error, 'second_factor_required')
  })

  test('of two registrations at once by password sessions of one person, one counts', async () => {
    const { viewer } = await prepare()
    const sessions = [await signInAgain(service, viewer), await signInAgain(service, viewer)]
    const bodies = await Promise.all(sessions.map((one) => preparePasskey(service, one)))
    const replies = await Promise.all(
      sessions.map((one, i) =>
        service.call('registerPasskey', { headers: headersOf(one), body: bodies[i]?.body as never }),
      ),
    )
    assert.deepEqual(replies.map(({ status }) => status).sort(), [201, 403])
  })

  test('is met by an account at the provider of the organization, as long as it is its provider', async () => {
    const { organization, viewer } = await prepare()
    const provider = await anyProvider()
    await setProvider(service, organization, provider)
    const { organizationId } = organization
    await sql('insert into user_identities (organization_id, issuer, subject, user_id) values ($1, $2, $3, $4)', [
      organizationId,
      provider.issuer,
      'viewer',
      viewer.id,
    ])
    assert.equal((await signIn(viewer)).error, 'second_factor_required')
    assert.equal((await service.call('deleteSingleSignOn', { token: organization.token })).status, 200)
    assert.equal((await signIn(viewer)).response.mustRegisterPasskey, true)
  })

  test('a new person registers a passkey with the invitation; the last passkey stays', async () => {
    const { organization } = await prepare()
    const { token } = await invite(service, organization)
    const accepted = await service.call('acceptInvitation', { body: { token, name: 'New', password: goodPassword } })
    assert.equal(accepted.response.mustRegisterPasskey, true)
    const before = { headers: { cookie: cookieOf(accepted), 'x-csrf-token': accepted.response.csrfToken ?? '' } }
    const { credential, id } = await addPasskey(service, before)
    const own = await signInWith(credential)
    const removed = await service.call('removePasskey', { headers: headersOf(own), id })
    assert.deepEqual([removed.status, removed.error], [409, 'last_credential'])
  })

  test('no longer required, passwords are enough again, and a session that waited may do all', async () => {
    const { organization, viewer, holder, byPasskey } = await prepare()
    const waiting = await signInAgain(service, viewer)
    assert.equal((await me(waiting)).response.mustRegisterPasskey, true)
    const { token } = organization
    const lifted = await service.call('setSignInRules', { token, body: { secondFactorRequired: false } })
    assert.equal(lifted.status, 200)
    assert.equal((await me(waiting)).response.mustRegisterPasskey, false)
    assert.equal((await service.call('listAccounts', { headers: headersOf(waiting) })).status, 200)
    assert.equal((await signIn(holder)).status, 200)
    assert.equal((await me(byPasskey)).status, 200)
  })

  test('is lifted by the operator, and so are the passkeys of a person who has lost their device', async () => {
    const { organization, viewer, holder, held } = await prepare()
    const { organizationId } = organization
    const withPasskey = await signInWith(held)
    const { database } = service
    assert.equal(await database.transaction((tx) => removePasskeys(tx, holder.id)), 1)
    await until('their sessions have ended', async () => (await me(withPasskey)).status === 401)
    assert.equal((await signIn(holder)).response.mustRegisterPasskey, true)
    const waiting = await signInAgain(service, viewer)
    assert.equal((await me(waiting)).response.mustRegisterPasskey, true)
    for (const changes of [true, false]) {
      assert.equal(await database.transaction((tx) => allowPasswords(tx, organizationId)), changes)
    }
    await until('it is lifted', async () => !(await me(waiting)).response.mustRegisterPasskey)
    await service.service.settleAudit()
    const events = await sql(
      `select action from audit_events where organization_id = $1 and actor_kind = 'operator' order by number`,
      [organizationId],
    )
    assert.deepEqual(
      events.map(({ action }) => action),
      ['user remove-passkeys', 'org allow-passwords'],
    )
  })

  test('another organization is not concerned, and no session of the rules before is left by a race', async () => {
    const there = await prepare(false)
    const { viewer, byPasskey } = await prepare(false)
    // Sign-ins that are in progress when it is switched on are ended, or can only register a passkey.
    const signingIn = Array.from({ length: 6 }, () => signIn(viewer))
    assert.equal((await set(byPasskey, true)).status, 200)
    for (const reply of await Promise.all(signingIn)) {
      assert.equal(reply.status, 200, reply.text)
      const now = await service.call('listAccounts', { headers: { cookie: cookieOf(reply) } })
      assert([401, 403].includes(now.status), now.text)
    }
    for (const person of [there.viewer, there.owner]) assert.equal((await me(person)).status, 200)
  })
})
