import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import {
  connectLinkScopes,
  type Operation,
  type OperationId,
  operations,
  type Scope,
  scopeNames,
  scopesOfEvents,
  userRoles,
} from '@penstock/wire'
import { type Inbox, makeInbox } from './harness/connections.ts'
import { contentOf } from './harness/content.ts'
import { type AnyCall, addParty, type Party, scenarios } from './harness/scenarios.ts'
import { type CallOptions, type Reply, requestOf, startTestService, type TestService } from './harness/service.ts'

/** What credentials that are limited to scopes or sub-accounts may see and do, walked over every operation. */

let inbox: Inbox
let service: TestService
let owner: Party
/** A sub-account with something of everything in it, of the same organization, that no limited credential here may see. */
let elsewhere: string
before(async () => {
  inbox = await makeInbox()
  service = await startTestService(inbox.env)
  owner = await addParty(service, inbox.folder)
  const call = await scenarios.listRejects.prepare(owner)
  elsewhere = call.accountId ?? ''
})
after(async () => {
  await service.close()
  await inbox.remove()
})

type Limits = { scopes?: readonly Scope[] | null; accountIds?: readonly string[] | null; expiresTime?: number }
type Client = { clientId: string; clientSecret: string; token: string }

const tokenOf = async (credentials: { clientId: string; clientSecret: string }): Promise<string> => {
  const { clientId, clientSecret } = credentials
  const reply = await service.call('createToken', { body: { clientId, clientSecret } })
  assert.equal(reply.status, 200, reply.text)
  return reply.response.accessToken
}

/** Client credentials of the organization that are limited. */
async function limited({ scopes = null, accountIds = null, expiresTime }: Limits, by = owner): Promise<Client> {
  const body = {
    ...{ name: 'Limited', scopes: scopes && [...scopes], accountIds: accountIds && [...accountIds] },
    ...(expiresTime ? { expiresTime } : {}),
  }
  const { id: clientId, clientSecret } = await by.caller.expect(by.caller.call('createClient', { body }))
  return { clientId, clientSecret, token: await tokenOf({ clientId, clientSecret }) }
}

const send = (id: OperationId, call: AnyCall, token: string): Promise<Reply> =>
  service.send(requestOf(operations[id], { ...call, token } as CallOptions<never>))

/** A reply without what differs between two that say the same. */
function comparable({ status, text, headers }: Reply) {
  const { 'x-request-id': requestId = '', date: _, ...rest } = headers
  return { status, headers: rest, text: text.replaceAll(requestId, 'requestId') }
}

function assertForbidden(reply: Reply, field: string, message: RegExp | string): void {
  assert.deepEqual([reply.status, reply.error], [403, 'forbidden'], reply.text)
  const said = reply.details.find((one) => one.field === field)?.message ?? ''
  if (typeof message === 'string') assert.equal(said, message)
  else assert.match(said, message)
}

const unknownId = () => randomBytes(8).toString('hex')
/** The sub-account that a call acts in, wherever it names it. */
const accountOf = (id: OperationId, call: AnyCall): string | undefined => {
  const body = call.body as { accountId?: string; accountIds?: string[] } | undefined
  if (operations[id].path.startsWith('/accounts/')) return call.id
  return call.accountId ?? body?.accountId ?? body?.accountIds?.[0]
}
/** Scopes that a call needs besides that of its operation, for what its body says. */
const besides: { readonly [I in OperationId]?: readonly Scope[] } = {
  configureConnector: ['secrets:write'],
  createClient: ['accounts:read'],
  createSession: ['connections:read'],
  createConnectLink: connectLinkScopes,
  createWebhook: scopesOfEvents(null),
  getClient: ['accounts:read'],
  renameClient: ['accounts:read'],
  rotateClient: ['accounts:read'],
  revokeClient: ['accounts:read'],
  inviteUser: userRoles.editor,
  resendInvitation: userRoles.viewer,
  updateUser: userRoles.admin,
  removeUser: userRoles.viewer,
}
/** Operations on the organization, which no credential that is limited to sub-accounts can use. */
const ofOrganization: readonly string[] = [
  ...['addAccount', 'getSingleSignOn', 'setSingleSignOn', 'deleteSingleSignOn', 'getSignInRules', 'setSignInRules'],
  ...['getBranding', 'setBranding'],
]

