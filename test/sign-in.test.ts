import assert from 'node:assert/strict'
import { createHook } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { generateMasterKey } from '../packages/server/src/secrets/seal.ts'
import { failuresMax } from '../packages/server/src/tokens/attempts.ts'
import { createPasswords } from '../packages/server/src/users/passwords.ts'
import { completeSignIn } from '../packages/server/src/users/sign-ins.ts'
import { type CallOptions, littleWork, startServiceOn, type TestService } from './harness/service.ts'
import { startTests } from './harness/started.ts'
import { until } from './harness/until.ts'
import {
  addPerson,
  addResetLink,
  cookieOf,
  goodPassword,
  invite,
  newEmail,
  type Person,
  signInAgain,
} from './harness/users.ts'

/** How people sign in, and what their sessions are good for. */

const key = generateMasterKey()
const env = { PENSTOCK_MASTER_KEY: key, PENSTOCK_TRUSTED_PROXIES: '127.0.0.1' }
const service = await startTests({ env })
const organization = await service.addOrganization()
const owner = await addPerson(service, organization, { role: 'owner' })

const bySession = ({ headers }: Person, more: Record<string, string> = {}) => ({ headers: { ...headers, ...more } })
const sql = (text: string, values: unknown[] = []) => service.database.pool.query(text, values)
/** From a separate address, because failures are counted by address. */
const signIn = (body: CallOptions<'signIn'>['body'] & object, at: TestService = service) =>
  at.call('signIn', { body, headers: { 'x-forwarded-for': `fd00:${randomBytes(2).toString('hex')}::1` } })
const statusOf = async (person: Person, at: TestService = service) =>
  (await at.call('getMe', { headers: { ...person.headers } })).status

