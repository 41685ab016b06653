import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { limits, type Operation, type OperationId, operations, type TSchema, writes } from '@penstock/wire'
import { purgeAudit } from '../packages/server/src/audit/audit.ts'
import { createAuditLinker } from '../packages/server/src/audit/link.ts'
import { content } from '../packages/server/src/audit/queries.ts'
import { record, recordNow } from '../packages/server/src/audit/record.ts'
import { openHeadSeal } from '../packages/server/src/audit/seal-heads.ts'
import { type Expected, type Tampering, verifyAudit } from '../packages/server/src/audit/verify.ts'
import type { Db } from '../packages/server/src/db/database.ts'
import { onSession, openSession } from '../packages/server/src/db/session.ts'
import { dumpDatabase, placesOf } from './harness/dump.ts'
import { callerOf, destinationSecrets, source, sourceSecrets } from './harness/fixtures.ts'
import { type AnyCall, addParty, callOf, type Party, scenarios } from './harness/scenarios.ts'
import type { CallOptions, Organization, Reply } from './harness/service.ts'
import { withSession } from './harness/session.ts'
import { startTestsWithInbox } from './harness/started.ts'
import { large } from './harness/tiers.ts'
import { goodPassword } from './harness/users.ts'

/** The audit log: every change, sign-in, refusal and reveal has its event, with its actor, and no event can be altered unseen. */

const { service, inbox } = await startTestsWithInbox()
const party = await addParty(service, inbox.folder)

type Row = {
  organization_id: string
  number: number
  actor_kind: string
  actor_id: string | null
  actor_name: string | null
  address: string | null
  request_id: string | null
  action: string
  account_id: string | null
  target_id: string | null
  outcome: string
  before: Record<string, unknown> | null
  after: Record<string, unknown> | null
  details: Record<string, unknown> | null
}
const sql = async <R = Row>(text: string, ...values: unknown[]): Promise<R[]> =>
  (await service.database.pool.query(text, values)).rows
/** Events of the log after queued events were linked. */
const linked = async <R = Row>(text: string, ...values: unknown[]): Promise<R[]> => {
  await service.service.deps.auditLinker.settle(null)
  return sql<R>(text, ...values)
}
const eventsOf = (organizationId: string) =>
  linked('select * from audit_events where organization_id = $1 order by number', organizationId)
const eventsOfRequest = ({ headers }: Pick<Reply, 'headers'>) =>
  linked('select * from audit_events where request_id = $1', headers['x-request-id'])
const headSealOf = (db: Db) => openHeadSeal(db, service.service.deps.keyring)
const verify = async (organizationId: string | null, expected?: Expected) => {
  await service.service.deps.auditLinker.settle(null)
  return verifyAudit(
    service.database,
    await openHeadSeal(service.database, service.service.deps.keyring),
    organizationId,
    expected,
  )
}
const tamperingOf = async (organizationId: string, expected?: Expected) => {
  const [verified] = await verify(organizationId, expected)
  return verified?.tampering
}
const aClient = async (
  party: Pick<Party, 'caller' | 'organization'>,
  grants: { scopes?: ['accounts:read'] | null; accountIds?: string[] } = {},
) => {
  const { caller } = party
  const { id, clientSecret } = await caller.expect(caller.call('createClient', { body: { name: 'Key', ...grants } }))
  const reply = await service.call('createToken', { body: { clientId: id, clientSecret } })
  const organization: Organization = {
    organizationId: party.organization.organizationId,
    clientId: id,
    clientSecret,
    token: reply.response.accessToken,
  }
  return { ...organization, caller: callerOf(service, organization) }
}

/** An organization without people, whose log contains only events of the test. */
const anOrganization = async () => {
  const organization = await service.addOrganization()
  return { organization, caller: callerOf(service, organization) }
}

/** Whether the contract marks a key as secret. */
const isSecret = ({ format, anyOf = [] }: { format?: string; anyOf?: readonly { format?: string }[] }): boolean =>
  [format, ...anyOf.map((one) => one.format)].includes('password')

/** The secrets of a reply, by what the contract says of it. */
function secretsOf(schema: TSchema, value: unknown): string[] {
  const { properties = {} } = schema as { properties?: Record<string, TSchema & { format?: string }> }
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => {
    const inside = properties[key]
    if (!inside) return []
    return isSecret(inside) ? (inner === null ? [] : [String(inner)]) : secretsOf(inside, inner)
  })
}