for (const id of Object.keys(operations) as OperationId[]) {
  const operation: Operation = operations[id]
  const { scope } = operation
  if (scope === undefined) continue
  const scenario = scenarios[id]

  describe(id, () => {
    test(`is forbidden without ${scope}, whatever it names, and changes nothing`, async () => {
      const call = await scenario.prepare(owner)
      const { token } = await limited({ scopes: scopeNames.filter((name) => name !== scope) })
      const content = await contentOf(service)
      const refusals: Reply[] = []
      for (const named of [
        call,
        { ...call, id: unknownId() },
        { ...call, accountId: unknownId() },
        { ...call, body: {} },
      ]) {
        const { body, ...rest } = named
        const reply = await send(id, { ...rest, ...(call.body ? { body } : {}) } as AnyCall, token)
        assertForbidden(reply, 'scope', `${scope} is missing`)
        refusals.push(reply)
      }
      assert.equal(new Set(refusals.map((reply) => JSON.stringify(comparable(reply)))).size, 1)
      assert.equal(await contentOf(service), content)
    })

    test('works with its scope alone, in the sub-account that the credential is limited to', async () => {
      const call = await scenario.prepare(owner)
      const accountId = accountOf(id, call) ?? (await owner.caller.addAccount()).id
      const scopes = [...new Set([scope, ...(besides[id] ?? [])])]
      const { token } = await limited({ scopes, accountIds: [accountId] })
      const reply = await send(id, call, token)
      if (ofOrganization.includes(id)) return assertForbidden(reply, 'accountIds', /limited to named sub-accounts/)
      // The clients, webhooks and the people of the scenarios are not limited to sub-accounts: for this one there are none.
      const hidden = /^\/(?:clients|users|webhooks|webhook-deliveries|connect-links|alert-rules|alert-incidents)\//
      if (hidden.test(operation.path)) return assert.equal(reply.status, 404, reply.text)
      assert.equal(reply.status, scenario.status, reply.text)
      if (operation.list === 'paged' && accountOf(id, call) === undefined) assertOnlyOf(reply, accountId)
    })

    test('does not find what is in another sub-account', async () => {
      const call = await scenario.prepare(owner)
      const accountId = accountOf(id, call)
      const { id: ownAccount } = await owner.caller.addAccount()
      const { token } = await limited({ accountIds: [ownAccount] })
      const content = await contentOf(service)
      const reply = await send(id, call, token)
      if (accountId === undefined) {
        if (ofOrganization.includes(id)) assertForbidden(reply, 'accountIds', /limited to named sub-accounts/)
        else if (operation.list === 'paged' && !operation.path.includes('{id}')) assertOnlyOf(reply, ownAccount)
        else if (id !== 'getConnectorDefinition') assert.equal(reply.status, 404, reply.text)
      } else if (call.body && call.accountId === undefined && operation.method === 'POST') {
        assert.deepEqual([reply.status, reply.error], [400, 'invalid_request'], reply.text)
        assert.match(reply.text, /is not a sub-account of the organization/)
      } else {
        assert.deepEqual([reply.status, reply.error], [404, 'not_found'], reply.text)
        const unknown =
          call.accountId === undefined ? { ...call, id: unknownId() } : { ...call, accountId: unknownId() }
        assert.deepEqual(comparable(reply), comparable(await send(id, unknown, token)))
      }
      assert.equal(await contentOf(service), content)
    })
  })
}

/** Fails where a list names another sub-account, or counts what is there. */
function assertOnlyOf(reply: Reply, accountId: string): void {
  assert.equal(reply.status, 200, reply.text)
  const rows = reply.response as { id?: string; accountId?: string; accountIds?: string[] | null }[]
  for (const row of rows)
    assert.deepEqual(row.accountIds ?? row.accountId ?? row.id, row.accountIds ? [accountId] : accountId)
  assert.equal(Number(reply.headers['x-total-count']), rows.length)
  assert(!reply.text.includes(elsewhere))
}