describe('a sign-in', () => {
  test('sets a cookie that scripts cannot read, and answers who signed in', async () => {
    const reply = await signIn({ email: ` ${owner.email.toUpperCase()} `, password: owner.password })
    assert.equal(reply.status, 200, reply.text)
    const { kind, id, email, organizationId, role, scopes, accountIds, method, hasPassword } = reply.response
    assert.deepEqual(
      { kind, id, email, organizationId, role, scopes, accountIds, method, hasPassword },
      {
        kind: 'user',
        id: owner.id,
        email: owner.email,
        organizationId: organization.organizationId,
        role: 'owner',
        scopes: null,
        accountIds: null,
        method: 'password',
        hasPassword: true,
      },
    )
    assert.match(
      reply.headers['set-cookie'] ?? '',
      /^penstock_session=psu_[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/,
    )
    const me = await service.call('getMe', { headers: { cookie: cookieOf(reply) } })
    assert.deepEqual(me.response, reply.response)
    assert.doesNotMatch(reply.text, /psu_/)
  })

  for (const [publicUrl, name, rest] of [
    ['https://penstock.test', '__Host-penstock_session', 'Path=/; HttpOnly; SameSite=Lax; Secure'],
    ['https://penstock.test/tools/', '__Host-penstock_session-tools', 'Path=/; HttpOnly; SameSite=Lax; Secure'],
    ['https://penstock.test/a/b=%20c', '__Host-penstock_session-a-b-20c', 'Path=/; HttpOnly; SameSite=Lax; Secure'],
    ['http://localhost:8080', 'penstock_session', 'Path=/; HttpOnly; SameSite=Lax'],
  ] as const) {
    test(`sets the cookie for ${publicUrl}`, async (t) => {
      const other = await startServiceOn(service.databaseUrl, { ...env, PENSTOCK_PUBLIC_URL: publicUrl })
      t.after(() => other.close())
      const reply = await signIn({ email: owner.email, password: owner.password }, other)
      const [, token] = /=(psu_[\w-]+);/.exec(reply.headers['set-cookie'] ?? '') ?? []
      assert.equal(reply.headers['set-cookie'], `${name}=${token}; Max-Age=2592000; ${rest}`)
      const cookie = `other=1; ${name}=${token}`
      assert.equal((await other.call('getMe', { headers: { cookie } })).status, 200)
      const csrf = { 'x-csrf-token': reply.response.csrfToken ?? '' }
      const out = await other.call('signOut', { headers: { cookie, ...csrf } })
      assert.equal(out.headers['set-cookie'], `${name}=; Max-Age=0; ${rest}`)
      assert.equal((await other.call('getMe', { headers: { cookie } })).status, 401)
    })
  }

  test('is refused in one way, whatever is wrong', async () => {
    const invited = await invite(service, organization)
    const another = await service.addOrganization()
    const tries = [
      { email: owner.email, password: 'wrong' },
      { email: owner.email, password: `${owner.password} ` },
      { email: newEmail(), password: owner.password },
      { email: invited.email, password: goodPassword },
      { email: owner.email, password: owner.password, organizationId: another.organizationId },
      { email: owner.email, password: owner.password, organizationId: '0123456789abcdef' },
    ]
    const answers = new Set<string>()
    for (const body of tries) {
      const { status, error, json, headers } = await signIn(body)
      assert.deepEqual([status, error, headers['set-cookie']], [401, 'sign_in_failed', undefined])
      answers.add(JSON.stringify([json.statusMessage, { ...(json.response as object), requestId: '' }]))
    }
    assert.equal(answers.size, 1)
  })

  test('knows a password however its characters are composed', async () => {
    const person = await addPerson(service, organization, { password: 'Käsebrötchen früh' })
    const { status } = await signIn({ email: person.email, password: 'Käsebrötchen früh'.normalize('NFD') })
    assert.equal(status, 200)
  })

  test('finds the person by the password where several organizations have the address', async () => {
    const email = newEmail()
    const [one, other] = [await service.addOrganization(), await service.addOrganization()]
    await addPerson(service, one, { email, password: 'the first of two sentences' })
    await addPerson(service, other, { email: email.toUpperCase(), password: 'the second of two sentences' })
    const { rows } = await sql(
      `select split_part(password_digest, '$', 5) as salt from users where lower(email) = $1`,
      [email],
    )
    assert.equal(rows.length, 2)
    assert.equal(rows[0].salt, rows[1].salt)
    const first = await signIn({ email, password: 'the first of two sentences' })
    const second = await signIn({ email, password: 'the second of two sentences' })
    assert.deepEqual(
      [first.response.organizationId, second.response.organizationId],
      [one.organizationId, other.organizationId],
    )
    // The password of one is nothing in the other one.
    const crossed = { email, password: 'the first of two sentences', organizationId: other.organizationId }
    assert.equal((await signIn(crossed)).error, 'sign_in_failed')

    const third = await service.addOrganization()
    await addPerson(service, third, { email, password: 'the first of two sentences' })
    const unclear = await signIn({ email, password: 'the first of two sentences' })
    assert.deepEqual([unclear.status, unclear.error], [409, 'organization_required'])
    assert.match(unclear.details[0]?.message ?? '', new RegExp(`${one.organizationId}.*${third.organizationId}`))
    const named = { email, password: 'the first of two sentences', organizationId: third.organizationId }
    assert.equal((await signIn(named)).response.organizationId, third.organizationId)
  })

  test('makes the digest again where its parameters are not those of today', async () => {
    const person = await addPerson(service, organization)
    // The digest of the same password under weaker parameters.
    const { argon2Sync } = await import('node:crypto')
    const nonce = Buffer.alloc(16, 7)
    const weak = argon2Sync('argon2id', {
      message: person.password,
      nonce,
      memory: 64,
      passes: 1,
      parallelism: 1,
      tagLength: 32,
    })
    const text = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '')
    const outdated = `$argon2id$v=19$m=64,t=1,p=1$${text(nonce)}$${text(weak)}`
    await sql('update users set password_digest = $2 where id = $1', [person.id, outdated])
    assert.equal((await signIn({ email: person.email, password: 'wrong' })).status, 401)
    assert.equal((await signIn({ email: person.email, password: person.password })).status, 200)
    const { rows } = await sql('select password_digest from users where id = $1', [person.id])
    const { memoryKib, passes, lanes } = littleWork
    assert(rows[0].password_digest.startsWith(`$argon2id$v=19$m=${memoryKib},t=${passes},p=${lanes}$`))
    const usual = await createPasswords().digest(person.password, undefined, '198.51.100.1')
    assert.match(usual, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    assert.equal((await signIn({ email: person.email, password: person.password })).status, 200)
  })
})

describe('the work of a sign-in', () => {
  test('is one run of argon2id, whatever is right or wrong about it', async (t) => {
    let runs = 0
    const hook = createHook({ init: (_, type) => void (type === 'ARGON2REQUEST' && runs++) }).enable()
    t.after(() => hook.disable())
    const shared = newEmail()
    for (const password of ['the first of two sentences', 'the second of two sentences']) {
      await addPerson(service, await service.addOrganization(), { email: shared, password })
    }
    const counted = async (body: Parameters<typeof signIn>[0]) => {
      runs = 0
      const { status } = await signIn(body)
      return [status, runs]
    }
    assert.deepEqual(await counted({ email: owner.email, password: owner.password }), [200, 1])
    assert.deepEqual(await counted({ email: owner.email, password: 'wrong' }), [401, 1])
    assert.deepEqual(await counted({ email: newEmail(), password: 'wrong' }), [401, 1])
    assert.deepEqual(await counted({ email: shared, password: 'wrong' }), [401, 1])
    assert.deepEqual(await counted({ email: shared, password: 'the second of two sentences' }), [200, 1])
    const elsewhere = { email: owner.email, password: 'wrong', organizationId: '0123456789abcdef' }
    assert.deepEqual(await counted(elsewhere), [401, 1])
  })

  test('waits for its turn: a flood is refused, and those of other addresses are not', async () => {
    const passwords = createPasswords(littleWork)
    const ask = (address: string) => passwords.matches('guess', [], address).then(() => 'answered', asCode)
    const asCode = (error: { code?: string }) => error.code ?? String(error)
    const flood = Array.from({ length: 40 }, () => ask('198.51.100.1'))
    const other = await ask('198.51.100.2')
    const answers = await Promise.all(flood)
    assert.equal(other, 'answered')
    assert.equal(answers.filter((answer) => answer === 'answered').length, 12)
    assert.deepEqual([...new Set(answers)].sort(), ['answered', 'rate_limited'])
    const many = await Promise.all(Array.from({ length: 130 }, (_, i) => ask(`198.51.100.${i}`)))
    assert.equal(many.filter((answer) => answer === 'answered').length, 102)
    assert.equal(await ask('198.51.100.1'), 'answered')
  })
})

describe('guesses', () => {
  test('are throttled for an address with an e-mail address, and no one else is locked out', async (t) => {
    const other = await startServiceOn(service.databaseUrl, env)
    t.after(() => other.close())
    const person = await addPerson(service, organization)
    const from = (address: string, password: string, email = person.email) =>
      other.call('signIn', { body: { email, password }, headers: { 'x-forwarded-for': address } })
    for (let i = 0; i < 10; i++) assert.equal((await from('198.51.100.1', `guess ${i}`)).error, 'sign_in_failed')
    const refused = await from('198.51.100.1', person.password)
    assert.deepEqual([refused.status, refused.error], [429, 'rate_limited'])
    assert.match(refused.headers['retry-after'] ?? '', /^\d+$/)
    assert.equal((await from('198.51.100.2', person.password)).status, 200)
    assert.equal((await from('198.51.100.1', owner.password, owner.email)).status, 200)
    // Many addresses of people, from one network address.
    for (let i = 0; i < 20; i++) assert.equal((await from('198.51.100.1', 'guess', newEmail())).error, 'sign_in_failed')
    assert.equal((await from('198.51.100.1', owner.password, owner.email)).status, 429)
  })

  test('from many addresses at one person are bounded, and the person signs in where they did before', async (t) => {
    const person = await addPerson(service, organization)
    const unknown = newEmail()
    const from = (on: TestService, address: string, password: string, email = person.email) =>
      on.call('signIn', { body: { email, password }, headers: { 'x-forwarded-for': address } })
    const home = '2001:db8:7:7::1'
    assert.equal((await from(service, home, person.password)).status, 200)
    const other = await startServiceOn(service.databaseUrl, env)
    t.after(() => other.close())
    const guess = async (email: string) => {
      const answers: string[] = []
      for (let i = 0; i < 40; i++) answers.push((await from(other, `198.51.100.${i}`, `guess ${i}`, email)).text)
      return answers.map((text) => text.replace(/"requestId":"[^"]*"/, ''))
    }
    const answers = await guess(person.email)
    assert.equal(answers.filter((text) => text.includes('sign_in_failed')).length, failuresMax.name)
    assert.deepEqual(await guess(unknown), answers)
    // A right guess from an unknown address is not answered either.
    assert.equal((await from(other, '203.0.113.9', person.password)).error, 'rate_limited')
    // The other process knows the network by the session of the person.
    assert.equal((await from(other, '2001:db8:7:7::2', 'a typing error')).error, 'sign_in_failed')
    assert.equal((await from(other, '2001:db8:7:7::2', person.password)).status, 200)
    await sql('delete from user_sessions where user_id = $1', [person.id])
    assert.equal((await from(other, home, person.password)).status, 200)
    // A session that ended and a process that started since do not lock the person out, and the last ten networks are kept.
    for (let i = 0; i < 11; i++) assert.equal((await from(service, `192.0.2.${i}`, person.password)).status, 200)
    await sql('delete from user_sessions where user_id = $1', [person.id])
    const third = await startServiceOn(service.databaseUrl, env)
    t.after(() => third.close())
    for (let i = 0; i < 40; i++) await from(third, `198.51.100.${i}`, `guess ${i}`)
    assert.equal((await from(third, '192.0.2.1', person.password)).status, 200)
    assert.equal((await from(third, '2001:db8:7:7::3', person.password)).error, 'rate_limited')
    const { rows } = await sql('select known_networks from users where id = $1', [person.id])
    assert.equal(rows[0].known_networks.length, 10)
    assert.equal((await from(other, '203.0.113.9', owner.password, owner.email)).status, 200)
  })

  test('from many addresses at the same time are bounded as well', async (t) => {
    const other = await startServiceOn(service.databaseUrl, env)
    t.after(() => other.close())
    const person = await addPerson(service, organization)
    const guesses = Array.from({ length: 60 }, (_, i) =>
      other.call('signIn', {
        body: { email: person.email, password: `guess ${i}` },
        headers: { 'x-forwarded-for': `198.51.100.${i}` },
      }),
    )
    const failed = (await Promise.all(guesses)).filter(({ error }) => error === 'sign_in_failed')
    assert.equal(failed.length, failuresMax.name)
  })

  test('of the present password are throttled too', async () => {
    const person = await addPerson(service, organization)
    const change = (currentPassword: string) =>
      service.call('changePassword', {
        ...bySession(person),
        body: { currentPassword, newPassword: `${goodPassword}!` },
      })
    for (let i = 0; i < 10; i++) assert.equal((await change(`guess ${i}`)).error, 'wrong_password')
    assert.equal((await change(person.password)).error, 'rate_limited')
  })
})

describe('a request with a cookie', () => {
  const rename = (headers: Record<string, string>) => service.call('updateMe', { headers, body: { name: 'Ada' } })

  test('that can change something needs the token of its session', async () => {
    const { cookie, 'x-csrf-token': token } = owner.headers
    const another = await signInAgain(service, owner)
    const refused: Record<string, string>[] = [
      { cookie },
      { cookie, 'x-csrf-token': '' },
      { cookie, 'x-csrf-token': 'x' },
      { cookie, 'x-csrf-token': another.headers['x-csrf-token'] },
      { cookie, 'x-csrf-token': token, 'sec-fetch-site': 'cross-site' },
      { cookie, 'x-csrf-token': token, 'sec-fetch-site': 'same-site' },
      { cookie, 'x-csrf-token': token, 'sec-fetch-site': 'none' },
    ]
    for (const headers of refused) {
      const { status, error } = await rename(headers)
      assert.deepEqual([status, error], [403, 'csrf_token_invalid'], JSON.stringify(headers))
    }
    const allowed: Record<string, string>[] = [
      { cookie, 'x-csrf-token': token },
      { cookie, 'x-csrf-token': token, 'sec-fetch-site': 'same-origin' },
      { cookie, 'x-csrf-token': token, origin: 'http://penstock.test' },
      // A page of this service under another of its names.
      { cookie, 'x-csrf-token': token, origin: 'http://127.0.0.1:8080', 'sec-fetch-site': 'same-origin' },
    ]
    for (const headers of allowed) assert.equal((await rename(headers)).status, 200, JSON.stringify(headers))
  })

  test('from another origin is a request without it, whatever CORS allows', async (t) => {
    const origin = 'https://app.example.com'
    const other = await startServiceOn(service.databaseUrl, { ...env, PENSTOCK_CORS_ORIGINS: origin })
    t.after(() => other.close())
    for (const headers of [{ origin }, { origin, 'sec-fetch-site': 'same-site' }, { origin: 'null' }]) {
      for (const operation of ['getMe', 'listAccounts', 'signOut'] as const) {
        const reply = await other.call(operation, { headers: { ...owner.headers, ...headers } })
        assert.equal(reply.error, 'unauthorized', `${operation} ${JSON.stringify(headers)}`)
        assert.equal(reply.headers['access-control-allow-credentials'], undefined)
      }
    }
    assert.equal((await other.call('listAccounts', { token: organization.token, headers: { origin } })).status, 200)
  })

  test('and a bearer token is one of the token', async () => {
    const both = { token: organization.token, ...bySession(owner) }
    assert.equal((await service.call('getMe', both)).response.kind, 'client')
    assert.equal((await service.call('getMe', { ...both, token: 'pst_unknown' })).status, 401)
    const headers = { cookie: owner.headers.cookie }
    const added = await service.call('addAccount', { token: organization.token, headers, body: { name: 'A' } })
    assert.equal(added.status, 201, 'a token needs no token against forgery')
    // A proxy's own authentication is ignored.
    assert.equal((await service.call('getMe', bySession(owner, { authorization: 'Basic eDp5' }))).response.kind, 'user')
  })

  test('does what its person may', async () => {
    const { response } = await service.call('addAccount', { ...bySession(owner), body: { name: 'Of a person' } })
    assert.deepEqual([response.userId, response.userEmail], [owner.id, owner.email])
    const listed = await service.call('listAccounts', { headers: { cookie: owner.headers.cookie } })
    assert(listed.response.some(({ id, userId }) => id === response.id && userId === owner.id))
    const ofClient = await service.call('addAccount', { token: organization.token, body: { name: 'Of a client' } })
    assert.notEqual(ofClient.response.userId, owner.id)
    assert.match(ofClient.response.userEmail, /^owner-/)
  })
})

describe('a session', () => {
  test('is listed, and ends alone or with all the others', async () => {
    const person = await addPerson(service, organization)
    const headers = { 'user-agent': `Browser ${'x'.repeat(600)}` }
    const body = { email: person.email, password: person.password }
    const second = await service.call('signIn', { body, headers })
    const third = await signInAgain(service, person)
    const { response: sessions } = await service.call('listMySessions', bySession(person))
    assert.deepEqual(sessions.map(({ current }) => current).filter(Boolean), [true])
    assert.equal(sessions.length, 3)
    assert.deepEqual(
      [...new Set(sessions.map(({ method, address }) => `${method} ${address}`))],
      ['password 127.0.0.1'],
    )
    assert.equal(sessions.find(({ userAgent }) => userAgent?.startsWith('Browser'))?.userAgent?.length, 300)
    assert.doesNotMatch(JSON.stringify(sessions), /psu_/)

    const current = (await service.call('listMySessions', bySession(third))).response.find((one) => one.current)
    const ended = await service.call('endMySession', { ...bySession(person), id: current?.id ?? '' })
    assert.deepEqual([ended.status, ended.headers['set-cookie']], [200, undefined])
    assert.deepEqual([await statusOf(third), await statusOf(person)], [401, 200])
    // Another person's session is not theirs to end.
    const theirs = (await service.call('listMySessions', bySession(owner))).response[0]
    assert.equal((await service.call('endMySession', { ...bySession(person), id: theirs?.id ?? '' })).status, 404)

    const all = await service.call('endMySessions', bySession(person))
    assert.match(all.headers['set-cookie'] ?? '', /^penstock_session=; Max-Age=0;/)
    assert.equal(await statusOf(person), 401)
    assert.equal((await service.call('getMe', { headers: { cookie: cookieOf(second) } })).status, 401)
    assert.equal(await statusOf(owner), 200)
  })

  test('ends when it is not used, and at the latest after 30 days', async () => {
    const move = (person: Person, change: string) =>
      sql(`update user_sessions set ${change} where user_id = $1`, [person.id])
    const fresh = () => addPerson(service, organization)
    for (const [change, status] of [
      [`last_used_time = now() - interval '14 days'`, 401],
      [`last_used_time = now() - interval '13 days 23 hours'`, 200],
      [`expires_time = now() - interval '1 second'`, 401],
    ] as const) {
      const person = await fresh()
      await move(person, change)
      assert.equal(await statusOf(person), status, change)
    }
    const person = await fresh()
    await move(person, `last_used_time = now() - interval '13 days'`)
    assert.equal(await statusOf(person), 200)
    const used = await sql(
      `select last_used_time > now() - interval '1 minute' as now, expires_time < created_time + interval '31 days' as bounded from user_sessions where user_id = $1`,
      [person.id],
    )
    assert.deepEqual(used.rows, [{ now: true, bounded: true }], 'use is noted, and does not move the end')
  })

  test('is stored as a digest alone', async () => {
    const token = owner.headers.cookie.split('=')[1] ?? ''
    const { rows } = await sql(
      'select t::text as line from user_sessions t union all select t::text from users t union all select t::text from user_links t',
    )
    const stored = rows.map(({ line }) => line).join('\n')
    assert(rows.length > 3)
    for (const secret of [token, token.slice(4), owner.password, owner.headers['x-csrf-token']])
      assert(!stored.includes(secret))
    const log = service.logLines.join('\n')
    for (const secret of [token, owner.password, 'psu_', 'psi_', 'psr_']) assert(!log.includes(secret))
  })

  test('that another process has cached ends there too, and changes with the role', async (t) => {
    const other = await startServiceOn(service.databaseUrl, env)
    t.after(() => other.close())
    const person = await addPerson(service, organization, { role: 'editor' })
    const scopes = async () => (await other.call('getMe', { headers: { ...person.headers } })).response.scopes ?? []
    assert((await scopes()).includes('connections:write'))
    const call = { token: organization.token, id: person.id }
    assert.equal((await service.call('updateUser', { ...call, body: { role: 'viewer' } })).status, 200)
    assert(!((await service.call('getMe', bySession(person))).response.scopes ?? []).includes('connections:write'))
    await until('the role has changed there', async () => !(await scopes()).includes('connections:write'), 5_000)
    assert.equal((await service.call('removeUser', call)).status, 200)
    assert.equal(await statusOf(person), 401)
    await until('the person is gone there', async () => (await statusOf(person, other)) === 401, 5_000)
    const body = { email: person.email, password: person.password }
    assert.equal((await other.call('signIn', { body })).error, 'sign_in_failed')
  })

  test('is one of 100 at most: the oldest ends', async () => {
    const person = await addPerson(service, organization)
    await sql(
      `insert into user_sessions (id, digest, user_id, method, address, expires_time, created_time)
       select lpad(to_hex(i), 16, '0'), decode(md5(i::text), 'hex'), $1, 'password', '::1', now() + interval '1 day', now() - interval '2 days'
       from generate_series(1, 120) i`,
      [person.id],
    )
    const { headers } = await signInAgain(service, person)
    const { response } = await service.call('listMySessions', { headers: { ...headers } })
    assert.equal(response.length, 100)
    assert.equal(await statusOf(person), 200, 'a newer one stays')
  })
})

describe('a password', () => {
  const change = (person: Person, currentPassword: string | undefined, newPassword: string) =>
    service.call('changePassword', {
      ...bySession(person),
      body: { newPassword, ...(currentPassword === undefined ? {} : { currentPassword }) },
    })

  test('that changes ends every other session, and gives this one a new cookie', async () => {
    const person = await addPerson(service, organization)
    const elsewhere = await signInAgain(service, person)
    for (const wrong of [undefined, 'wrong', '']) {
      const { status } = await change(person, wrong, 'another sentence, a good one')
      assert.equal(status, wrong === '' ? 400 : 403)
    }
    assert.equal(await statusOf(elsewhere), 200)
    const reply = await change(person, person.password, 'another sentence, a good one')
    assert.equal(reply.status, 200, reply.text)
    assert.deepEqual([await statusOf(person), await statusOf(elsewhere)], [401, 401])
    const headers = { cookie: cookieOf(reply), 'x-csrf-token': reply.response.csrfToken ?? '' }
    assert.equal((await service.call('updateMe', { headers, body: { name: 'Ada' } })).status, 200)
    assert.equal((await signIn({ email: person.email, password: person.password })).status, 401)
    assert.equal((await signIn({ email: person.email, password: 'another sentence, a good one' })).status, 200)
  })

  test('that changes while someone signs in with the one before lets no session of it begin', async () => {
    const person = await addPerson(service, organization)
    const { rows } = await sql('select password_digest from users where id = $1', [person.id])
    const signInWith = (passwordDigest: string) =>
      service.database.transaction((tx) =>
        completeSignIn(
          tx,
          { userId: person.id, method: 'password', passwordDigest },
          { address: '127.0.0.1', userAgent: null, requestId: '0123456789abcdef' },
        ),
      )
    assert.match((await signInWith(rows[0].password_digest)).token, /^psu_/)
    assert.equal((await change(person, person.password, 'another sentence, a good one')).status, 200)
    await assert.rejects(signInWith(rows[0].password_digest), { code: 'sign_in_failed' })
    const left = await sql('select from user_sessions where user_id = $1', [person.id])
    assert.equal(left.rowCount, 1, 'the one that changed it')
  })

  test('is set without the present one where there is none', async () => {
    const person = await addPerson(service, organization)
    await sql('update users set password_digest = null where id = $1', [person.id])
    assert.equal((await signIn({ email: person.email, password: person.password })).error, 'sign_in_failed')
    const { response } = await service.call('getMe', bySession(person))
    assert.equal(response.hasPassword, false)
    assert.equal((await change(person, undefined, goodPassword)).status, 200)
  })

  test('is refused where it is short, common, or known to everyone', async () => {
    const person = await addPerson(service, organization)
    const refused = [
      'short',
      'passwordpassword',
      'PASSWORD123456',
      '123456789012',
      'aaaaaaaaaaaaaa',
      'abcabcabcabc',
      person.email,
      person.email.toUpperCase(),
      'Test organization',
      'test-organization-2026',
      '１２３４５６７８９０１２',
      'x'.repeat(201),
    ]
    for (const newPassword of refused) {
      const { status, error, details } = await change(person, person.password, newPassword)
      assert.deepEqual([status, error, details[0]?.field], [400, 'invalid_request', 'body.newPassword'], newPassword)
    }
    const good = ['twelve chars', 'мой дом — моя крепость', '🌵🌵🐫🐫🏜️🌵🐪🐫🌵🏜️🐪🐫🌵', 'x9x9 and more than that']
    let present = person.password
    let session = person
    for (const newPassword of good) {
      const reply = await change(session, present, newPassword)
      assert.equal(reply.status, 200, `${newPassword} ${reply.text}`)
      present = newPassword
      session = { ...session, headers: { cookie: cookieOf(reply), 'x-csrf-token': reply.response.csrfToken ?? '' } }
    }
  })

  test('is reset by a link, once, and every session ends', async () => {
    const person = await addPerson(service, organization)
    const [token, second] = [await addResetLink(service, person.id), await addResetLink(service, person.id)]
    const reset = (newPassword: string, used = token) =>
      service.call('resetPassword', { body: { token: used, newPassword } })
    assert.equal((await reset('too short')).error, 'invalid_request')
    const reply = await reset('another sentence, a good one')
    assert.deepEqual(reply.response, { email: person.email, organizationId: organization.organizationId })
    assert.equal(reply.headers['set-cookie'], undefined)
    assert.equal(await statusOf(person), 401)
    for (const used of [token, second, `${token}x`, 'psr_unknown']) {
      const { status, error } = await reset('a third sentence, good too', used)
      assert.deepEqual([status, error], [404, 'link_invalid'])
    }
    assert.equal((await signIn({ email: person.email, password: 'another sentence, a good one' })).status, 200)
    const late = await addResetLink(service, person.id)
    await sql(`update user_links set expires_time = now() - interval '1 second' where user_id = $1`, [person.id])
    assert.equal((await reset('a third sentence, good too', late)).error, 'link_invalid')
    // A link is for what it was made for.
    const other = await addResetLink(service, person.id)
    const asInvitation = { token: other, name: 'Ada', password: goodPassword }
    assert.equal((await service.call('acceptInvitation', { body: asInvitation })).error, 'link_invalid')
  })
})
