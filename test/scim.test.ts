import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Scope } from '@penstock/wire'
import type { Organization, Reply } from './harness/service.ts'
import { startTests } from './harness/started.ts'
import { addPerson, newEmail } from './harness/users.ts'

/** SCIM 2.0 (RFC 7643, RFC 7644). `scim-providers.large.test.ts` tests the requests of identity providers. */

const service = await startTests({ env: { PENSTOCK_TRUSTED_PROXIES: '127.0.0.1' } })
const organization = await service.addOrganization()
const bearer = await addBearer(organization, ['users:provision'])

async function addBearer({ token }: Organization, scopes: Scope[], accountIds: string[] | null = null) {
  const reply = await service.call('createClient', { token, body: { name: 'SCIM', scopes, accountIds } })
  assert.equal(reply.status, 201, reply.text)
  return `${reply.response.id}.${reply.response.clientSecret}`
}

const send = (method: string, path: string, body?: unknown, by: string | undefined = bearer, headers = {}) =>
  service.send({
    method,
    path: `/scim/v2${path}`,
    headers: {
      ...(by === '' ? {} : { authorization: `Bearer ${by}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/scim+json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
// biome-ignore lint/suspicious/noExplicitAny: the resources of the tests
const of = (reply: Reply): any => JSON.parse(reply.text)

function assertError(reply: Reply, status: number, scimType?: string): void {
  assert.equal(reply.status, status, reply.text)
  assert.match(reply.headers['content-type'] ?? '', /^application\/scim\+json/)
  const { schemas, status: text, scimType: type, detail, ...more } = of(reply)
  assert.deepEqual([schemas, text, type], [['urn:ietf:params:scim:api:messages:2.0:Error'], String(status), scimType])
  assert(detail.length > 5 && Object.keys(more).length === 0)
}

const create = async (more: object = {}) => {
  const userName = newEmail()
  const reply = await send('POST', '/Users', { userName, ...more })
  assert.equal(reply.status, 201, reply.text)
  return { userName, id: of(reply).id as string, reply }
}

describe('the token', { concurrency: true }, () => {
  test('is the client ID, a dot and the secret, or an access token, and reaches nothing but SCIM', async () => {
    const [clientId = '', clientSecret = ''] = bearer.split('.')
    const { accessToken } = (await service.call('createToken', { body: { clientId, clientSecret } })).response
    for (const token of [bearer, accessToken]) assert.equal((await send('GET', '/Users', undefined, token)).status, 200)
    const statuses = [bearer, accessToken].map(async (token) => (await service.call('listUsers', { token })).status)
    assert.deepEqual(await Promise.all(statuses), [401, 403])
  })

  test('is refused if it is missing, wrong, revoked, expired, or does not name the scope', async () => {
    const { token, clientId, clientSecret } = organization
    for (const wrong of ['', 'x', `${clientId}.pss_wrong`, `${bearer}.x`, 'a.b', '.', `${bearer.split('.')[0]}.`]) {
      const reply = await send('GET', '/Users', undefined, wrong)
      assertError(reply, 401)
      assert.equal(reply.headers['www-authenticate'], 'Bearer')
    }
    assertError(await send('GET', '/Users', undefined, `${clientId}.${clientSecret}`), 403)
    assertError(await send('GET', '/Users', undefined, token), 403)
    assertError(await send('GET', '/Users', undefined, await addBearer(organization, ['users:write'])), 403)
    const account = (await service.call('addAccount', { token, body: { name: 'One' } })).response.id
    assertError(
      await send('GET', '/Users', undefined, await addBearer(organization, ['users:provision'], [account])),
      403,
    )
    const other = await addBearer(organization, ['users:provision'])
    assert.equal((await send('GET', '/Users', undefined, other)).status, 200)
    const [id = ''] = other.split('.')
    const rotated = await service.call('rotateClient', { token, id, body: { overlapHours: 1 } })
    const next = `${id}.${rotated.response.clientSecret}`
    for (const one of [other, next]) assert.equal((await send('GET', '/Users', undefined, one)).status, 200)
    await service.database.pool.query(`update clients set expires_time = now() where id = $1`, [id])
    assertError(await send('GET', '/Users', undefined, next), 401)
    await service.database.pool.query(`update clients set expires_time = null where id = $1`, [id])
    await service.call('revokeClient', { token, id })
    for (const one of [other, next]) assertError(await send('GET', '/Users', undefined, one), 401)
  })

  test('cannot be guessed: after ten failures from one address, it is 429', async () => {
    const from = { 'x-forwarded-for': '203.0.113.9' }
    const guess = (n: number) => send('GET', '/Users', undefined, `${organization.clientId}.pss_${n}`, from)
    for (let n = 0; n < 10; n++) assertError(await guess(n), 401)
    const reply = await guess(11)
    assertError(reply, 429)
    assert(Number(reply.headers['retry-after']) > 0)
  })

  test('is created by owners, and by those alone who have the scope', async () => {
    for (const role of ['owner', 'admin'] as const) {
      const { headers } = await addPerson(service, organization, { role })
      const body = { name: 'SCIM', scopes: ['users:provision' as const] }
      assert.equal((await service.call('createClient', { headers, body })).status, role === 'owner' ? 201 : 403, role)
    }
  })
})

test('deactivation ends sessions immediately and closes every way in, and activation opens them again', async () => {
  const { id, email, password, headers, organizationId } = await addPerson(service, organization, { role: 'editor' })
  const signIn = () => service.call('signIn', { body: { email, password, organizationId } })
  const setActive = (active: boolean) =>
    send('PATCH', `/Users/${id}`, { Operations: [{ op: 'replace', value: { active } }] })
  assert.equal((await service.call('getMe', { headers })).status, 200)
  const deactivated = await setActive(false)
  assert.equal(of(deactivated).active, false)
  assert.equal((await service.call('getMe', { headers })).status, 401)
  assert.equal((await signIn()).error, 'sign_in_failed')
  const { token } = organization
  assert.equal((await service.call('getUser', { token, id })).response.status, 'deactivated')
  assert.equal((await service.call('resendInvitation', { token, id })).error, 'user_joined')
  assert.equal((await setActive(true)).status, 200)
  assert.equal((await signIn()).status, 200)
  await service.service.settleAudit()
  const { response: events } = await service.call('listAudit', { token, query: { targetId: id } })
  const found = events.find(({ after }) => after?.active === false)
  assert.deepEqual([found?.action, found?.actor.id], ['scim update user', bearer.split('.')[0]])
})

test('the last owner is neither deactivated, removed, renamed nor demoted', async () => {
  const own = await service.addOrganization()
  const by = await addBearer(own, ['users:provision'])
  const owner = await addPerson(service, own, { role: 'owner' })
  const off = { Operations: [{ op: 'Replace', path: 'active', value: 'False' }] }
  assertError(await send('PATCH', `/Users/${owner.id}`, off, by), 409)
  assertError(await send('DELETE', `/Users/${owner.id}`, undefined, by), 409)
  assertError(await send('PUT', `/Users/${owner.id}`, { userName: newEmail() }, by), 400, 'mutability')
  const group = { displayName: 'Viewers', members: [{ value: owner.id }] }
  assert.equal((await send('POST', '/Groups', group, by)).status, 201)
  assert.equal((await service.call('getUser', { token: own.token, id: owner.id })).response.role, 'owner')
  const second = await addPerson(service, own, { role: 'owner' })
  assert.equal((await send('PATCH', `/Users/${owner.id}`, off, by)).status, 200)
  assertError(await send('PATCH', `/Users/${second.id}`, off, by), 409)
  // A deactivated owner is no other owner.
  assertError(await send('DELETE', `/Users/${second.id}`, undefined, by), 409)
  assert.equal((await send('DELETE', `/Users/${owner.id}`, undefined, by)).status, 204)
})

test('people and groups of other organizations are invisible', async () => {
  const other = await service.addOrganization()
  const by = await addBearer(other, ['users:provision'])
  const { id, userName } = await create()
  const group = of(await send('POST', '/Groups', { displayName: 'Theirs', members: [{ value: id }] }))
  const patch = { Operations: [{ op: 'replace', path: 'displayName', value: 'Mine' }] }
  for (const path of [`/Users/${id}`, `/Groups/${group.id}`]) {
    assertError(await send('GET', path, undefined, by), 404)
    assertError(await send('PUT', path, { userName, displayName: 'Mine' }, by), 404)
    assertError(await send('PATCH', path, patch, by), 404)
    assertError(await send('DELETE', path, undefined, by), 404)
  }
  for (const filter of [`userName eq "${userName}"`, `id eq "${id}"`]) {
    const list = of(await send('GET', `/Users?filter=${encodeURIComponent(filter)}`, undefined, by))
    assert.deepEqual([list.totalResults, list.Resources], [0, []])
  }
  assertError(await send('POST', '/Groups', { displayName: 'Mine', members: [{ value: id }] }, by), 400, 'invalidValue')
  assert.equal(of(await send('GET', '/Groups', undefined, by)).totalResults, 0)
})

test('whatever is wrong is an error of SCIM, and never of the service', async () => {
  const { id, userName } = await create()
  const wrong: [string, string, unknown, number, string?][] = [
    ['POST', '/Users', '{', 400, 'invalidSyntax'],
    ['POST', '/Users', '[]', 400, 'invalidSyntax'],
    ['POST', '/Users', '{"__proto__":{"userName":"a@b.c"}}', 400, 'invalidSyntax'],
    ['POST', '/Users', {}, 400, 'invalidValue'],
    ['POST', '/Users', { userName: 'no address' }, 400, 'invalidValue'],
    ['POST', '/Users', { userName: 7 }, 400, 'invalidValue'],
    ['POST', '/Users', { userName: userName.toUpperCase() }, 409, 'uniqueness'],
    ['POST', '/Users', { userName: newEmail(), active: 'perhaps' }, 400, 'invalidValue'],
    ['POST', '/Users', { userName: newEmail(), displayName: '\ud800' }, 400, 'invalidValue'],
    ['POST', '/Users', { userName: newEmail(), externalId: 'x'.repeat(256) }, 400, 'invalidValue'],
    ['PATCH', `/Users/${id}`, {}, 400, 'invalidSyntax'],
    ['PATCH', `/Users/${id}`, { Operations: [{ op: 'move', path: 'active' }] }, 400, 'invalidSyntax'],
    ['PATCH', `/Users/${id}`, { Operations: [{ op: 'remove' }] }, 400, 'noTarget'],
    ['PATCH', `/Users/${id}`, { Operations: [{ op: 'remove', path: 'userName' }] }, 400, 'mutability'],
    ['PATCH', `/Users/${id}`, { Operations: [{ op: 'add', path: 'a[b', value: 1 }] }, 400, 'invalidPath'],
    ['PATCH', '/Users/0123456789abcdef', { Operations: [{ op: 'add', value: {} }] }, 404],
    ['GET', '/Users/..%2f..%2fmetrics', undefined, 404],
    ['GET', '/Users/constructor', undefined, 404],
    ['GET', '/constructor', undefined, 404],
    ['GET', '', undefined, 404],
    ['POST', '/Bulk', {}, 404],
    ['PATCH', '/Users', {}, 405],
    ['DELETE', '/Schemas', undefined, 405],
    ['GET', '/Users?filter=userName+co+%22a%22', undefined, 400, 'invalidFilter'],
    ['GET', '/Users?filter=constructor+eq+%22a%22', undefined, 400, 'invalidFilter'],
    ['GET', '/Users?filter=id+eq+%22a%22&filter=id+eq+%22b%22', undefined, 400, 'invalidFilter'],
    ['GET', `/Users?filter=${'('.repeat(900)}`, undefined, 400, 'invalidFilter'],
    ['GET', `/Users?filter=id+eq+%22%5Cu0000%22`, undefined, 400, 'invalidFilter'],
    ['GET', '/Users?startIndex=1e9', undefined, 400, 'invalidValue'],
    ['POST', '/Groups', { displayName: ' ' }, 400, 'invalidValue'],
    ['POST', '/Groups', { displayName: 'Z', members: [{ value: id }, { value: 'x' }] }, 400, 'invalidValue'],
    ['POST', '/Groups', { displayName: 'Z', members: ['x'] }, 400, 'invalidSyntax'],
  ]
  for (const [method, path, body, status, scimType] of wrong) {
    const reply = await send(method, path, body)
    assert.equal(reply.status, status, `${method} ${path} ${JSON.stringify(body)}: ${reply.text}`)
    assertError(reply, status, scimType)
  }
  assertError(await send('POST', '/Users', 'x', bearer, { 'content-type': 'text/plain' }), 415)
  assertError(await send('POST', '/Users', `"${'x'.repeat(1_100_000)}"`), 413)
  assert.equal(of(await send('GET', '/Groups?filter=displayName+eq+%22Z%22')).totalResults, 0)
  assert.doesNotMatch(service.logLines.join('\n'), /pss_|request failed/)
})