describe('a list of a limited credential', () => {
  const lists = [
    ...(['listAccounts', 'listConnections', 'listConnectionDetails', 'listConnectorConfigurations'] as const),
    ...(['listAttention', 'listAllTransfers', 'reportAccounts'] as const),
  ] as const
  const filters: { readonly [L in (typeof lists)[number]]: readonly Record<string, string | boolean>[] } = {
    listAccounts: [{}, { q: 'a' }],
    listConnections: [
      {},
      { q: 'o' },
      { q: 'orders' },
      { status: 'active' },
      { status: 'active', q: 'Orders' },
      { q: 'local' },
    ],
    listConnectionDetails: [{}],
    listConnectorConfigurations: [{}],
    listAttention: [{}, { reason: 'transfer_partial' }],
    listAllTransfers: [{}, { latest: true }, { status: 'partial' }, { status: 'partial', latest: true }],
    reportAccounts: [{}, { q: 'a' }],
  }

  test('contains what the same list of its sub-accounts contains, one after another, and its total', async () => {
    const prepared = [await scenarios.listRejects.prepare(owner), await scenarios.listRejects.prepare(owner)]
    const accountIds = prepared.map(({ accountId = '' }) => accountId)
    const { token } = await limited({ accountIds })
    for (const list of lists) {
      for (const query of filters[list]) {
        const reply = await send(list, { query }, token)
        assert.equal(reply.status, 200, reply.text)
        const found = (reply.response as { id?: string; accountId?: string }[]).map(
          ({ id, accountId }) =>
            [accountId ?? id, list === 'listAccounts' ? id : JSON.stringify(id ?? accountId)] as const,
        )
        assert.equal(Number(reply.headers['x-total-count']), found.length, `${list} ${JSON.stringify(query)}`)
        assert.deepEqual(
          [...new Set(found.map(([accountId]) => accountId))].sort(),
          [...accountIds].sort(),
          `${list} ${JSON.stringify(query)}`,
        )
      }
    }
  })

  test('keeps to named connections and accounts that it may see', async () => {
    const mine = await scenarios.listRejects.prepare(owner)
    const { token } = await limited({ accountIds: [mine.accountId ?? ''] })
    const theirs = await send('listAllTransfers', { accountId: elsewhere }, owner.organization.token)
    const [{ connectionId = '' } = {}] = theirs.response as { connectionId?: string }[]
    for (const latest of [true, false]) {
      const connectionIds = `${connectionId},${mine.id}`
      const reply = await send('listAllTransfers', { query: { connectionIds, latest } }, token)
      assert.deepEqual(
        (reply.response as { connectionId: string }[]).map((transfer) => transfer.connectionId),
        [mine.id],
      )
      assert.equal(reply.headers['x-total-count'], '1')
    }
    const report = await send('reportAccounts', { query: { accountIds: `${elsewhere},${mine.accountId}` } }, token)
    assert.deepEqual(
      (report.response as { accountId: string }[]).map(({ accountId }) => accountId),
      [mine.accountId],
    )
  })
})

describe('secrets of connectors', () => {
  test('are saved and cleared with secrets:write alone; the rest is configured without it', async () => {
    const call = await scenarios.configureConnector.prepare(owner)
    const { token } = await limited({ scopes: ['connectors:write', 'connectors:read'] })
    assertForbidden(await send('configureConnector', call, token), 'scope', 'secrets:write is missing')
    assert.equal((await send('configureConnector', call, owner.organization.token)).status, 200)
    const configure = (secretConfig: Record<string, unknown>) =>
      send('configureConnector', { ...call, body: { secretConfig } }, token)
    assert.equal((await configure({ accessKeyId: 'AKIAOTHER', secretAccessKey: '********' })).status, 200)
    assertForbidden(await configure({ secretAccessKey: null }), 'scope', 'secrets:write is missing')
    assertForbidden(await configure({ secretAccessKey: 'canary' }), 'scope', 'secrets:write is missing')
  })
})