describe('every operation', () => {
  const secrets = new Set<string>([sourceSecrets.secretAccessKey, destinationSecrets.password, goodPassword])
  /** Operations that begin a session or set a password. They have separate transactions. */
  const signsIn: readonly string[] = [
    'createToken',
    'signIn',
    'acceptInvitation',
    'changePassword',
    'resetPassword',
    'signInWithPasskey',
    'setSingleSignOn',
    'openConnectPage',
    'finishConnectPage',
  ]

  /** They change nothing here, but reach a platform. */
  const reaching: readonly OperationId[] = ['tryDestination', 'eraseAtDestination']

  for (const [name, scenario] of Object.entries(scenarios)) {
    const id = name as OperationId
    const operation: Operation = operations[id]
    const isRecorded =
      writes(operation) || reaching.includes(id) || operation.scope === 'records:read' || signsIn.includes(id)
    const isOfPerson = operation.person || (operation.actsIn === 'public' && id !== 'createToken')
    test(`${id}: ${isRecorded ? 'has one event, with its actor' : 'has none'}`, async () => {
      const call = await scenario.prepare(party)
      const { organization } = party
      const reply = await service.call(id, callOf(party, id, call) as CallOptions<never>)
      assert.equal(reply.status, scenario.status, reply.text)
      for (const secret of secretsOf(operation.reply, reply.response)) secrets.add(secret)
      const [event, ...more] = await eventsOfRequest(reply)
      // An erasure is recorded before the platform is asked, and with its outcomes.
      assert.equal(more.length, id === 'eraseAtDestination' ? 1 : 0)
      if (!isRecorded) return assert.equal(event, undefined)
      assert(event)
      const { organizationId, clientId } = organization
      if (id.endsWith('ConnectPage')) {
        assert.deepEqual(
          [event.organization_id, event.actor_kind, event.actor_id, event.action, event.outcome, event.address],
          [organizationId, 'link', event.target_id, id, 'done', '127.0.0.1'],
        )
        return
      }
      if (isOfPerson) {
        const [person] = await sql<{ organization: string }>(
          'select organization_id as organization from users where id = $1',
          event.actor_id,
        )
        assert.deepEqual(
          [event.organization_id, event.actor_kind, person?.organization, event.action, event.outcome, event.address],
          [organizationId, 'user', organizationId, id, 'done', '127.0.0.1'],
        )
        return
      }
      assert.deepEqual(
        [event.organization_id, event.actor_kind, event.actor_id, event.actor_name, event.action, event.outcome],
        [organizationId, 'client', clientId, 'First client', id, 'done'],
      )
      assert.equal(event.address, '127.0.0.1')
      if (call.accountId) assert.equal(event.account_id, call.accountId)
      if (call.id) assert.equal(event.target_id, call.id)
      if (call.transferId) assert.equal(event.details?.transferId, call.transferId)
      const created = (reply.response as { id?: string }).id
      if (!call.id && created) assert.equal(event.target_id, created)
      if (operation.method === 'DELETE' && id !== 'deleteConnection' && id !== 'revokeClient') {
        assert(event.before && !event.after)
      } else if (writes(operation)) assert(event.after)
    })
  }

  test('has no secret in its event: not in the table, not in a dump, not in the log', async () => {
    assert(secrets.size > 6, [...secrets].join(' '))
    const lines = await linked<{ line: string }>('select e::text as line from audit_events e')
    const events = lines.map(({ line }) => line).join('\n')
    const dump = await dumpDatabase(service.database.pool)
    for (const secret of [...secrets, party.organization.clientSecret, party.organization.token]) {
      assert.deepEqual(placesOf(secret, events), [])
      assert.deepEqual(placesOf(secret, dump), [])
      assert.deepEqual(placesOf(secret, service.logLines.join('\n')), [])
    }
  })

  test('marks each secret of its reply: what is returned once is marked, and is the only thing that is', () => {
    const marked = Object.entries<Operation>(operations).flatMap(([id, { reply }]) =>
      Object.entries((reply as { properties?: Record<string, { format?: string }> }).properties ?? {}).flatMap(
        ([key, schema]) => (isSecret(schema) ? [`${id} ${key}`] : []),
      ),
    )
    assert.deepEqual(marked.sort(), [
      'acceptInvitation csrfToken',
      'authorizeConnector url',
      'changePassword csrfToken',
      'createClient clientSecret',
      'createConnectLink url',
      'createSession accessToken',
      'createStreamKey key',
      'createToken accessToken',
      'createTrigger url',
      'createWebhook secret',
      'getMe csrfToken',
      'inviteUser link',
      'openConnectPage accessToken',
      'resendInvitation link',
      'rotateClient clientSecret',
      'rotateWebhookSecret secret',
      'signIn csrfToken',
      'signInWithPasskey csrfToken',
      'updateMe csrfToken',
    ])
    // Whatever cannot be kept to be repeated is a secret, in the reply or in the cookie.
    const unrepeatable = Object.entries<Operation>(operations).flatMap(([id, one]) => (one.unrepeatable ? [id] : []))
    const sessions = ['signOut', 'endMySessions', 'registerPasskey']
    for (const id of unrepeatable) assert(sessions.includes(id) || marked.some((line) => line.startsWith(`${id} `)), id)
  })
})

