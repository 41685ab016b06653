import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { type Operation, type OperationId, operations, type Scope, type UserRole, userRoleNames } from '@penstock/wire'
import { prepareFingerprint } from './harness/fingerprint.ts'
import { callerOf } from './harness/fixtures.ts'
import { type CallOptions, type Organization, type Reply, startTestService } from './harness/service.ts'
import { startTests } from './harness/started.ts'
import { until } from './harness/until.ts'
import { addPerson, cookieOf, goodPassword, invite, newEmail, type Person } from './harness/users.ts'

/** People of an organization: who can see, invite, change and remove whom. */

const service = await startTests()
const organization = await service.addOrganization()
const owner = await addPerson(service, organization, { role: 'owner' })
const caller = callerOf(service, organization)
/** Two sub-accounts. */
const north = (await caller.addAccount('North')).id
const south = (await caller.addAccount('South')).id

const as = ({ headers }: Person) => ({ headers: { ...headers } })
const sql = (text: string, values: unknown[] = []) => service.database.pool.query(text, values)
const add = (role: UserRole, accountIds: string[] | null = null, of: Organization = organization) =>
  addPerson(service, of, { role, accountIds })
const inviteAs = (person: Person, role: UserRole, accountIds?: string[] | null, email = newEmail()) =>
  service.call('inviteUser', {
    ...as(person),
    body: { email, role, ...(accountIds === undefined ? {} : { accountIds }) },
  })
const update = (by: Person, id: string, role: UserRole, accountIds: string[] | null = null) =>
  service.call('updateUser', { ...as(by), id, body: { role, accountIds } })
const remove = (by: Person, id: string) => service.call('removeUser', { ...as(by), id })
const codeOf = ({ status, error }: { status: number; error: string | undefined }) => error ?? status

/** Expected scopes of each role. */
const readers: Scope[] = [
  ...(['accounts:read', 'connectors:read', 'connections:read', 'transfers:read', 'reports:read'] as const),
  'alerts:read',
]
const editors: Scope[] = [
  ...readers,
  ...([
    'connectors:write',
    'secrets:write',
    'connections:write',
    'transfers:run',
    'records:read',
    'records:edit',
  ] as const),
  'alerts:write',
]
const mayOf: Record<UserRole, (scope: Scope) => boolean> = {
  viewer: (scope) => readers.includes(scope),
  editor: (scope) => editors.includes(scope),
  admin: (scope) => scope !== 'organization:write' && scope !== 'users:provision',
  owner: () => true,
}

describe('a role', () => {
  for (const role of userRoleNames) {
    test(`(${role}) allows exactly the operations of its scopes, and what is refused changes nothing`, async () => {
      const person = role === 'owner' ? owner : await add(role)
      const digest = await (await prepareFingerprint(service.database.pool))()
      const refused: OperationId[] = []
      for (const [id, operation] of Object.entries(operations) as [OperationId, Operation][]) {
        if (!operation.scope || mayOf[role](operation.scope)) continue
        // Whatever else is wrong with the call, it is refused for its scope first.
        const reply = await service.call(id, { ...as(person), accountId: north } as CallOptions<never>)
        assert.deepEqual([reply.status, reply.error], [403, 'forbidden'], id)
        assert.deepEqual(reply.details, [{ field: 'scope', message: `${operation.scope} is missing` }])
        refused.push(id)
      }
      assert.equal(await (await prepareFingerprint(service.database.pool))(), digest)
      for (const [id, operation] of Object.entries(operations) as [OperationId, Operation][]) {
        if (operation.method !== 'GET' || refused.includes(id)) continue
        const call = { ...as(person), accountId: north, id: '0123456789abcdef', transferId: '0123456789abcdef' }
        const reply = await service.call(id, call as CallOptions<never>)
        assert.notEqual(reply.status, 403, `${id} ${reply.text}`)
      }
      assert.equal(refused.length > 0, role !== 'owner')
    })
  }

  test('over named sub-accounts hides the others', async () => {
    const editor = await add('editor', [north])
    const { response } = await service.call('listAccounts', as(editor))
    assert.deepEqual(
      response.map(({ id }) => id),
      [north],
    )
    assert.equal((await service.call('getAccount', { ...as(editor), id: south })).error, 'not_found')
    assert.equal((await service.call('listConnectors', { ...as(editor), accountId: south })).error, 'not_found')
    assert.equal((await service.call('listConnectors', { ...as(editor), accountId: north })).status, 200)
    const me = await service.call('getMe', as(editor))
    assert.deepEqual([me.response.role, me.response.accountIds], ['editor', [north]])
  })
})