describe('client credentials', () => {
  test('cannot give what they do not have', async () => {
    const { id: one } = await owner.caller.addAccount()
    const scopes = ['clients:write', 'clients:read', 'accounts:read'] as const
    const narrow = await limited({ scopes, accountIds: [one] })
    const create = (body: object) => send('createClient', { body: { name: 'More', ...body } }, narrow.token)
    assertForbidden(await create({ accountIds: [one] }), 'body.scopes', /you do not have every scope/)
    assertForbidden(
      await create({ scopes: ['reports:read'], accountIds: [one] }),
      'body.scopes',
      'you do not have reports:read',
    )
    assertForbidden(await create({ scopes: ['accounts:read'] }), 'body.accountIds', /limited to named sub-accounts/)
    const foreign = await create({ scopes: ['accounts:read'], accountIds: [elsewhere] })
    assert.deepEqual([foreign.status, foreign.details[0]?.field], [400, 'body.accountIds.0'], foreign.text)
    const made = await create({ scopes: ['accounts:read'], accountIds: [one] })
    assert.equal(made.status, 201, made.text)
    const session = { accountId: one, scopes: ['accounts:read'] }
    assertForbidden(await send('createSession', { body: session }, narrow.token), 'scope', 'sessions:write is missing')
  })

  test('are listed, rotated and revoked by those alone who may do as much', async () => {
    const { id: one } = await owner.caller.addAccount()
    const strong = await limited({ scopes: ['accounts:read', 'reports:read'], accountIds: [one] })
    const weak = await limited({ scopes: ['clients:read', 'clients:write', 'accounts:read'], accountIds: [one] })
    const equal = await limited({ scopes: ['accounts:read'], accountIds: [one] })
    const listed = await send('listClients', {}, weak.token)
    const ids = (listed.response as { id: string }[]).map(({ id }) => id)
    assert.deepEqual(ids.sort(), [strong.clientId, weak.clientId, equal.clientId].sort())
    for (const id of ['renameClient', 'rotateClient', 'revokeClient'] as const) {
      const body = id === 'renameClient' ? { body: { name: 'Taken' } } : id === 'rotateClient' ? { body: {} } : {}
      assertForbidden(
        await send(id, { id: strong.clientId, ...body }, weak.token),
        'body.scopes',
        'you do not have reports:read',
      )
      assert.equal((await send(id, { id: owner.organization.clientId, ...body }, weak.token)).status, 404)
      assert.equal((await send(id, { id: equal.clientId, ...body }, weak.token)).status, 200)
    }
  })

  test('expire, and so do the tokens that they got', async () => {
    const { clientId, clientSecret, token } = await limited({ expiresTime: 4_102_444_800 })
    await service.database.pool.query(
      `update clients set expires_time = now() + interval '100 seconds' where id = $1`,
      [clientId],
    )
    const short = await service.call('createToken', { body: { clientId, clientSecret } })
    assert(short.response.expiry <= 100, `a token of ${short.response.expiry} seconds`)
    await service.database.pool.query(`update clients set expires_time = now() where id = $1`, [clientId])
    assert.equal((await send('listAccounts', {}, short.response.accessToken)).status, 401)
    assert.equal((await send('listAccounts', {}, token)).status, 401)
    assert.equal((await service.call('createToken', { body: { clientId, clientSecret } })).error, 'invalid_client')
    const past = await send('createClient', { body: { name: 'Past', expiresTime: 1 } }, owner.organization.token)
    assert.deepEqual([past.status, past.details[0]?.field], [400, 'body.expiresTime'])
  })

  test('are rotated: both secrets are accepted for a while, and no third one', async () => {
    const { clientId, clientSecret: first, token } = await limited({})
    const rotate = async (overlapHours?: number) => {
      const body = overlapHours === undefined ? {} : { overlapHours }
      const reply = await send('rotateClient', { id: clientId, body }, owner.organization.token)
      assert.equal(reply.status, 200, reply.text)
      return reply.response as { clientSecret: string; previousSecretExpiresTime: number | null }
    }
    const isRight = async (clientSecret: string) =>
      (await service.call('createToken', { body: { clientId, clientSecret } })).status === 200
    const second = await rotate(1)
    assert(second.previousSecretExpiresTime && second.previousSecretExpiresTime > Date.now() / 1000 + 3_500)
    assert.deepEqual([await isRight(first), await isRight(second.clientSecret)], [true, true])
    const bound = await service.call('createToken', { body: { clientId, clientSecret: first } })
    assert(bound.response.expiry <= 3_600, 'a token lives no longer than the secret that it was issued for')
    const third = await rotate()
    assert.deepEqual(
      [await isRight(first), await isRight(second.clientSecret), await isRight(third.clientSecret)],
      [false, true, true],
    )
    assert.equal((await send('listAccounts', {}, token)).status, 200)
    const fourth = await rotate(0)
    assert.equal(fourth.previousSecretExpiresTime, null)
    assert.deepEqual([await isRight(third.clientSecret), await isRight(fourth.clientSecret)], [false, true])
    assert.equal((await send('listAccounts', {}, token)).status, 401)
  })

  test('are revoked at once, with their sessions; repeating it changes nothing', async () => {
    const { id: accountId } = await owner.caller.addAccount()
    const { clientId, clientSecret, token } = await limited({})
    const session = await send('createSession', { body: { accountId, scopes: ['accounts:read'] } }, token)
    const { accessToken } = session.response as { accessToken: string }
    assert.equal((await send('listAccounts', {}, accessToken)).status, 200)
    const revoke = () => send('revokeClient', { id: clientId }, owner.organization.token)
    const revoked = await revoke()
    assert.equal(revoked.status, 200)
    assert.equal((await send('listAccounts', {}, token)).status, 401)
    assert.equal((await send('listAccounts', {}, accessToken)).status, 401)
    assert.equal((await service.call('createToken', { body: { clientId, clientSecret } })).error, 'invalid_client')
    assert.deepEqual((await revoke()).response, revoked.response)
    for (const [id, body] of [
      ['renameClient', { name: 'Again' }],
      ['rotateClient', {}],
    ] as const) {
      assert.equal((await send(id, { id: clientId, body }, owner.organization.token)).error, 'client_revoked')
    }
    const listed = await send('listClients', { query: { size: 500 } }, owner.organization.token)
    assert(!listed.text.includes(clientId))
  })

  test('say when they were last used, and never their secret', async () => {
    const { clientId, clientSecret } = await limited({})
    const reply = await send('getClient', { id: clientId }, owner.organization.token)
    const { lastUsedTime } = reply.response as { lastUsedTime: number }
    assert(Math.abs(lastUsedTime - Date.now() / 1000) < 60)
    assert(!reply.text.includes(clientSecret))
  })

  test('get tokens many at once, while they are rotated and renamed', async () => {
    const { clientId, clientSecret } = await limited({})
    const token = owner.organization.token
    await service.database.pool.query(`update clients set last_used_time = null where id = $1`, [clientId])
    const replies = await Promise.all(
      Array.from({ length: 60 }, (_, i) =>
        i === 7
          ? send('rotateClient', { id: clientId, body: { overlapHours: 24 } }, token)
          : i % 20 === 13
            ? send('renameClient', { id: clientId, body: { name: `Name ${i}` } }, token)
            : service.call('createToken', { body: { clientId, clientSecret } }),
      ),
    )
    const wrong = replies.filter(({ status }) => status !== 200)
    assert.deepEqual(
      wrong.map(({ text }) => text),
      [],
    )
  })
})

