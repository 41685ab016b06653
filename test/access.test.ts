import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { connectors } from '@penstock/connectors'
import {
  connectLinkScopes,
  limits,
  type Operation,
  type OperationId,
  operations,
  type Scope,
  scopeNames,
  scopesOfEvents,
  userRoles,
} from '@penstock/wire'
import { contentOf } from './harness/content.ts'
import { source } from './harness/fixtures.ts'
import { recordStatements } from './harness/recorded-statements.ts'
import { type AnyCall, addParty, scenarios } from './harness/scenarios.ts'
import { type CallOptions, type Reply, requestOf } from './harness/service.ts'
import { startTestsWithInbox } from './harness/started.ts'

import { newEmail } from './harness/users.ts'

/** Permissions of credentials that are limited to scopes or sub-accounts, for every operation. */

const { service, inbox } = await startTestsWithInbox()
const owner = await addParty(service, inbox.folder)
/** A sub-account of the same organization, with one of every kind of resource, that no limited credential here can see. */
const { accountId: elsewhere = '' } = await scenarios.listRejects.prepare(owner)

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
    name: 'Limited',
    scopes: scopes && [...scopes],
    accountIds: accountIds && [...accountIds],
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
/** Scopes that a call needs in addition to its operation's scope, because of its body. */
const besides: { readonly [I in OperationId]?: readonly Scope[] } = {
  configureConnector: ['secrets:write'],
  createConnectorConfiguration: ['secrets:write'],
  askSource: ['records:read'],
  tryDestination: ['records:read', 'transfers:run'],
  createClient: ['accounts:read'],
  createSession: ['connections:read'],
  createConnectLink: connectLinkScopes,
  createAlertRule: ['alerts:read'],
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
  'addAccount',
  'verifyAudit',
  'getSingleSignOn',
  'setSingleSignOn',
  'deleteSingleSignOn',
  'getSignInRules',
  'setSignInRules',
  'getBranding',
  'setBranding',
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
      // The clients, webhooks and people of the scenarios are not limited to sub-accounts, so a limited credential sees none of
      // them.
      const hidden =
        /^\/(?:clients|users|webhooks|webhook-deliveries|connect-links|alert-rules|alert-incidents|mapping-templates)\//
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
        else if (!['getConnectorDefinition', 'listConnectorWords', 'getUsage'].includes(id))
          assert.equal(reply.status, 404, reply.text)
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

/** Fails if a list contains another sub-account or counts it. */
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
    ...(['listAttention', 'listAllTransfers', 'reportAccounts', 'listAccountFigures'] as const),
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
      { sort: 'name' },
      { sort: '-lastTransfer', status: 'active' },
      { owner: 'none' },
      { owner: 'none', sort: 'nextTransfer', q: 'o' },
    ],
    listConnectionDetails: [{}],
    listConnectorConfigurations: [{}],
    listAttention: [{}, { reason: 'transfer_partial' }],
    listAllTransfers: [{}, { latest: true }, { status: 'partial' }, { status: 'partial', latest: true }],
    reportAccounts: [{}, { q: 'a' }],
    listAccountFigures: [{}, { q: 'a' }, { failing: false }, { sort: '-incident' }, { sort: 'rows' }],
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
            [accountId ?? id, /^listAccount/.test(list) ? id : JSON.stringify(id ?? accountId)] as const,
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