describe('an event', () => {
  test('of a change has what changed and nothing else', async () => {
    const { caller } = party
    const { id } = await caller.addAccount('Before')
    const edited = await caller.call('editAccount', { id, body: { name: 'After' } })
    const [event] = await eventsOfRequest(edited)
    assert.deepEqual([event?.before, event?.after], [{ name: 'Before' }, { name: 'After' }])
    const { id: accountId } = await caller.addAccountWithSides()
    const connection = await caller.createConnection(accountId)
    const updated = await caller.call('updateConnection', {
      accountId,
      id: connection.id,
      body: { srcConnectionConfig: { bucketUri: 's3://other/' } },
    })
    const [update] = await eventsOfRequest(updated)
    assert.deepEqual(update?.before, { srcConnectionConfig: { bucketUri: 's3://bucket/prefix' } })
    assert.deepEqual(update?.after, { srcConnectionConfig: { bucketUri: 's3://other/' } })
  })

  test('of a configuration names the secrets that were saved and cleared', async () => {
    const { caller } = party
    const { id: accountId } = await caller.addAccountWithSides()
    const configured = await caller.call('configureConnector', {
      accountId,
      id: source.id,
      body: { secretConfig: sourceSecrets },
    })
    const [event] = await eventsOfRequest(configured)
    const { configurationId } = configured.response as { configurationId: string }
    assert.deepEqual(event?.details, { configurationId, secretsSaved: ['secretAccessKey'], secretsCleared: [] })
    assert.deepEqual(event?.after?.settings, { accessKeyId: sourceSecrets.accessKeyId })
    assert(!JSON.stringify(event).includes(sourceSecrets.secretAccessKey))
  })

  test('is not there where nothing was changed: refused, repeated, or replayed by its key', async () => {
    const { caller } = party
    const { id } = await caller.addAccount('Same')
    const headers = { 'idempotency-key': `key of ${id}` }
    const body = { name: 'Once' }
    const first = await caller.call('addAccount', { body, headers })
    const unchanged = [
      await caller.call('editAccount', { id, body: { name: 'Same' } }),
      await caller.call('editAccount', { id, body: { name: 'New' }, headers: { 'if-match': '"stale"' } }),
      await caller.call('addAccount', { body: { name: '' } }),
      await caller.call('addAccount', { body, headers }),
    ]
    assert.equal((await eventsOfRequest(first)).length, 1)
    for (const reply of unchanged) assert.deepEqual(await eventsOfRequest(reply), [], reply.text)
  })

  test('is not there where its transaction was rolled back, and a change is not where its event cannot be', async () => {
    const { organizationId } = party.organization
    const actor = { kind: 'service', id: null, name: null } as const
    const count = async () => (await eventsOf(organizationId)).length
    const before = await count()
    const failing = service.database.transaction(async (tx) => {
      record(tx, { organizationId, actor, action: 'failing' })
      throw new Error('fails')
    })
    await assert.rejects(failing, /fails/)
    assert.equal(await count(), before)
    const { id } = await party.caller.addAccount('Stays')
    await sql(`alter table audit_queue add constraint full_disk check (action <> 'editAccount') not valid`)
    const edited = await party.caller.call('editAccount', { id, body: { name: 'Gone' } })
    await sql('alter table audit_queue drop constraint full_disk')
    assert.equal(edited.status, 500)
    const account = await party.caller.expect(party.caller.call('getAccount', { id }))
    assert.equal(account.name, 'Stays')
  })

  test('of a session names its client as well', async () => {
    const { caller, organization } = party
    const { id: accountId } = await caller.addAccountWithSides()
    const { accessToken, sessionId } = await caller.expect(
      caller.call('createSession', { body: { accountId, scopes: ['connections:write'] } }),
    )
    const { id } = await caller.createConnection(accountId)
    const renamed = await service.call('updateConnection', {
      token: accessToken,
      accountId,
      id,
      body: { name: 'By a session' },
    })
    const [event] = await eventsOfRequest(renamed)
    assert.deepEqual([event?.actor_kind, event?.actor_id], ['session', sessionId])
    assert.deepEqual(event?.details, { clientId: organization.clientId })
  })
})

describe('sign-ins and refusals', () => {
  test('a refusal has an event with the missing scope, and equal ones a count', async () => {
    const { caller, clientId, organizationId } = await aClient(party, { scopes: ['accounts:read'] })
    for (const name of ['One', 'Two', 'Three']) {
      assert.equal((await caller.call('addAccount', { body: { name } })).status, 403)
    }
    const foreign = await caller.call('listConnections', { accountId: 'ffffffffffffffff' })
    assert.equal(foreign.status, 403)
    await service.service.settleAudit()
    const events = (await eventsOf(organizationId)).filter((event) => event.actor_id === clientId)
    assert.deepEqual(
      events.slice(1).map(({ action, outcome, details }) => ({ action, outcome, ...details })),
      [
        { action: 'addAccount', outcome: 'refused', reason: 'scope: accounts:write is missing', times: 3 },
        { action: 'listConnections', outcome: 'refused', reason: 'scope: connections:read is missing', times: 1 },
      ],
    )
  })

  test('a sign-in has an event, and failed ones of a client that exists one with their count', async () => {
    const { clientId, organizationId } = await aClient(party)
    const wrong = { clientId, clientSecret: 'wrong' }
    const count = async () => Number((await linked<{ n: string }>('select count(*) as n from audit_events'))[0]?.n)
    const before = await count()
    for (let tries = 0; tries < 3; tries++) {
      assert.equal((await service.call('createToken', { body: wrong })).status, 401)
    }
    const unknown = { clientId: 'ffffffffffffffff', clientSecret: 'wrong' }
    assert.equal((await service.call('createToken', { body: unknown })).status, 401)
    assert.equal(await count(), before, 'nothing is written while the requests are answered')
    await service.service.settleAudit()
    const events = (await eventsOf(organizationId)).filter((event) => event.actor_id === clientId)
    assert.deepEqual(
      events.map(({ action, outcome, details }) => [action, outcome, details?.times]),
      [
        ['createToken', 'done', undefined],
        ['createToken', 'failed', 3],
      ],
    )
    assert.equal(await count(), before + 1)
  })
})

