import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { generateMasterKey } from '../packages/server/src/secrets/seal.ts'
import { addPasskey, preparePasskeySignIn } from './harness/authenticator.ts'
import { setProvider, signInAtProvider, startRealProvider } from './harness/identity-provider.ts'
import { bodies, canary, queryValues } from './harness/rubbish.ts'
import { type Reply, startServiceOn } from './harness/service.ts'
import { startTests } from './harness/started.ts'
import { until } from './harness/until.ts'
import { addPerson, addResetLink, invite, newEmail, signInAgain } from './harness/users.ts'

/** SCIM as Okta and Microsoft Entra ID send it, and what follows for people who sign in. */

const env = { PENSTOCK_MASTER_KEY: generateMasterKey() }
const service = await startTests({ env })

// biome-ignore lint/suspicious/noExplicitAny: the resources of the tests
const of = (reply: Reply): any => JSON.parse(reply.text)

/** An organization, and its SCIM client. */
async function addScim() {
  const organization = await service.addOrganization()
  const body = { name: 'SCIM', scopes: ['users:provision' as const] }
  const { id, clientSecret } = (await service.call('createClient', { token: organization.token, body })).response
  const send = async (
    method: string,
    path: string,
    body?: unknown,
    status = 200,
    headers: Record<string, string> = {},
  ) => {
    const reply = await service.send({
      method,
      path: `/scim/v2${path}`,
      headers: {
        authorization: `Bearer ${id}.${clientSecret}`,
        accept: 'application/scim+json',
        ...headers,
        ...(body === undefined ? {} : { 'content-type': 'application/scim+json; charset=utf-8' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    assert.equal(reply.status, status, reply.text)
    return reply
  }
  const roleOf = async (userId: string) =>
    (await service.call('getUser', { token: organization.token, id: userId })).response.role
  const addUser = async () => of(await send('POST', '/Users', { userName: newEmail() }, 201)).id as string
  return { organization, clientId: id, send, roleOf, addUser }
}

const userSchema = 'urn:ietf:params:scim:schemas:core:2.0:User'
const patchSchema = 'urn:ietf:params:scim:api:messages:2.0:PatchOp'
const patch = (...operations: object[]) => ({ schemas: [patchSchema], Operations: operations })

describe('Okta', () => {
  test('finds, creates, updates, deactivates and activates a person', async () => {
    const { send } = await addScim()
    const userName = newEmail()
    const find = async () => of(await send('GET', `/Users?filter=userName+eq+%22${userName}%22&startIndex=1&count=100`))
    const none = await find()
    assert.deepEqual([none.totalResults, none.startIndex, none.itemsPerPage, none.Resources], [0, 1, 0, []])
    const given = {
      schemas: [userSchema],
      userName,
      name: { givenName: 'Ada', familyName: 'Lopez' },
      emails: [{ primary: true, value: userName, type: 'work' }],
      displayName: 'Ada Lopez',
      locale: 'en-US',
      externalId: '00ujl29u0le5T6Aj10h7',
      groups: [],
      password: '1mz050nq',
      active: true,
    }
    const created = await send('POST', '/Users', given, 201)
    const { id, meta, ...user } = of(created)
    assert.equal(created.headers.location, `http://penstock.test/scim/v2/Users/${id}`)
    assert.deepEqual([meta.location, meta.version], [created.headers.location, created.headers.etag])
    const { locale: _, groups: __, password: ___, ...kept } = given
    assert.deepEqual(user, { ...kept, name: { formatted: 'Ada Lopez', ...given.name } })
    assert.doesNotMatch(created.text, /1mz050nq|password/)
    await send('POST', '/Users', given, 409)
    assert.equal((await find()).totalResults, 1)

    const got = of(await send('GET', `/Users/${id}`))
    const put = { ...got, name: { givenName: 'Ada', familyName: 'King' }, displayName: 'Ada King' }
    assert.equal(of(await send('PUT', `/Users/${id}`, put)).name.formatted, 'Ada King')
    const off = await send('PATCH', `/Users/${id}`, patch({ op: 'replace', value: { active: false } }))
    assert.deepEqual([of(off).active, of(await send('GET', `/Users/${id}`)).active], [false, false])
    // Apps of before send the whole user.
    assert.equal(of(await send('PUT', `/Users/${id}`, { ...put, active: true })).active, true)
    assert.equal(of(await send('PUT', `/Users/${id}`, { ...put, active: false })).active, false)
    assert.equal((await find()).Resources[0].active, false)
    await send('PATCH', `/Users/${id}`, patch({ op: 'replace', value: { active: true } }))
  })

  test('pushes a group, its members and its name, which give and take a role', async () => {
    const { send, roleOf, addUser } = await addScim()
    const [ada, bob] = [await addUser(), await addUser()]
    const group = { schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'], displayName: 'Penstock Editors' }
    const created = of(await send('POST', '/Groups', { ...group, members: [{ value: ada, display: 'ada' }] }, 201))
    const path = `/Groups/${created.id}`
    assert.deepEqual([await roleOf(ada), await roleOf(bob)], ['editor', 'viewer'])
    const found = of(await send('GET', `/Groups?filter=displayName+eq+%22penstock+editors%22&startIndex=1&count=100`))
    assert.equal(found.Resources[0].id, created.id)
    await send('PATCH', path, patch({ op: 'add', path: 'members', value: [{ value: bob, display: 'bob' }] }), 204)
    assert.equal(await roleOf(bob), 'editor')
    await send('PATCH', path, patch({ op: 'remove', path: `members[value eq "${ada}"]` }), 204)
    assert.deepEqual([await roleOf(ada), await roleOf(bob)], ['viewer', 'editor'])
    await send('PATCH', path, patch({ op: 'replace', path: 'members', value: [{ value: ada }] }), 204)
    assert.deepEqual([await roleOf(ada), await roleOf(bob)], ['editor', 'viewer'])
    await send('PATCH', path, patch({ op: 'replace', value: { id: created.id, displayName: 'Penstock Admins' } }), 204)
    assert.equal(await roleOf(ada), 'admin')
    const put = await send('PUT', path, {
      ...group,
      displayName: 'Marketing',
      members: [{ value: ada }, { value: bob }],
    })
    assert.equal(of(put).members.length, 2)
    assert.deepEqual([await roleOf(ada), await roleOf(bob)], ['viewer', 'viewer'])
    await send('DELETE', path, undefined, 204)
    await send('GET', path, undefined, 404)
  })
})

describe('Microsoft Entra ID', () => {
  test('finds, creates, changes attributes one by one, deactivates with a text, and removes a person', async () => {
    const { send } = await addScim()
    const userName = newEmail()
    const given = {
      schemas: [userSchema, 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'],
      externalId: 'jsmith',
      userName,
      active: true,
      addresses: null,
      displayName: 'Joy Smith',
      emails: [{ type: 'work', value: userName, primary: true }],
      meta: { resourceType: 'User' },
      name: { formatted: 'Joy Smith', familyName: 'Smith', givenName: 'Joy' },
      roles: [],
      'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User': { department: 'Sales', manager: 'x' },
    }
    const { id } = of(await send('POST', '/Users', given, 201))
    for (const filter of [
      `userName eq "${userName.toUpperCase()}"`,
      'externalId eq "jsmith"',
      `emails[type eq "work"].value eq "${userName}"`,
      `id eq "${id}" and externalId eq "jsmith"`,
      'displayName Eq "joy smith"',
      `${userSchema}:userName eq "${userName}"`,
    ]) {
      const list = of(await send('GET', `/Users?filter=${encodeURIComponent(filter)}`))
      assert.deepEqual([list.totalResults, list.Resources[0]?.id], [1, id], filter)
    }
    const changed = patch(
      { op: 'Replace', path: 'displayName', value: 'Joy King' },
      { op: 'Add', path: 'name.familyName', value: 'King' },
      { op: 'Replace', path: 'emails[type eq "work"].value', value: 'other@example.com' },
      { op: 'Add', path: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department', value: 'IT' },
      { op: 'Add', path: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:manager', value: { value: 'y' } },
      { op: 'Replace', path: `${userSchema}:externalId`, value: 'jking' },
    )
    const { displayName, name, externalId, emails } = of(await send('PATCH', `/Users/${id}`, changed))
    assert.deepEqual(
      [displayName, name.familyName, name.givenName, externalId, emails[0].value],
      ['Joy King', 'King', 'Joy', 'jking', userName],
    )
    const keyed = patch({ op: 'Replace', value: { 'name.givenName': 'Jo', active: 'True', displayName: 'Jo King' } })
    assert.equal(of(await send('PATCH', `/Users/${id}`, keyed)).name.givenName, 'Jo')
    for (const value of ['False', false]) {
      await send('PATCH', `/Users/${id}`, patch({ op: 'Replace', path: 'active', value: 'True' }))
      const off = await send('PATCH', `/Users/${id}`, patch({ op: 'Replace', path: 'active', value }))
      assert.equal(of(off).active, false)
    }
    await send('DELETE', `/Users/${id}`, undefined, 204)
    await send('GET', `/Users/${id}`, undefined, 404)
    await send('DELETE', `/Users/${id}`, undefined, 404)
  })

  test('looks groups up without members, adds and removes members in its form, and asks for memberships', async () => {
    const { send, roleOf, addUser } = await addScim()
    const [ada, bob] = [await addUser(), await addUser()]
    const { id, members } = of(await send('POST', '/Groups', { externalId: 'g1', displayName: 'admin' }, 201))
    assert.deepEqual(members, [])
    const path = `/Groups/${id}`
    await send('PATCH', path, patch({ op: 'Add', path: 'members', value: [{ $ref: null, value: ada }] }), 204)
    await send('PATCH', path, patch({ op: 'Add', path: 'members', value: [{ value: ada }, { value: bob }] }), 204)
    assert.deepEqual([await roleOf(ada), await roleOf(bob)], ['admin', 'admin'])
    const get = async (query: string) => of(await send('GET', `/Groups${query}`))
    const bare = await get('?excludedAttributes=members&filter=externalId+eq+%22g1%22')
    assert.deepEqual([bare.Resources[0].displayName, 'members' in bare.Resources[0]], ['admin', false])
    assert.equal((await get(`/${id}`)).members.length, 2)
    assert.deepEqual(Object.keys(await get(`/${id}?attributes=displayName`)).sort(), [
      'displayName',
      'id',
      'meta',
      'schemas',
    ])
    const asked = `?filter=${encodeURIComponent(`id eq "${id}" and members eq "${ada}"`)}`
    assert.equal((await get(asked)).totalResults, 1)
    await send('PATCH', path, patch({ op: 'Remove', path: 'members', value: [{ value: ada }] }), 204)
    assert.equal((await get(asked)).totalResults, 0)
    assert.deepEqual([await roleOf(ada), await roleOf(bob)], ['viewer', 'admin'])
    await send('PATCH', path, patch({ op: 'Replace', path: 'displayName', value: 'Finance' }), 204)
    assert.equal(await roleOf(bob), 'viewer')
    await send('POST', '/Groups', { displayName: 'finance' }, 409)
    await send('PATCH', path, patch({ op: 'Remove', path: 'members' }), 204)
    assert.deepEqual((await get(`/${id}`)).members, [])
  })
})

test('the descriptions say what is supported', async () => {
  const { send } = await addScim()
  const config = of(await send('GET', '/ServiceProviderConfig'))
  assert.deepEqual([config.patch.supported, config.bulk.supported, config.sort.supported], [true, false, false])
  const types = of(await send('GET', '/ResourceTypes')).Resources.map(({ endpoint }: { endpoint: string }) => endpoint)
  assert.deepEqual(types, ['/Users', '/Groups'])
  const schema = of(await send('GET', `/Schemas/${userSchema}`))
  const { id } = of(await send('POST', '/Users', { userName: newEmail(), displayName: 'A', externalId: 'x' }, 201))
  const described = schema.attributes.map(({ name }: { name: string }) => name)
  const common = ['schemas', 'id', 'externalId', 'meta']
  assert.deepEqual(Object.keys(of(await send('GET', `/Users/${id}`))).sort(), [...common, ...described].sort())
  assert.equal(of(await send('GET', '/Schemas')).totalResults, 2)
  await send('GET', '/Schemas/none', undefined, 404)
})

test('lists have pages, and changes of another version are refused', async () => {
  const { send, addUser } = await addScim()
  const ids = new Set([await addUser(), await addUser(), await addUser()])
  const page = async (query: string) => of(await send('GET', `//Users/?${query}`))
  const [one, two] = [await page('startIndex=0&count=2'), await page('startIndex=3&count=2')]
  assert.deepEqual([one.startIndex, one.itemsPerPage, two.startIndex, two.itemsPerPage], [1, 2, 3, 1])
  const found = [...one.Resources, ...two.Resources].map(({ id }: { id: string }) => id)
  assert.deepEqual(new Set(found), ids)
  const none = await page('count=0')
  assert.deepEqual([none.totalResults, none.Resources, (await page('count=-1')).itemsPerPage], [3, [], 0])
  assert.equal((await page('count=999999999&startIndex=999999999')).itemsPerPage, 0)
  const path = `/Users/${found[0]}`
  const { version } = of(await send('GET', path)).meta
  const rename = (displayName: string, status: number) =>
    send('PATCH', path, patch({ op: 'replace', path: 'displayName', value: displayName }), status, {
      'if-match': version,
    })
  await rename('B', 200)
  await rename('C', 412)
  assert.equal(of(await send('GET', path)).displayName, 'B')
})

describe('roles', () => {
  test('are the highest that groups give, and only groups with the name of a role change them', async () => {
    const { organization, send, roleOf } = await addScim()
    const person = await addPerson(service, organization, { role: 'editor' })
    const group = async (displayName: string) => {
      const created = await send('POST', '/Groups', { displayName, members: [{ value: person.id }] }, 201)
      return { displayName, id: of(created).id as string }
    }
    for (const name of ['Everyone', 'owner', 'Penstock owners', 'administrator', 'not admin', 'admin\u200b']) {
      await group(name)
      assert.equal(await roleOf(person.id), 'editor', name)
    }
    const admins = await group('PENSTOCK-ADMIN')
    await group('Viewers')
    assert.equal(await roleOf(person.id), 'admin')
    const scopesOf = async () => (await service.call('getMe', { headers: person.headers })).response.role
    assert.equal(await scopesOf(), 'admin')
    await send('DELETE', `/Groups/${admins.id}`, undefined, 204)
    assert.equal(await scopesOf(), 'viewer')
    await service.service.settleAudit()
    const { response } = await service.call('listAudit', {
      token: organization.token,
      query: { targetId: person.id, action: 'scim change role' },
    })
    const changes = response.map(({ before, after }) => [before?.role, after?.role])
    assert.deepEqual(changes, [
      ['admin', 'viewer'],
      ['editor', 'admin'],
    ])
  })
})

describe('a person who is deactivated', () => {
  const off = patch({ op: 'replace', value: { active: false } })

  test('cannot sign in with a passkey, an invitation or a new password, in any process', async () => {
    const { organization, send } = await addScim()
    const other = await startServiceOn(service.databaseUrl, env)
    try {
      const person = await addPerson(service, organization)
      const { credential } = await addPasskey(service, person)
      const elsewhere = await signInAgain(other, person)
      assert.equal((await other.call('getMe', { headers: elsewhere.headers })).status, 200)
      const reset = await addResetLink(service, person.id)
      const invited = await invite(service, organization)
      for (const { id } of [person, invited]) await send('PATCH', `/Users/${id}`, off)
      const passkey = { body: await preparePasskeySignIn(service, credential) }
      assert.equal((await service.call('signInWithPasskey', passkey)).error, 'sign_in_failed')
      const password = 'another sentence of its own'
      const accept = { body: { token: invited.token, name: 'Ada', password } }
      assert.equal((await service.call('acceptInvitation', accept)).error, 'link_invalid')
      const set = { body: { token: reset, newPassword: password } }
      assert.equal((await service.call('resetPassword', set)).error, 'link_invalid')
      // A link that is made afterwards, as a process of the version before would.
      const later = { body: { token: await addResetLink(service, person.id), newPassword: password } }
      assert.equal((await service.call('resetPassword', later)).error, 'link_invalid')
      // The notice ends the session in the cache of the other process.
      const isOver = async () => (await other.call('getMe', { headers: elsewhere.headers })).status === 401
      await until('the session has ended in the other process', isOver, 20_000)
    } finally {
      await other.close()
    }
  })

  test('cannot sign in with single sign-on, known or not, nor is added once more', async (t) => {
    const { organization, send } = await addScim()
    const emails = { ada: newEmail(), bob: newEmail() }
    const claims = Object.fromEntries(
      Object.entries(emails).map(([login, email]) => [login, { email, email_verified: true, name: login }]),
    )
    const provider = await startRealProvider(t, claims)
    await setProvider(service, organization, provider, { newUsers: { role: 'viewer', accountIds: null } })
    const signIn = async (login: string) => {
      const begun = await service.send({ method: 'GET', path: `/sso/${organization.organizationId}` })
      const cookie = String(begun.headers['set-cookie']).split(';')[0] ?? ''
      const path = await signInAtProvider(begun.headers.location ?? '', login)
      return service.send({ method: 'GET', path, headers: { cookie } })
    }
    const add = async (userName: string) => of(await send('POST', '/Users', { userName }, 201)).id as string
    const [ada, bob] = [await add(emails.ada), await add(emails.bob)]
    assert.equal((await signIn('ada')).status, 303)
    for (const id of [ada, bob]) await send('PATCH', `/Users/${id}`, off)
    for (const login of ['ada', 'bob']) {
      const reply = await signIn(login)
      assert.deepEqual([reply.status, /You are deactivated/.test(reply.text)], [403, true], reply.text)
    }
    ;(claims.ada as { email: string }).email = newEmail()
    assert.equal((await signIn('ada')).status, 403)
    assert.equal(of(await send('GET', '/Users')).totalResults, 2)
    await send('PATCH', `/Users/${ada}`, patch({ op: 'replace', value: { active: true } }))
    assert.equal((await signIn('ada')).status, 303)
  })

  test('has no session, whatever begins at the same time; and one of two owners stays', async () => {
    const { organization, send } = await addScim()
    const owners = [
      await addPerson(service, organization, { role: 'owner' }),
      await addPerson(service, organization, { role: 'owner' }),
    ]
    const person = await addPerson(service, organization)
    const { email, password, organizationId } = person
    const signIn = () => service.call('signIn', { body: { email, password, organizationId } })
    await Promise.all([signIn(), signIn(), send('PATCH', `/Users/${person.id}`, off), signIn()])
    const { rows } = await service.database.pool.query('select 1 from user_sessions where user_id = $1', [person.id])
    assert.equal(rows.length, 0)
    const replies = await Promise.allSettled(owners.map(({ id }) => send('PATCH', `/Users/${id}`, off)))
    assert.deepEqual(replies.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  })
})

test('another address ends the sessions and the password of a person, and is not that of someone else', async () => {
  const { organization, send } = await addScim()
  const person = await addPerson(service, organization)
  const taken = await addPerson(service, organization)
  const rename = (value: string, status: number) =>
    send('PATCH', `/Users/${person.id}`, patch({ op: 'replace', path: 'userName', value }), status)
  await rename(taken.email.toUpperCase(), 409)
  await rename(person.email.toUpperCase(), 200)
  assert.equal((await service.call('getMe', { headers: person.headers })).status, 200)
  const email = newEmail()
  await rename(email, 200)
  assert.equal((await service.call('getMe', { headers: person.headers })).status, 401)
  const { password, organizationId } = person
  for (const one of [email, person.email]) {
    const body = { email: one, password, organizationId }
    assert.equal((await service.call('signIn', { body })).error, 'sign_in_failed')
  }
  const token = await addResetLink(service, person.id)
  assert.equal((await service.call('resetPassword', { body: { token, newPassword: password } })).status, 200)
  assert.equal((await service.call('signIn', { body: { email, password, organizationId } })).status, 200)
})

test('groups and memberships are bounded', async () => {
  const { organization, send, addUser } = await addScim()
  const { pool } = service.database
  await pool.query(
    `insert into user_groups (id, organization_id, display_name)
     select left(md5($1 || n), 16), $1, 'Group ' || n from generate_series(1, 499) n`,
    [organization.organizationId],
  )
  const id = await addUser()
  const group = of(await send('POST', '/Groups', { displayName: 'The last' }, 201))
  await send('POST', '/Groups', { displayName: 'One too many' }, 409)
  const long = { displayName: 'x'.repeat(256) }
  assert.equal(of(await send('PATCH', `/Users/${id}`, patch({ op: 'add', value: long }))).displayName.length, 200)
  await send('PATCH', `/Groups/${group.id}`, patch({ op: 'replace', value: long }), 204)
  const value = Array.from({ length: 20_000 }, () => ({ value: id }))
  await send('PATCH', `/Groups/${group.id}`, patch({ op: 'add', path: 'members', value }), 204)
  assert.equal(of(await send('GET', `/Groups/${group.id}`)).members.length, 1)
  assert.equal(of(await send('GET', '/Groups?count=1000')).itemsPerPage, 100)
})

test('no rubbish is an error of the service, or comes back', async () => {
  const { organization, clientId, send, addUser } = await addScim()
  const id = await addUser()
  const group = of(await send('POST', '/Groups', { displayName: 'Group' }, 201)).id as string
  const rotated = await service.call('rotateClient', { token: organization.token, id: clientId, body: {} })
  const headers = {
    authorization: `Bearer ${clientId}.${rotated.response.clientSecret}`,
    'content-type': 'application/scim+json',
  }
  const check = async (method: string, path: string, body?: Buffer) => {
    const reply = await service.send({ method, path: `/scim/v2${path}`, headers, ...(body ? { body } : {}) })
    assert(reply.status < 500, `${method} ${path} ${body}: ${reply.text}`)
    if (reply.status >= 400) assert(!reply.text.includes(canary), reply.text)
  }
  for (const body of Object.values(bodies)) {
    for (const path of ['/Users', '/Groups']) await check('POST', path, body)
    for (const path of [`/Users/${id}`, `/Groups/${group}`]) {
      for (const method of ['PUT', 'PATCH']) await check(method, path, body)
    }
  }
  for (const value of Object.values(queryValues)) {
    for (const name of ['filter', 'startIndex', 'count', 'attributes', 'excludedAttributes']) {
      for (const path of ['/Users', `/Groups/${group}`, '/Schemas']) await check('GET', `${path}?${name}=${value}`)
    }
  }
})