describe('what all sub-accounts share', () => {
  /** Copies a row of a sub-account until there are `total` rows. */
  const fill = (table: string, columns: string, values: string, id: string, total: number) =>
    service.database.pool.query(
      `insert into ${table} (id, ${columns}) select 'f' || substr(md5(random()::text), 1, 15), ${values}
       from ${table}, generate_series(2, $2::int) n where id = $1`,
      [id, total],
    )

  test('is not used up by one of them', async () => {
    const party = await addParty(service, inbox.folder)
    const { caller } = party
    const [one, other] = [(await caller.addAccountWithSides()).id, (await caller.addAccountWithSides()).id]
    const [inOne, inOther] = [
      await limited({ accountIds: [one] }, party),
      await limited({ accountIds: [other] }, party),
    ]
    const audiences = connectors.find(({ slug }) => slug === 'meta-custom-audiences')?.id
    const rule = (accountId: string) => ({ name: 'Failures', accountId, conditions: { transferFailed: true } })
    const kinds = {
      createAlertRule: {
        body: (accountId: string) => rule(accountId),
        most: limits.alertRulesOfAccountMax,
        table: 'alert_rules',
        made: ({ id }: { id: string }) => id,
        columns: 'organization_id, account_id, name, transfer_failed, connection_broken, emails, email_roles',
        values: 'organization_id, account_id, name, transfer_failed, connection_broken, emails, email_roles',
      },
      createMappingTemplate: {
        body: (accountId: string) => ({
          name: 'People',
          accountId,
          destConnectorId: audiences,
          mapping: '{"email_sha256": "E-mail"}',
        }),
        most: limits.mappingTemplatesOfAccountMax,
        table: 'mapping_templates',
        made: ({ id }: { id: string }) => id,
        columns: 'organization_id, account_id, name, dest_connector_id, mapping, fields, created_by',
        values: 'organization_id, account_id, name, dest_connector_id, mapping, fields, created_by',
      },
      createConnectLink: {
        body: (accountId: string) => ({ accountId, connectorIds: [source.id] }),
        most: limits.connectLinksOfAccountMax,
        table: 'connect_links',
        made: ({ id }: { id: string }) => id,
        columns: 'organization_id, account_id, digest, connector_ids, configuration_ids, expires_time',
        values:
          "organization_id, account_id, sha256(convert_to(id || n, 'UTF8')), connector_ids, configuration_ids, expires_time",
      },
      createClient: {
        body: (accountId: string) => ({ name: 'Key', accountIds: [accountId] }),
        // The credentials that ask are one of them.
        most: limits.clientsOfAccountMax - 1,
        table: 'clients',
        made: ({ id }: { id: string }) => id,
        columns: 'organization_id, secret_digest, account_ids',
        values: 'organization_id, secret_digest, account_ids',
      },
      inviteUser: {
        body: (accountId: string) => ({ email: newEmail(), role: 'viewer', accountIds: [accountId] }),
        most: limits.usersOfAccountMax,
        table: 'users',
        made: (reply: { user?: { id: string } }) => reply.user?.id ?? '',
        columns: 'organization_id, email, role, account_ids',
        values: 'organization_id, n || email, role, account_ids',
      },
    } as const
    for (const [id, { body, most, table, made, columns, values }] of Object.entries(kinds)) {
      const create = (accountId: string, { token }: Client) => send(id as OperationId, { body: body(accountId) }, token)
      const first = await create(one, inOne)
      assert.equal(first.status, 201, first.text)
      await fill(table, columns, values, made(first.response as never), most)
      const more = await create(one, inOne)
      assert.deepEqual([more.status, more.error], [409, 'quota_exceeded'], `${id} ${more.text}`)
      assert.match(more.details[0]?.message ?? '', /of a sub-account|limited to a sub-account/)
      assert.equal((await create(other, inOther)).status, 201, id)
    }
  })
})

describe('a setting of a connection that says where a secret goes', () => {
  test('is for those who may write secrets', async () => {
    const { id: accountId } = await owner.caller.addAccount()
    const marketingCloud =
      connectors.find(({ slug }) => slug === 'salesforce-marketing-cloud-data-extensions')?.id ?? ''
    const connectorIds = [source.id, marketingCloud]
    await owner.caller.expect(owner.caller.call('addConnectors', { accountId, body: { connectorIds } }))
    const settings = (subdomain: string) => ({ operationType: 'Add Data', subdomain, dataExtensionKey: 'Key' })
    const body = { name: 'Rows', srcConnectorId: source.id, destConnectorId: marketingCloud }
    const create = (token: string, subdomain?: string) =>
      send(
        'createConnection',
        {
          accountId,
          body: subdomain === undefined ? body : { ...body, destConnectionConfig: settings(subdomain) },
        },
        token,
      )
    const scopes = ['connections:read', 'connections:write', 'transfers:run'] as const
    const { token } = await limited({ scopes, accountIds: [accountId] })
    assertForbidden(await create(token, 'elsewhere'), 'scope', 'secrets:write is missing')
    const { id } = (await create(owner.organization.token, 'acme')).response as { id: string }
    const update = (by: string, subdomain: string) =>
      send('updateConnection', { accountId, id, body: { destConnectionConfig: settings(subdomain) } }, by)
    assertForbidden(await update(token, 'elsewhere'), 'scope', 'secrets:write is missing')
    assert.equal((await update(token, 'acme')).status, 200)
    // Nor for a single transfer or preview.
    const elsewhereOnce = { accountId, id, body: { destConnectionConfig: settings('elsewhere') } }
    for (const once of ['startTransfer', 'previewConnection'] as const) {
      const run = await limited({ scopes: ['transfers:run', 'records:read'], accountIds: [accountId] })
      assertForbidden(await send(once, elsewhereOnce, run.token), 'scope', 'secrets:write is missing')
      const same = { ...elsewhereOnce, body: { destConnectionConfig: settings('acme') } }
      assert.equal((await send(once, same, run.token)).status, 409)
    }
    assert.equal((await create(token)).status, 201)
    const both = await limited({ scopes: [...scopes, 'secrets:write'], accountIds: [accountId] })
    assert.equal((await update(both.token, 'elsewhere')).status, 200)
  })
})