describe('the list', () => {
  const list = async (caller: Party['caller'], options: CallOptions<'listAudit'> = {}) => {
    const reply = await caller.call('listAudit', options)
    assert.equal(reply.status, 200, reply.text)
    return { events: reply.response, total: Number(reply.headers['x-total-count']) }
  }

  test('is newest first, paged, and filtered by actor, action, target, sub-account and time', async () => {
    const { caller, organization } = await anOrganization()
    const [one, other] = [await caller.addAccountWithSides('One'), await caller.addAccountWithSides('Other')]
    await caller.expect(caller.call('editAccount', { id: one.id, body: { name: 'Edited' } }))
    const all = await list(caller)
    const actions = ['editAccount', 'addConnectors', 'addAccount', 'addConnectors', 'addAccount', 'createToken']
    assert.deepEqual(
      all.events.map(({ action }) => action),
      [...actions, 'org create'],
    )
    assert.equal(all.total, 7)
    const page = await list(caller, { query: { size: 2, offset: 2 } })
    assert.deepEqual([page.events, page.total], [all.events.slice(2, 4), 7])
    const ofOne = await list(caller, { accountId: one.id })
    assert.deepEqual(ofOne, { events: all.events.filter(({ accountId }) => accountId === one.id), total: 3 })
    const added = await list(caller, { query: { action: 'addAccount' } })
    assert.deepEqual([added.events.map(({ targetId }) => targetId), added.total], [[other.id, one.id], 2])
    assert.equal((await list(caller, { query: { targetId: one.id } })).total, 2)
    assert.equal((await list(caller, { query: { actorId: organization.clientId } })).total, 6)
    const nowSeconds = Math.floor(Date.now() / 1000)
    assert.equal((await list(caller, { query: { from: nowSeconds - 60, to: nowSeconds + 60 } })).total, 7)
    assert.equal((await list(caller, { query: { from: nowSeconds + 60 } })).total, 0)
    assert.equal((await list(caller, { query: { to: nowSeconds - 60 } })).total, 0)
  })

  test('is searched by the name of the actor, of the object as it is now, the action in words and the values', async () => {
    const { caller, organization } = await anOrganization()
    const one = await caller.addAccountWithSides('Warehouse north')
    await caller.addAccount('Elsewhere')
    await caller.expect(caller.call('editAccount', { id: one.id, body: { name: 'Lagerhaus 50%' } }))
    const found = async (q: string, more: CallOptions<'listAudit'> = {}) => {
      const { events, total } = await list(caller, { ...more, query: { ...more.query, q } })
      assert.equal(total, events.length)
      return events.map(({ action, targetName }) => `${action} ${targetName}`)
    }
    assert.deepEqual(await found('lagerHAUS'), ['editAccount Lagerhaus 50%', 'addAccount Lagerhaus 50%'])
    assert.deepEqual(await found('haus 50%'), await found('lagerhaus'))
    assert.deepEqual(await found('warehouse north'), ['editAccount Lagerhaus 50%', 'addAccount Lagerhaus 50%'])
    assert.deepEqual(await found('edit account'), ['editAccount Lagerhaus 50%'])
    assert.deepEqual(await found('elsewhere', { accountId: one.id }), [])
    assert.deepEqual(await found(source.id, { accountId: one.id }), ['addConnectors null'])
    assert.deepEqual(await found('nowhere at all'), [])
    for (const q of ['%%%', '___', 'a', '\\\\\\', '\u{1f600}\u{1f600}\u{1f600}', "'; drop", '((((', '日本']) {
      const { status } = await caller.call('listAudit', { query: { q } })
      assert(status === 200 || status === 400, `${q}: ${status}`)
    }
    const headers = { authorization: `Bearer ${organization.token}`, accept: 'application/x-ndjson' }
    const { text } = await service.send({ method: 'GET', path: '/es/v2/audit?q=lagerhaus', headers })
    assert.equal(text.trimEnd().split('\n').length, 2)
  })

  test('is verified in parts, and a changed, removed or cut-off event is found', async () => {
    const { caller, organization } = await anOrganization()
    const { organizationId } = organization
    const actor = { kind: 'service', id: null, name: null } as const
    const more = Array.from({ length: limits.auditVerifiedMax + 20 }, () => ({
      organizationId,
      actor,
      action: 'filled',
    }))
    await service.database.transaction(async (tx) => record(tx, ...more))
    const verify = async (after?: number) =>
      caller.expect(caller.call('verifyAudit', { query: after === undefined ? {} : { after } }))
    const first = await verify()
    assert.deepEqual(
      [first.events, first.next, first.problem],
      [limits.auditVerifiedMax, limits.auditVerifiedMax, null],
    )
    const last = await verify(first.next ?? 0)
    assert.deepEqual([last.number, last.next, last.problem, last.sealed], [first.lastNumber, null, null, true])
    assert.deepEqual([(await verify(1_000_000)).problem, (await verify(last.number)).events], [null, 0])
    const at = limits.auditVerifiedMax + 7
    const change = async (sql: string, number: number) => {
      await service.database.pool.query('alter table audit_events disable trigger user')
      await service.database.pool.query(sql, [organizationId, number])
      await service.database.pool.query('alter table audit_events enable trigger user')
    }
    await change(`update audit_events set action = 'other' where organization_id = $1 and number = $2`, at)
    assert.equal((await verify()).problem, null)
    assert.match((await verify(limits.auditVerifiedMax)).problem?.message ?? '', /^Event 5007 was changed/)
    await change('delete from audit_events where organization_id = $1 and number = $2', at)
    assert.match((await verify(limits.auditVerifiedMax)).problem?.message ?? '', /^Event 5007 is missing/)
    await change('delete from audit_events where organization_id = $1 and number >= $2', at)
    assert.match((await verify(limits.auditVerifiedMax)).problem?.message ?? '', /ends with event 5006/)
  })

  test('is streamed whole as NDJSON, in which each event has the hash of the one before', async () => {
    const { caller, organization } = await anOrganization()
    await Promise.all(Array.from({ length: 30 }, (_, i) => caller.addAccount(`Account ${i}`)))
    const actor = { kind: 'service', id: null, name: null } as const
    const { organizationId } = organization
    const more = Array.from({ length: 2_500 }, () => ({ organizationId, actor, action: 'filled' }))
    await service.database.transaction(async (tx) => record(tx, ...more))
    const headers = { authorization: `Bearer ${organization.token}`, accept: 'application/x-ndjson' }
    const { text } = await service.send({ method: 'GET', path: '/es/v2/audit', headers })
    const events = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.equal(events.length, 2_532)
    for (const [i, event] of events.entries()) {
      assert.equal(event.number, 2_532 - i)
      assert.equal(event.previousHash, events[i + 1]?.hash ?? null)
    }
    const filtered = await service.send({ method: 'GET', path: '/es/v2/audit?action=addAccount', headers })
    assert.equal(filtered.text.trimEnd().split('\n').length, 30)
  })

  test('shows an actor who is limited to sub-accounts what concerns these alone', async () => {
    const own = await anOrganization()
    const [one, other] = [await own.caller.addAccount('One'), await own.caller.addAccount('Other')]
    const { caller } = await aClient(own, { accountIds: [one.id] })
    for (const [edit, { id }] of [one, other, one].entries()) {
      await own.caller.expect(own.caller.call('editAccount', { id, body: { name: `Name ${edit}` } }))
    }
    const { events, total } = await list(caller)
    assert.deepEqual(
      [events.length, total, new Set(events.map(({ accountId }) => accountId))],
      [3, 3, new Set([one.id])],
    )
    assert.equal((await caller.call('listAudit', { accountId: other.id })).status, 404)
    const numbers = events.map(({ number }) => number)
    assert.deepEqual(
      numbers,
      numbers.toSorted((a, b) => b - a),
    )
    const streamed = await caller.call('listAudit', { headers: { accept: 'text/html, application/json' } })
    assert.equal(streamed.response.length, 3)
  })
})