describe('a session', () => {
  test('acts in its sub-account, with its scopes, for its time, and makes nothing that lasts longer', async () => {
    const call = await scenarios.getConnection.prepare(owner)
    const { accountId = '' } = call
    const body = { accountId, scopes: ['connections:read', 'connectors:read'], expiry: 60 }
    const made = await send('createSession', { body }, owner.organization.token)
    const session = made.response as { accessToken: string; expiry: number; sessionId: string }
    assert(session.expiry <= 60 && session.expiry > 50)
    assert.equal((await send('getConnection', call, session.accessToken)).status, 200)
    assert.equal((await send('listConnections', { accountId: elsewhere }, session.accessToken)).status, 404)
    assertForbidden(await send('deleteConnection', call, session.accessToken), 'scope', 'connections:write is missing')
    assertForbidden(await send('createSession', { body }, session.accessToken), 'scope', 'sessions:write is missing')
    const unused = await send('createSession', { body }, owner.organization.token)
    const { sessionId, accessToken } = unused.response as typeof session
    await service.database.pool.query(`update tokens set expires_time = now() where session_id = $1`, [sessionId])
    assert.equal((await send('getConnection', call, accessToken)).status, 401)
  })

  test('has no scope that lets it give access', async () => {
    const { id: accountId } = await owner.caller.addAccount()
    for (const scope of scopeNames.filter((name) =>
      /^(clients|sessions|users|organization|audit|webhooks):|^accounts:write/.test(name),
    )) {
      const reply = await send('createSession', { body: { accountId, scopes: [scope] } }, owner.organization.token)
      assert.deepEqual([reply.status, reply.error], [400, 'invalid_request'], scope)
    }
  })
})

describe('Idempotency-Key', () => {
  test('of a limited credential is its own', async () => {
    const { id: accountId } = await owner.caller.addAccountWithSides()
    const headers = { 'idempotency-key': unknownId() }
    const body = (await scenarios.createConnection.prepare(owner)).body ?? {}
    const call = { accountId, body, headers }
    const [one, other] = [await limited({ accountIds: [accountId] }), await limited({ accountIds: [accountId] })]
    const ids = []
    for (const token of [owner.organization.token, one.token, other.token, one.token, owner.organization.token]) {
      const reply = await send('createConnection', call, token)
      assert.equal(reply.status, 201, reply.text)
      ids.push((reply.response as { id: string }).id)
    }
    assert.equal(new Set(ids).size, 3)
    assert.deepEqual([ids[3], ids[4]], [ids[1], ids[0]])
  })
})

test('roles are scopes, each with all of the next', () => {
  const { owner: owners, admin, editor, viewer } = userRoles
  assert.deepEqual([...owners], [...scopeNames])
  for (const [more, less] of [
    [owners, admin],
    [admin, editor],
    [editor, viewer],
  ] as const) {
    assert(less.length < more.length && less.every((scope) => (more as readonly Scope[]).includes(scope)))
  }
  assert((viewer as readonly Scope[]).every((scope) => scope.endsWith(':read') && scope !== 'records:read'))
})