describe('no one gets more than they were given', () => {
  const elsewhereUrl = 'https://elsewhere.example.com/'
  /** Every single scope, the scopes of every role except the owner's, and all of them by name. */
  const given: readonly (readonly [string, readonly Scope[]])[] = [
    ...scopeNames.map(
      (scope) => [`${scope} and webhooks:write`, [...new Set([scope, 'webhooks:write' as const])]] as const,
    ),
    ...(['admin', 'editor', 'viewer'] as const).map((role) => [`the scopes of ${role}`, userRoles[role]] as const),
    ['every scope by name', scopeNames],
  ]
  test('whatever the scopes: by moving a webhook, by replays, and by what signs people in', async () => {
    const party = await addParty(service, inbox.folder)
    const { token } = party.organization
    const { id = '' } = await scenarios.getWebhook.prepare(party)
    await party.caller.addAccount()
    await limited({ scopes: ['accounts:read'] }, party)
    const log = (await send('listWebhookDeliveries', { id }, token)).response as {
      id: string
      eventType: string
    }[]
    assert(['account.created', 'client.created'].every((type) => log.some(({ eventType }) => eventType === type)))
    const ofClient = log.find(({ eventType }) => eventType === 'client.created')?.id ?? ''
    await service.database.pool.query(`update webhook_deliveries set status = 'failed' where webhook_id = $1`, [id])
    const needed = [...scopesOfEvents(null), 'webhooks:write' as const]
    const hasAll = (scopes: readonly Scope[]) => needed.every((scope) => scopes.includes(scope))
    for (const [what, scopes] of given) {
      const key = await limited({ scopes }, party)
      const content = await contentOf(service)
      const statuses: [number, string][] = []
      const attempt = async (operation: OperationId, call: AnyCall) =>
        statuses.push([(await send(operation, call, key.token)).status, operation])
      await attempt('setSingleSignOn', await scenarios.setSingleSignOn.prepare(party))
      await attempt('deleteSingleSignOn', {})
      await attempt('setSignInRules', { body: { secondFactorRequired: false } })
      await attempt('inviteUser', { body: { email: newEmail(), role: 'owner' } })
      await attempt('createClient', { body: { name: 'More' } })
      if (!hasAll(scopes)) {
        await attempt('updateWebhook', { id, body: { url: elsewhereUrl } })
        await attempt('updateWebhook', { id, body: { url: elsewhereUrl, eventTypes: ['webhook.test'] } })
        await attempt('replayWebhook', { id, body: { since: 1 } })
        if (!scopes.includes('clients:read')) await attempt('replayWebhookDelivery', { id: ofClient })
      }
      assert.deepEqual(
        statuses.filter(([status]) => status !== 403),
        [],
        what,
      )
      assert.equal(await contentOf(service), content, what)
    }
  })
})

describe('who may write alert rules alone', () => {
  test('has nothing sent anywhere: a message has names that it takes alerts:read to read', async () => {
    const { accountId = '', id: connectionId } = await scenarios.getConnection.prepare(owner)
    const { token } = await limited({ scopes: ['alerts:write'], accountIds: [accountId] })
    const body = { name: 'Mine', accountId, conditions: { transferFailed: true }, emails: ['me@elsewhere.example.com'] }
    assertForbidden(await send('createAlertRule', { body }, token), 'scope', 'alerts:read is missing')
    const made = await send('createAlertRule', { body: { ...body, enabled: false } }, owner.organization.token)
    const { id } = made.response as { id: string }
    const update = (change: object) => send('updateAlertRule', { id, body: change }, token)
    for (const change of [
      { emails: ['you@elsewhere.example.com'] },
      { emailRoles: ['viewer'] },
      { slackUrl: 'https://elsewhere.example.com/' },
      { teamsUrl: 'https://elsewhere.example.com/' },
      { enabled: true },
      { connectionIds: [connectionId] },
      { conditions: { connectionBroken: true } },
    ]) {
      assertForbidden(await update(change), 'scope', 'alerts:read is missing')
    }
    for (const change of [{ name: 'Stopped' }, { enabled: false }, { slackUrl: '********' }]) {
      assert.equal((await update(change)).status, 200)
    }
    const both = await limited({ scopes: ['alerts:write', 'alerts:read'], accountIds: [accountId] })
    assert.equal((await send('createAlertRule', { body }, both.token)).status, 201)
  })
})

describe('a sub-account of another organization', () => {
  test('is looked for in the database like one that does not exist, also while it is cached', async () => {
    const stranger = await service.addOrganization()
    const list = (accountId: string, { token } = stranger) => send('listConnections', { accountId }, token)
    const first = async () => assert.equal((await list(elsewhere, owner.organization)).status, 200)
    await first()
    await list(unknownId())
    await service.service.settleAudit()
    const statements = recordStatements(service.database.pool)
    await list(unknownId())
    const expected = statements.splice(0)
    assert(expected.length > 0)
    for (let round = 0; round < 3; round++) {
      await first()
      statements.length = 0
      const foreign = await list(elsewhere)
      assert.deepEqual(statements.splice(0), expected)
      assert.deepEqual(comparable(foreign), comparable(await list(unknownId())))
    }
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