describe('10,000 operations of several actors at once', () => {
  const operationsTotal = 10_000
  type Done = { organizationId: string; action: string; actorId: string; accountId: string | null }

  test('each has its event with its actor, request and sub-account, and the chains verify', {
    ...large,
    timeout: 240_000,
  }, async () => {
    const parties = await Promise.all([1, 2, 3].map(anOrganization))
    const actors = await Promise.all(
      parties.flatMap((own) =>
        [0, 1, 2].map(async () => {
          const { id: accountId } = await own.caller.addAccountWithSides()
          const { id: connectionId } = await own.caller.createConnection(accountId)
          const { id: clientId } = await own.caller.expect(own.caller.call('createClient', { body: { name: 'Other' } }))
          const client = await aClient(own)
          const reader = await aClient(own, { scopes: ['accounts:read'] })
          return { ...client, reader, accountId, connectionId, otherId: clientId }
        }),
      ),
    )
    const expected = new Map<string, Done>()
    const others: Reply[] = []
    let refused = 0
    let next = 0
    const kinds: ((i: number, actor: (typeof actors)[number]) => Promise<void>)[] = [
      (i, { otherId, ...by }) => done(by, 'renameClient', { id: otherId, body: { name: `Name ${i}` } }, null),
      (i, by) => done(by, 'editAccount', { id: by.accountId, body: { name: `Name ${i}` } }, by.accountId),
      (_, by) => done(by, 'addAccount', { body: { name: 'Added' } }),
      (i, by) =>
        done(by, 'updateConnection', { accountId: by.accountId, id: by.connectionId, body: { name: `Name ${i}` } }),
      (i, by) =>
        done(by, 'configureConnector', {
          accountId: by.accountId,
          id: source.id,
          body: { secretConfig: { accessKeyId: `AKIA${i}`, secretAccessKey: 'secret' } },
        }),
      async (_, { caller }) => void others.push(await caller.call('listAccounts')),
      async (_, { caller, accountId }) => void others.push(await caller.call('getAccount', { id: accountId })),
      async (_, { caller }) => void others.push(await caller.call('addAccount', { body: { name: ' ' } })),
      async (_, { reader }) => {
        refused++
        others.push(await reader.caller.call('addAccount', { body: { name: 'Refused' } }))
      },
    ]
    const done = async (
      by: Pick<(typeof actors)[number], 'caller' | 'organizationId' | 'clientId'>,
      action: OperationId,
      call: AnyCall,
      accountId?: string | null,
    ) => {
      const reply = (await by.caller.call(action, call as CallOptions<never>)) as Reply<{ id: string }>
      assert(reply.status < 300, reply.text)
      const of = accountId === undefined ? (call.accountId ?? reply.response.id) : accountId
      const requestId = reply.headers['x-request-id'] ?? ''
      expected.set(requestId, { organizationId: by.organizationId, action, actorId: by.clientId, accountId: of })
    }
    const work = async () => {
      for (let i = next++; i < operationsTotal; i = next++) {
        const actor = actors[i % actors.length]
        const kind = kinds[Math.floor(i / actors.length) % kinds.length]
        assert(actor && kind)
        await kind(i, actor)
      }
    }
    await Promise.all(Array.from({ length: 20 }, work))
    await service.service.settleAudit()
    assert.equal(expected.size + others.length, operationsTotal)
    const organizationIds = parties.map(({ organization }) => organization.organizationId)
    const rows = await linked('select * from audit_events where organization_id = any($1)', organizationIds)
    const byRequest = Map.groupBy(rows, (row) => row.request_id)
    for (const [requestId, { organizationId, action, actorId, accountId }] of expected) {
      assert.deepEqual(
        byRequest
          .get(requestId)
          ?.map((row) => [row.organization_id, row.action, row.actor_id, row.account_id, row.outcome]),
        [[organizationId, action, actorId, accountId, 'done']],
      )
    }
    const ofReaders = rows.filter(({ outcome }) => outcome === 'refused')
    assert.equal(
      ofReaders.reduce((sum, { details }) => sum + Number(details?.times), 0),
      refused,
    )
    const counted = rows.filter(({ outcome, request_id }) => outcome === 'done' && expected.has(request_id ?? ''))
    assert.equal(counted.length, expected.size)
    for (const id of organizationIds) assert.equal(await tamperingOf(id), undefined)
  })
})