describe('who invites', () => {
  test('gives no more than they have', async () => {
    const [admin, limited, editor] = [await add('admin'), await add('admin', [north]), await add('editor')]
    const answers = {
      'an owner an owner': codeOf(await inviteAs(owner, 'owner')),
      'an owner an owner of a sub-account': codeOf(await inviteAs(owner, 'owner', [north])),
      'an admin an owner': codeOf(await inviteAs(admin, 'owner')),
      'an admin an admin': codeOf(await inviteAs(admin, 'admin')),
      'an admin a viewer of a sub-account': codeOf(await inviteAs(admin, 'viewer', [north, south])),
      'an admin into what does not exist': codeOf(await inviteAs(admin, 'viewer', ['0123456789abcdef'])),
      'an admin of north an admin of all': codeOf(await inviteAs(limited, 'admin')),
      'an admin of north a viewer of all': codeOf(await inviteAs(limited, 'viewer', null)),
      'an admin of north a viewer of both': codeOf(await inviteAs(limited, 'viewer', [north, south])),
      'an admin of north an admin of north': codeOf(await inviteAs(limited, 'admin', [north])),
      'an admin of north an owner': codeOf(await inviteAs(limited, 'owner')),
      'an editor a viewer': codeOf(await inviteAs(editor, 'viewer')),
    }
    assert.deepEqual(answers, {
      'an owner an owner': 201,
      'an owner an owner of a sub-account': 'invalid_request',
      'an admin an owner': 'forbidden',
      'an admin an admin': 201,
      'an admin a viewer of a sub-account': 201,
      'an admin into what does not exist': 'invalid_request',
      'an admin of north an admin of all': 'forbidden',
      'an admin of north a viewer of all': 'forbidden',
      'an admin of north a viewer of both': 'invalid_request',
      'an admin of north an admin of north': 201,
      'an admin of north an owner': 'forbidden',
      'an editor a viewer': 'forbidden',
    })
  })

  test('as a program gives no more than its scopes', async () => {
    const grant = async (scopes: Scope[] | null, accountIds: string[] | null = null) => {
      const { token } = organization
      const { response } = await service.call('createClient', { token, body: { name: 'Key', scopes, accountIds } })
      const { clientSecret, id: clientId } = response
      return (await service.call('createToken', { body: { clientId, clientSecret } })).response.accessToken
    }
    const byToken = async (token: string, role: UserRole, accountIds: string[] | null = null) =>
      codeOf(await service.call('inviteUser', { token, body: { email: newEmail(), role, accountIds } }))
    const manager = await grant(['users:read', 'users:write', ...readers])
    assert.equal(await byToken(manager, 'viewer'), 201)
    for (const role of ['editor', 'admin', 'owner'] as const) assert.equal(await byToken(manager, role), 'forbidden')
    const everythingHere = await grant(null, [north])
    assert.equal(await byToken(everythingHere, 'admin', [north]), 201)
    assert.equal(await byToken(everythingHere, 'owner'), 'forbidden')
    assert.equal(await byToken(await grant(null), 'owner'), 201)
  })

  test('an address twice is refused, in any letter case; another organization does not matter', async () => {
    const { email } = await invite(service, organization)
    const again = (address: string, { token }: Organization = organization) =>
      service.call('inviteUser', { token, body: { email: address, role: 'viewer' } })
    assert.deepEqual(codeOf(await again(email)), 'user_exists')
    assert.deepEqual(codeOf(await again(` ${email.toUpperCase()} `)), 'user_exists')
    assert.equal((await again(email, await service.addOrganization())).status, 201)
  })

  test('who is limited to sub-accounts does not learn who is in the others', async () => {
    const limited = await add('admin', [north])
    const inviteTo = (email: string, accountIds: string[] = [north]) =>
      service.call('inviteUser', { ...as(limited), body: { email, role: 'viewer', accountIds } })
    const hidden = [
      await addPerson(service, organization, { role: 'admin' }),
      await invite(service, organization, { role: 'viewer', accountIds: [south] }),
      await invite(service, organization, { role: 'viewer', accountIds: [north, south] }),
    ]
    const said = ({ status, text, response }: Reply<{ user: { id: string; email: string }; link: string }>) => {
      const { user, link } = response
      const same = [user.id, user.email, link].reduce((left, value) => left.replaceAll(value, '…'), text)
      return [status, same.replaceAll(/Time":\d+/g, 'Time":0')]
    }
    const usual = said(await inviteTo(newEmail()))
    for (const { email } of hidden) {
      const invited = await inviteTo(email)
      assert.deepEqual(said(invited), usual)
      assert.equal((await inviteTo(email.toUpperCase())).error, 'user_exists')
      const { id } = invited.response.user
      assert.equal((await service.call('getUser', { ...as(limited), id })).status, 200)
      assert.equal((await service.call('resendInvitation', { ...as(limited), id })).status, 200)
      assert.equal((await inviteAs(owner, 'viewer', null, email)).error, 'user_exists')
    }
    // They are two people, each with a separate password.
    const [first] = hidden
    const { response } = await inviteTo(newEmail())
    assert(first && response.link)
    const again = (await service.call('listUsers', { ...as(limited), query: { q: first.email } })).response
    const link = (await service.call('resendInvitation', { ...as(limited), id: again[0]?.id ?? '' })).response.link
    const password = 'yet another sentence of its kind'
    const accepted = await service.call('acceptInvitation', {
      body: { token: link.split('#')[1] ?? '', name: 'Other', password },
    })
    assert.deepEqual([accepted.status, accepted.response.accountIds], [200, [north]])
    const signIn = async (tried: string) =>
      (await service.call('signIn', { body: { email: first.email, password: tried } })).response.id
    assert.deepEqual([await signIn(password), await signIn(goodPassword)], [again[0]?.id, first.id])
    // A person who already has the address does not become an owner or admin.
    const promoted = await service.call('updateUser', {
      ...as(owner),
      id: again[0]?.id ?? '',
      body: { role: 'viewer', accountIds: null },
    })
    assert.equal(promoted.error, 'user_exists')
  })

  for (const email of [
    '',
    'x',
    '@',
    'a@',
    '@b',
    'a b@example.com',
    'a@b@c',
    'a@example.com,b@example.com',
    '<a@example.com>',
    '"a"@example.com',
    'a@example.com\r\nBcc: b@example.com',
    'a;b@example.com',
    `${'x'.repeat(251)}@b.c`,
    'a\0@b.c',
  ]) {
    test(`what is no address is refused: ${JSON.stringify(email).slice(0, 40)}`, async () => {
      const { token } = organization
      const reply = await service.call('inviteUser', { token, body: { email, role: 'viewer' } })
      assert.deepEqual([reply.error, reply.details[0]?.field], ['invalid_request', 'body.email'])
    })
  }
})

describe('an invitation', () => {
  const accept = (token: string, more: object = {}) =>
    service.call('acceptInvitation', { body: { token, name: 'Ada Lopez', password: goodPassword, ...more } })
  const look = async (token: string) => codeOf(await service.call('getInvitation', { body: { token } }))

  test('says what it is to, is accepted once, and signs in', async () => {
    const { id, email, link, token } = await invite(service, organization, { role: 'editor', accountIds: [north] })
    assert.equal(link, `http://penstock.test/accept-invitation#${token}`)
    assert.match(token, /^psi_[\w-]{43}$/)
    const { response } = await service.call('getInvitation', { body: { token } })
    const inSevenDays = Date.now() / 1_000 + 7 * 86_400
    assert(Math.abs(response.expiresTime - inSevenDays) < 60)
    assert.deepEqual(
      { ...response, expiresTime: 0 },
      {
        email,
        name: null,
        role: 'editor',
        organizationId: organization.organizationId,
        organizationName: 'Test organization',
        expiresTime: 0,
      },
    )
    const before = await service.call('getUser', { token: organization.token, id })
    assert.deepEqual([before.response.status, before.response.lastSignedInTime], ['invited', null])
    assert.equal((await accept(token, { password: 'too short' })).error, 'invalid_request')
    assert.equal((await accept(token, { email: newEmail() })).details[0]?.field, 'body.email')

    const accepted = await accept(token)
    assert.equal(accepted.status, 200, accepted.text)
    assert.deepEqual(
      [accepted.response.id, accepted.response.name, accepted.response.role, accepted.response.accountIds],
      [id, 'Ada Lopez', 'editor', [north]],
    )
    assert.equal((await service.call('getMe', { headers: { cookie: cookieOf(accepted) } })).response.id, id)
    assert.equal((await accept(token)).error, 'link_invalid')
    assert.equal(await look(token), 'link_invalid')
    const { response: after } = await service.call('getUser', { token: organization.token, id })
    assert.deepEqual([after.status, after.name, after.invitationExpiresTime], ['active', 'Ada Lopez', null])
    assert(after.lastSignedInTime)
    const again = await service.call('resendInvitation', { token: organization.token, id })
    assert.deepEqual([again.status, again.error], [409, 'user_joined'])
  })

  test('of two at once is accepted once', async () => {
    const { token } = await invite(service, organization)
    const answers = await Promise.all([accept(token), accept(token), accept(token)])
    assert.deepEqual(answers.map(codeOf).sort(), [200, 'link_invalid', 'link_invalid'])
  })

  test('is replaced by the next one, and ends with its time and its person', async () => {
    const { token: bearer } = organization
    const { id, token } = await invite(service, organization)
    const resent = await service.call('resendInvitation', { token: bearer, id })
    const next = resent.response.link.split('#')[1] ?? ''
    assert.deepEqual([await look(token), await look(next)], ['link_invalid', 200])
    await sql(`update user_links set expires_time = now() - interval '1 second' where user_id = $1`, [id])
    assert.equal(codeOf(await accept(next)), 'link_invalid')
    const { response } = await service.call('getUser', { token: bearer, id })
    assert.deepEqual([response.status, response.invitationExpiresTime], ['invited', null])
    const last = (await service.call('resendInvitation', { token: bearer, id })).response.link.split('#')[1] ?? ''
    assert.equal((await service.call('removeUser', { token: bearer, id })).status, 200)
    assert.equal(codeOf(await accept(last)), 'link_invalid')
  })

  test('of an owner is resent by owners alone', async () => {
    const { id } = await invite(service, organization, { role: 'owner' })
    const by = async (person: Person) => codeOf(await service.call('resendInvitation', { ...as(person), id }))
    assert.equal(await by(await add('admin')), 'forbidden')
    assert.equal(await by(owner), 200)
  })

  test('that names no address is accepted with one that is free', async () => {
    const fresh = await service.addOrganization()
    const taken = await add('viewer', null, fresh)
    const { token } = await invite(service, fresh, { email: 'owner@localhost', role: 'owner' })
    assert.equal((await service.call('getInvitation', { body: { token } })).response.email, null)
    assert.equal((await accept(token)).details[0]?.field, 'body.email')
    assert.equal(codeOf(await accept(token, { email: taken.email })), 'user_exists')
    const email = newEmail()
    assert.equal((await accept(token, { email })).response.email, email)
    assert.equal((await service.call('signIn', { body: { email, password: goodPassword } })).status, 200)
  })

  test('is not guessed: unknown ones are throttled', async () => {
    const other = await startTestService({ PENSTOCK_TRUSTED_PROXIES: '127.0.0.1' })
    try {
      const guess = async (address: string) =>
        codeOf(
          await other.call('getInvitation', {
            body: { token: `psi_${randomBytes(32).toString('base64url')}` },
            headers: { 'x-forwarded-for': address },
          }),
        )
      for (let i = 0; i < 10; i++) assert.equal(await guess('198.51.100.9'), 'link_invalid')
      assert.equal(await guess('198.51.100.9'), 'rate_limited')
      assert.equal(await guess('198.51.100.10'), 'link_invalid')
    } finally {
      await other.close()
    }
  })
})

describe('who changes and removes people', () => {
  test('does not change themselves', async () => {
    const { error, details } = await update(owner, owner.id, 'admin')
    assert.deepEqual([error, details[0]?.field], ['forbidden', 'id'])
  })

  test('changes no one who may do more, and makes no one who may', async () => {
    const [admin, editor] = [await add('admin'), await add('editor')]
    assert.equal(codeOf(await update(admin, owner.id, 'viewer')), 'forbidden')
    assert.equal(codeOf(await remove(admin, owner.id)), 'forbidden')
    assert.equal(codeOf(await update(admin, editor.id, 'owner')), 'forbidden')
    assert.equal(codeOf(await update(editor, admin.id, 'viewer')), 'forbidden')
    assert.equal(codeOf(await remove(editor, admin.id)), 'forbidden')
    assert.equal(codeOf(await update(admin, editor.id, 'admin')), 200)
    assert.equal(codeOf(await update(owner, editor.id, 'owner')), 200)
    assert.equal(codeOf(await update(admin, editor.id, 'viewer')), 'forbidden')
    assert.equal(codeOf(await remove(owner, editor.id)), 200)
  })

  test('sees those alone who are limited to the same sub-accounts or fewer', async () => {
    const fresh = await service.addOrganization()
    const caller = callerOf(service, fresh)
    const [one, two] = [(await caller.addAccount()).id, (await caller.addAccount()).id]
    const limited = await add('admin', [one], fresh)
    const people = {
      all: await add('viewer', null, fresh),
      same: await add('viewer', [one], fresh),
      both: await add('viewer', [one, two], fresh),
      other: await add('viewer', [two], fresh),
    }
    const { response, headers } = await service.call('listUsers', as(limited))
    assert.deepEqual(response.map(({ id }) => id).sort(), [limited.id, people.same.id].sort())
    assert.equal(headers['x-total-count'], '2')
    for (const hidden of ['all', 'both', 'other'] as const) {
      const { id } = people[hidden]
      assert.equal(codeOf(await service.call('getUser', { ...as(limited), id })), 'not_found')
      assert.equal(codeOf(await update(limited, id, 'viewer', [one])), 'not_found')
      assert.equal(codeOf(await remove(limited, id)), 'not_found')
    }
    assert.equal(codeOf(await update(limited, people.same.id, 'editor', [one])), 200)
    assert.equal(codeOf(await update(limited, people.same.id, 'editor', [one, two])), 'invalid_request')
    assert.equal(codeOf(await update(limited, people.same.id, 'editor')), 'forbidden')
    assert.equal(codeOf(await remove(limited, people.same.id)), 200)
    const all = await caller.expect(caller.call('listUsers'))
    assert.equal(all.length, 4)
    const found = await caller.expect(caller.call('listUsers', { query: { q: people.both.email.toUpperCase() } }))
    assert.deepEqual(
      found.map(({ id }) => id),
      [people.both.id],
    )
    assert.deepEqual(await caller.expect(caller.call('listUsers', { query: { q: '%' } })), [])
  })

  test('leaves an owner who can sign in', async () => {
    const fresh = await service.addOrganization()
    const only = await add('owner', null, fresh)
    const { token } = fresh
    const demote = async (id: string) =>
      codeOf(await service.call('updateUser', { token, id, body: { role: 'admin' } }))
    const drop = async (id: string) => codeOf(await service.call('removeUser', { token, id }))
    // An invited person who has not accepted is not an owner yet.
    const invited = await invite(service, fresh, { role: 'owner' })
    assert.deepEqual([await demote(only.id), await drop(only.id)], ['last_owner', 'last_owner'])
    assert.equal(codeOf(await remove(only, only.id)), 'last_owner')
    assert.equal(await drop(invited.id), 200)
    const second = await add('owner', null, fresh)
    // Of two owners who are removed concurrently, one stays.
    const answers = await Promise.all([remove(only, second.id), remove(second, only.id)])
    const codes = answers.map(codeOf)
    assert(codes.includes(200) && codes.some((code) => code !== 200), codes.join(' '))
    const left = await service.call('listUsers', { token })
    assert.deepEqual(
      left.response.map(({ role }) => role),
      ['owner'],
    )
  })

  test('and those who sign in meanwhile do not wait for each other forever, nor keep an earlier role', async () => {
    const [person, admin] = [await add('editor'), await add('admin')]
    const body = { email: person.email, password: person.password }
    const roles = ['viewer', 'admin', 'editor', 'viewer'] as const
    const [signIns, updates] = await Promise.all([
      Promise.all(Array.from({ length: 10 }, () => service.call('signIn', { body }))),
      Promise.all(roles.map((role) => update(admin, person.id, role))),
    ])
    assert.deepEqual([...new Set([...signIns, ...updates].map(codeOf))], [200])
    const { response } = await service.call('getUser', { ...as(admin), id: person.id })
    const sessions = signIns.map((reply) => ({ cookie: cookieOf(reply) }))
    for (const headers of [...sessions, { cookie: person.headers.cookie }]) {
      assert.equal((await service.call('getMe', { headers })).response.role, response.role)
      const mayInvite = (await service.call('listUsers', { headers })).status === 200
      assert.equal(mayInvite, response.role === 'admin')
    }
  })

  test('gives no secret away in a list', async () => {
    const { link } = await invite(service, organization)
    const listed = await service.call('listUsers', { token: organization.token, query: { size: 500 } })
    assert.doesNotMatch(listed.text, /argon2|psi_|psr_|psu_/)
    assert(!listed.text.includes(link))
    await until('the log is written', () => service.logLines.length > 0, 5_000)
    assert.doesNotMatch(service.logLines.join('\n'), /argon2id|psi_|psr_|psu_/)
  })
})

describe('what only a person can do', () => {
  test('is refused to programs, and a person who was removed is not known any more', async () => {
    const { token } = organization
    const calls: [OperationId, object][] = [
      ['signOut', {}],
      ['updateMe', { body: { name: 'Name' } }],
      ['changePassword', { body: { newPassword: goodPassword } }],
      ['listMySessions', {}],
      ['endMySession', { id: '0123456789abcdef' }],
      ['endMySessions', {}],
    ]
    const person = await add('viewer')
    await remove(owner, person.id)
    for (const [id, call] of calls) {
      const { error, details } = await service.call(id, { token, ...call } as CallOptions<never>)
      assert.deepEqual([error, details[0]?.field], ['forbidden', 'person'], id)
      assert.equal((await service.call(id, { ...as(person), ...call } as CallOptions<never>)).error, 'unauthorized', id)
    }
    const me = await service.call('getMe', { token })
    const { kind, id, email, role, scopes, accountIds, method, hasPassword, csrfToken } = me.response
    assert.deepEqual(
      { kind, id, email, role, scopes, accountIds, method, hasPassword, csrfToken },
      {
        kind: 'client',
        id: organization.clientId,
        email: null,
        role: null,
        scopes: null,
        accountIds: null,
        method: 'client credentials',
        hasPassword: false,
        csrfToken: null,
      },
    )
  })
})