describe('linking', () => {
  const actor = { kind: 'service', id: null, name: null } as const
  const linker = () => createAuditLinker(service.database, service.service.deps.keyring, service.service.app.log)
  const actionsOf = async (organizationId: string) =>
    (await sql('select action from audit_events where organization_id = $1 order by number', organizationId)).map(
      ({ action }) => action,
    )

  test('several processes link each event once, in the order of their transactions', async () => {
    const ids = ['linking-a', 'linking-b', 'linking-c']
    const linkers = [linker(), linker(), linker()]
    for (let i = 0; i < 40; i++) {
      const entries = ids.map((organizationId) => ({ organizationId, actor, action: `a${i}` }))
      await recordNow(service.database, entries)
      linkers[i % 3]?.wake()
      if (i % 10 === 9) await Promise.all(linkers.map((one) => one.settle(null)))
    }
    await Promise.all(linkers.map((one) => one.close()))
    for (const id of ids) {
      assert.deepEqual(
        await actionsOf(id),
        Array.from({ length: 40 }, (_, i) => `a${i}`),
      )
      const [verified] = await verify(id)
      assert.deepEqual([verified?.tampering, verified?.sealed, verified?.waiting], [undefined, true, 0])
    }
  })

  test('events of a transaction that is open for long follow events linked meanwhile, and none is lost', async () => {
    const organizationId = 'linking-late'
    const { promise: open, resolve: end } = Promise.withResolvers<void>()
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
    const late = service.database.transaction(async (tx) => {
      await recordNow(tx, [{ organizationId, actor, action: 'late' }])
      begin()
      await open
    })
    await begun
    await recordNow(service.database, [{ organizationId, actor, action: 'early' }])
    await service.service.settleAudit()
    assert.deepEqual(await actionsOf(organizationId), ['early'])
    end()
    await late
    const [waiting] = await verifyAudit(service.database, await headSealOf(service.database), organizationId)
    assert.equal(waiting?.waiting, 1)
    await service.service.settleAudit()
    assert.deepEqual(await actionsOf(organizationId), ['early', 'late'])
    assert.equal(await tamperingOf(organizationId), undefined)
  })

  test('a process that dies while it links leaves the queue and the log as they were', async () => {
    const organizationId = 'linking-dies'
    await recordNow(
      service.database,
      [1, 2, 3].map((n) => ({ organizationId, actor, action: `a${n}` })),
    )
    const dying = await openSession(service.databaseUrl, 'dying')
    await dying.query('begin')
    await dying.query('select * from link_audit_events(1000, 0, true)')
    const settled = service.service.settleAudit()
    await sql('select pg_terminate_backend($1)', (dying as unknown as { processID: number }).processID)
    await settled
    await dying.end().catch(() => {})
    assert.deepEqual(await actionsOf(organizationId), ['a1', 'a2', 'a3'])
    assert.equal(await tamperingOf(organizationId), undefined)
  })

  test('events that a process of an earlier version writes are chained at once, and sealed later', async () => {
    const organizationId = 'linking-earlier'
    await recordNow(service.database, [{ organizationId, actor, action: 'queued' }])
    await service.service.settleAudit()
    await sql(
      `insert into audit_events (organization_id, actor_kind, action, outcome) values ($1, 'service', 'earlier', 'done')`,
      organizationId,
    )
    const [before] = await verify(organizationId)
    assert.deepEqual([before?.tampering, before?.sealed, before?.number], [undefined, false, 2])
    await recordNow(service.database, [{ organizationId, actor, action: 'again' }])
    const [after] = await verify(organizationId)
    assert.deepEqual([after?.tampering, after?.sealed, after?.number], [undefined, false, 3])
    await linker().sealEnds()
    const [sealed] = await verify(organizationId)
    assert.deepEqual([sealed?.tampering, sealed?.sealed], [undefined, true])
  })

  test('a log that was cut off is not sealed by events that follow', async () => {
    const organizationId = 'linking-cut'
    await recordNow(
      service.database,
      ['one', 'two', 'three'].map((action) => ({ organizationId, actor, action })),
    )
    await service.service.settleAudit()
    await sql('delete from audit_events where organization_id = $1 and number > 1', organizationId)
    await sql(
      `update audit_heads h set number = 1, hash = e.hash from audit_events e
       where h.organization_id = $1 and e.organization_id = $1 and e.number = 1`,
      organizationId,
    )
    for (const action of ['four', 'five', 'six']) {
      await recordNow(service.database, [{ organizationId, actor, action }])
      await service.service.settleAudit()
      await linker().sealEnds()
      assert.equal((await tamperingOf(organizationId))?.kind, 'not sealed by this service')
    }
  })
})

describe('verification', () => {
  let organizationId: string
  before(async () => {
    const own = await anOrganization()
    organizationId = own.organization.organizationId
    for (let i = 0; i < 12; i++) await own.caller.addAccount(`Account ${i}`)
  })

  /** Tampers in a transaction that is rolled back, as someone does who can write everything and turns the trigger off. */
  const afterTampering = async (statements: string, expected?: Expected): Promise<Tampering | undefined> => {
    await service.service.settleAudit()
    return withSession(service.databaseUrl, async (session) => {
      await session.query('begin')
      await session.query(
        `alter table audit_events disable trigger user; ${statements.replaceAll(':id', `'${organizationId}'`)}`,
      )
      const db = onSession(session)
      const headSeal = await openHeadSeal(db, service.service.deps.keyring)
      const [verified] = await verifyAudit(db, headSeal, organizationId, expected)
      await session.query('rollback')
      return verified?.tampering
    })
  }
  const ofEvents = 'organization_id = :id and number'
  const copied = `organization_id, number, time, actor_kind, actor_id, actor_name, address, request_id, action, account_id,
    target_id, outcome, before, after, details, previous_hash, hash`

  for (const [what, statements, kind, number] of [
    ['a changed actor', `update audit_events set actor_name = 'Mallory' where ${ofEvents} = 5`, 'changed', 5],
    ['a changed value', `update audit_events set after = after || '{"name":"x"}' where ${ofEvents} = 5`, 'changed', 5],
    [
      'a changed time',
      `update audit_events set time = time + interval '1 microsecond' where ${ofEvents} = 5`,
      'changed',
      5,
    ],
    [
      'a hash that fits a changed event',
      `update audit_events e set action = 'x' where ${ofEvents} = 5; update audit_events e set hash = sha256(convert_to(${content}, 'UTF8')) where ${ofEvents} = 5`,
      'unlinked',
      6,
    ],
    ['a missing event', `delete from audit_events where ${ofEvents} = 5`, 'missing', 5],
    [
      'a missing event whose gap is closed',
      `delete from audit_events where ${ofEvents} = 5; update audit_events set number = -number where ${ofEvents} > 5; update audit_events set number = -1 - number where ${ofEvents} < 0; update audit_heads set number = number - 1 where organization_id = :id`,
      'changed',
      5,
    ],
    [
      'two events in another order',
      `update audit_events set number = -5 where ${ofEvents} = 5; update audit_events set number = 5 where ${ofEvents} = 6; update audit_events set number = 6 where ${ofEvents} = -5`,
      'changed',
      5,
    ],
    [
      'an inserted event',
      `update audit_events set number = -number where ${ofEvents} > 5; update audit_events set number = 1 - number where ${ofEvents} < 0; insert into audit_events (${copied}) select ${copied.replace('number', '6')} from audit_events where ${ofEvents} = 5; update audit_heads set number = number + 1 where organization_id = :id`,
      'changed',
      6,
    ],
    [
      'an added event',
      `insert into audit_events (${copied}) select ${copied.replace('number', '15')} from audit_events where ${ofEvents} = 5`,
      'added',
      15,
    ],
    ['a log that is cut off', `delete from audit_events where ${ofEvents} > 10`, 'cut off', 11],
    ['a log that begins later', `delete from audit_events where ${ofEvents} < 4`, 'missing', 1],
    ['a log whose head is gone', 'delete from audit_heads where organization_id = :id', 'cut off', 0],
    [
      'a head with another hash',
      `update audit_heads set hash = sha256('x') where organization_id = :id`,
      'unlinked',
      14,
    ],
  ] as const) {
    test(`finds ${what}`, async () => {
      const tampering = await afterTampering(statements)
      assert.deepEqual([tampering?.kind, tampering?.number], [kind, number], tampering?.message)
    })
  }

  test('finds a log that was cut off or written again, its head included: by its seal or by what was kept elsewhere', async () => {
    const [verified] = await verify(organizationId)
    assert(verified && !verified.tampering)
    assert.equal(verified.sealed, true)
    const { number, hash } = verified
    assert.equal(await tamperingOf(organizationId, { number, hash }), undefined)
    const cut = `delete from audit_events where ${ofEvents} > 10;
      update audit_heads h set number = 10, hash = e.hash from audit_events e
      where h.organization_id = :id and e.organization_id = :id and e.number = 10`
    const unsealed =
      '; update audit_heads set sealed_number = null, sealed_hash = null, seal = null where organization_id = :id'
    assert.equal((await afterTampering(cut))?.kind, 'not sealed by this service')
    const moved = cut.replace('set number = 10', 'set sealed_number = 10, sealed_hash = e.hash, number = 10')
    assert.equal((await afterTampering(moved))?.kind, 'not sealed by this service')
    assert.equal((await afterTampering(cut + unsealed, { number, hash }))?.kind, 'cut off')
    const rewritten = `update audit_events set actor_name = 'Mallory' where ${ofEvents} = 5;
      do $$ declare n bigint; last bytea; begin
        for n in 1..14 loop
          update audit_events set previous_hash = last where ${ofEvents} = n;
          update audit_events e set hash = sha256(convert_to(${content}, 'UTF8')) where ${ofEvents} = n returning hash into last;
        end loop;
        update audit_heads set hash = last where organization_id = :id;
      end $$`
    assert.equal((await afterTampering(rewritten))?.kind, 'not sealed by this service')
    assert.equal((await afterTampering(rewritten + unsealed, { number, hash }))?.kind, 'not as expected')
  })

  test('is of what anyone can compute: the hash is SHA-256 of the content', async () => {
    const rows = await sql<{ content: string; hash: Buffer }>(
      `select ${content} as content, hash from audit_events e where organization_id = $1`,
      organizationId,
    )
    for (const { content, hash } of rows) assert.deepEqual(createHash('sha256').update(content).digest(), hash)
  })

  test('still succeeds once the retention removed the oldest events, and finds one that is missing behind them', async () => {
    const { organization, caller } = await anOrganization()
    const own = organization.organizationId
    for (let i = 0; i < 5; i++) await caller.addAccount('Account')
    await service.service.settleAudit()
    // Written as long ago: the times are part of the chain.
    await sql('alter table audit_events disable trigger user')
    await sql(
      `update audit_events set time = time - interval '10 days' where organization_id = $1 and number <= 3`,
      own,
    )
    await sql(
      `do $$ declare n bigint; last bytea; begin
        for n in 1..7 loop
          update audit_events set previous_hash = last where organization_id = '${own}' and number = n;
          update audit_events e set hash = sha256(convert_to(${content}, 'UTF8')) where organization_id = '${own}' and number = n
            returning hash into last;
        end loop;
        update audit_heads set hash = last, sealed_number = null, sealed_hash = null, seal = null where organization_id = '${own}';
      end $$`,
    )
    await sql('alter table audit_events enable trigger user')
    assert.equal(await tamperingOf(own), undefined)
    assert.equal(await purgeAudit(service.database, 0), 0)
    assert.equal(await purgeAudit(service.database, 9), 3)
    assert.equal(await purgeAudit(service.database, 9), 0)
    assert.deepEqual(
      (await eventsOf(own)).map(({ number }) => Number(number)),
      [4, 5, 6, 7],
    )
    assert.equal(await tamperingOf(own), undefined)
    const { headers } = await caller.call('listAudit')
    assert.equal(headers['x-total-count'], '4')
    await caller.addAccount('Later')
    assert.equal(await tamperingOf(own), undefined)
    await sql('delete from audit_events where organization_id = $1 and number = 4', own)
    assert.equal((await tamperingOf(own))?.kind, 'missing')
  })
})
