import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { AttentionEntry, AttentionReason } from '@penstock/wire'
import type pg from 'pg'
import { attentionOf, rankOf } from '../packages/server/src/attention/queries.ts'
import { openSession } from '../packages/server/src/db/session.ts'
import { addClient } from '../packages/server/src/organizations/credentials.ts'
import { addConnection, addFolder, type Connection, type Inbox, localFolder, makeInbox } from './harness/connections.ts'
import { createTestDatabase } from './harness/database.ts'
import { type Caller, callerOf, destination, source } from './harness/fixtures.ts'
import {
  accountId,
  loadAccounts,
  organizationIds,
  prepareToLoad,
  settle,
  usedConnectors,
  withoutIndexes,
} from './harness/many-connections.ts'
import { loadPairsOfTransfers } from './harness/many-transfers.ts'
import { assertPlansOf } from './harness/plans.ts'
import { recordStatements } from './harness/recorded-statements.ts'
import { startServiceOn, startTestService, type TestService } from './harness/service.ts'
import { large } from './harness/tiers.ts'

/** The connections that need attention, and why. Their pages are tested in paging.test.ts. No worker runs. */

const transferError = { code: 'access_refused', message: 'The folder may not be written to.', side: 'Destination' }

describe('the list of connections that need attention', () => {
  let inbox: Inbox
  let service: TestService
  let caller: Caller
  let account: string
  let elsewhere: string
  const ids = new Map<string, string>()
  before(async () => {
    inbox = await makeInbox()
    service = await startTestService(inbox.env)
    caller = callerOf(service, await service.addOrganization())
    account = (await caller.addAccountWithSides('Here')).id
    await addFolder(caller, account, inbox.folder)
    await add('never ran')
    await add('runs well', 'failed', 'succeeded')
    await add('runs', 'running')
    await add('waits', 'queued')
    await add('was cancelled', 'failed', 'cancelled')
    await add('rejected some', 'partial')
    await add('tries again', 'running with an error')
    await add('waits to try again', 'queued with an error')
    await add('failed', 'succeeded', 'failed')
    await move(await add('is offline', 'succeeded'), 'offline')
    await move(await add('is broken', 'failed'), 'broken')
    await move(await add('is disabled', 'failed'), 'disabled', 'active')
    const { id: gone } = await add('is deleted', 'failed')
    await caller.expect(caller.call('deleteConnection', { accountId: account, id: gone }))
    await draft('draft', localFolder.id, localFolder.id)
    await draft('half a draft', localFolder.id, destination.id)
    await draft('empty draft', source.id, destination.id)
    await move(
      { accountId: account, id: await draft('disabled draft', source.id, destination.id) },
      'disabled',
      'active',
    )
    elsewhere = (await caller.addAccount('Elsewhere')).id
    await addFolder(caller, elsewhere, inbox.folder)
    await run(await addConnection(caller, elsewhere, 'failed elsewhere'), 'failed')
    const stranger = callerOf(service, await service.addOrganization())
    const { id } = await stranger.addAccount()
    await addFolder(stranger, id, inbox.folder)
    await move(await addConnection(stranger, id, 'of a stranger'), 'broken')
  })
  after(async () => {
    await service.close()
    await inbox.remove()
  })

  const sql = (text: string, ...values: unknown[]) => service.database.pool.query(text, values)
  const move = ({ id }: Connection, status: string, previous: string | null = null) =>
    sql('update connections set status = $2, previous_status = $3 where id = $1', id, status, previous)

  /** Leaves a transfer of a connection as a worker would. */
  async function run(connection: Connection, outcome: string): Promise<void> {
    const [status, hasError] = [outcome.split(' ')[0], outcome.endsWith('error') || outcome === 'failed']
    await sql(
      `insert into transfers (id, organization_id, account_id, connection_id, src_connector_id, dest_connector_id, status,
         trigger, read, sent, accepted, rejected, finished_time, error_code, error_message, error_side)
       select substr(md5(id || count.n), 1, 16), organization_id, account_id, id, src_connector_id, dest_connector_id, $2,
         'manual', 20, 20, 18, 2, case when $2 not in ('queued', 'running') then to_timestamp(1700000000) end, $3, $4, $5
       from connections cross join lateral (select count(*) as n from transfers where connection_id = $1) count
       where id = $1`,
      connection.id,
      status,
      ...(hasError ? Object.values(transferError) : [null, null, null]),
    )
  }

  async function add(name: string, ...outcomes: string[]): Promise<Connection> {
    const connection = await addConnection(caller, account, name)
    ids.set(name, connection.id)
    for (const outcome of outcomes) await run(connection, outcome)
    return connection
  }

  async function draft(name: string, srcConnectorId: string, destConnectorId: string): Promise<string> {
    const body = { name, srcConnectorId, destConnectorId }
    return (await caller.expect(caller.call('createConnection', { accountId: account, body }))).id
  }

  async function list(query: Record<string, string | number>, accountId?: string): Promise<AttentionEntry[]> {
    const { status, text, response, headers } = await caller.call('listAttention', {
      query,
      ...(accountId ? { accountId } : {}),
    })
    assert.equal(status, 200, text)
    assert.equal(headers['x-total-count'], String(response.length))
    return response
  }
  const reported = async (...asked: Parameters<typeof list>) =>
    (await list(...asked)).map(({ name, reasons }) => `${name}: ${reasons.join(', ')}`)

  const here = [
    'is broken: broken, transfer_failed',
    'is offline: offline',
    'failed: transfer_failed',
    'waits to try again: transfer_retrying',
    'tries again: transfer_retrying',
    'rejected some: transfer_partial',
    'empty draft: not_configured',
    'half a draft: not_configured',
  ]

  test('has each once, with every reason, the worst first and of one reason the newest', async () => {
    assert.deepEqual(await reported({}, account), here)
    assert.deepEqual(await reported({}, elsewhere), ['failed elsewhere: transfer_failed'])
    assert.deepEqual(await reported({}), here.toSpliced(2, 0, 'failed elsewhere: transfer_failed'))
  })

  test('keeps those with a reason, be it the worst or another one', async () => {
    for (const reason of [
      'broken',
      'offline',
      'transfer_failed',
      'transfer_retrying',
      'transfer_partial',
      'not_configured',
    ] satisfies AttentionReason[]) {
      const kept = here.filter((line) => line.split(': ')[1]?.split(', ').includes(reason))
      assert(kept.length > 0)
      assert.deepEqual(await reported({ reason }, account), kept)
    }
    assert.equal((await caller.call('listAttention', { query: { reason: 'tired' } })).status, 400)
  })

  test('keeps connections that fail, or the others', async () => {
    assert.deepEqual(await reported({ failing: 'true' }, account), here.slice(0, 5))
    assert.deepEqual(await reported({ failing: 'false' }, account), here.slice(5))
    assert.deepEqual(await reported({ failing: 'true', reason: 'transfer_failed' }, account), [here[0], here[2]])
    assert.equal((await caller.call('listAttention', { query: { failing: 'maybe' }, accountId: account })).status, 400)
  })

  test('says what it takes to act: the sides, which of them are not configured, and the newest transfer', async () => {
    const [broken, ...others] = await list({}, account)
    const id = ids.get('is broken') ?? ''
    const { src, dest } = await caller.expect(caller.call('getConnection', { accountId: account, id }))
    assert.deepEqual(broken, {
      id,
      accountId: account,
      accountName: 'Here',
      name: 'is broken',
      status: 'broken',
      src,
      dest,
      srcConfigurationId: null,
      destConfigurationId: null,
      reasons: ['broken', 'transfer_failed'],
      notConfigured: [],
      lastTransfer: {
        id: broken?.lastTransfer?.id,
        status: 'failed',
        finishedTime: 1_700_000_000,
        records: { read: 20, sent: 20, accepted: 18, rejected: 2 },
        error: { ...transferError, side: 'destination', connectorId: localFolder.id },
      },
    })
    const named = (name: string) => others.find((entry) => entry.name === name) ?? assert.fail(name)
    assert.deepEqual(named('empty draft').notConfigured, ['source', 'destination'])
    assert.equal(named('empty draft').lastTransfer, null)
    const half = named('half a draft')
    assert.deepEqual(half.notConfigured, ['destination'])
    assert.deepEqual([half.src.configured, half.dest.configured], [true, false])
    assert.equal(half.dest.connectorId, destination.id)
    const retrying = named('tries again').lastTransfer
    assert.deepEqual(
      [retrying?.status, retrying?.finishedTime, retrying?.error?.code],
      ['running', null, 'access_refused'],
    )
  })

  test('is without a deleted account, and has its connections no longer', async () => {
    const { id } = await caller.addAccount('Short-lived')
    await addFolder(caller, id, inbox.folder)
    await run(await addConnection(caller, id, 'failed in passing'), 'failed')
    assert.equal((await reported({ reason: 'transfer_failed' })).length, 4)
    await caller.expect(caller.call('deleteAccount', { id }))
    assert.equal((await reported({ reason: 'transfer_failed' })).length, 3)
  })

  test('is one statement, for a page in the middle and for one beyond the end', async () => {
    await list({}, account)
    const statements = recordStatements(service.database.pool)
    for (const query of [{}, { size: 2, offset: 2 }, { size: 2, offset: 100 }, { reason: 'offline' }]) {
      for (const scope of [{}, { accountId: account }]) {
        statements.length = 0
        const { status, headers } = await caller.call('listAttention', { query: { ...query }, ...scope })
        const total = 'reason' in query ? 1 : here.length + ('accountId' in scope ? 0 : 1)
        assert.deepEqual([status, headers['x-total-count']], [200, String(total)])
        assert.equal(statements.length, 1, statements.join('\n\n'))
      }
    }
  })
})

describe('among ten thousand connections of an account', large, () => {
  const huge = { id: accountId(0), connections: 10_000 }
  const accounts = 1_000
  const size = 50
  let service: TestService
  let session: pg.Client
  let token: string
  before(async () => {
    const { url, drop } = await createTestDatabase()
    session = await openSession(url, 'test')
    await prepareToLoad(session)
    await withoutIndexes(session, async () => {
      await loadAccounts(session, { first: 0, last: 0, connectionsEach: huge.connections })
      await loadAccounts(session, { first: 1, last: accounts, connectionsEach: 20 })
    })
    await loadPairsOfTransfers(session, huge.id)
    // A connector of some accounts, the huge one among them, is not configured.
    await session.query('update configurations set configured = false where connector_id = $1 and account_id < $2', [
      usedConnectors.find((one) => one.destination && !one.source)?.id,
      accountId(20),
    ])
    await settle(session)
    service = await startServiceOn(url, {}, drop)
    const credentials = await service.database.transaction((tx) => addClient(tx, organizationIds.most))
    token = (await service.call('createToken', { body: credentials })).response.accessToken
  })
  after(async () => {
    await session.end()
    await service.close()
  })

  /** Reading is limited by what is found, however much else there is. */
  const assertReadsWhatIsFound = async (found: number) => {
    const filter = { organizationId: organizationIds.most, accountId: huge.id, size, offset: 0 }
    const cases = [null, rankOf('offline')].flatMap((reason) =>
      (['account', 'organization'] as const).map((scope) => ({
        title: `of the ${scope}, reason ${reason}`,
        statement: attentionOf[scope],
        parameters: { ...filter, reason, failing: null },
      })),
    )
    await assertPlansOf(session, cases, (plan, { title }) => {
      const rowsMax = 6 * found + 20 * size + (title.startsWith('of the organization') ? 2 * accounts : 0)
      return plan.rowsRead > rowsMax && `${plan.rowsRead} rows read for ${found} that are found`
    })
  }
  /** How many there are, as the first page says. */
  const totalOf = async () => {
    const { status, text, headers, response } = await service.send({
      method: 'GET',
      path: `/es/v2/attention?size=${size}`,
      headers: { authorization: `Bearer ${token}` },
    })
    assert.equal(status, 200, text)
    assert.equal((response as AttentionEntry[]).length, size)
    return Number(headers['x-total-count'])
  }

  test('it takes one statement, which reads what needs attention', async () => {
    const total = await totalOf()
    assert(total > 1_000 && total < huge.connections / 2, `${total}`)
    const statements = recordStatements(service.database.pool)
    assert.equal(await totalOf(), total)
    assert.equal(statements.length, 1, statements.join('\n\n'))
    await assertReadsWhatIsFound(total)
  })

  test('it takes one statement where every one of them needs attention', async () => {
    await session.query(`update transfers set status = 'failed', error_code = 'unreachable' where latest`)
    await settle(session)
    const statements = recordStatements(service.database.pool)
    const total = await totalOf()
    assert(total > 0.8 * huge.connections, `${total}`)
    assert.equal(statements.length, 1, statements.join('\n\n'))
    await assertReadsWhatIsFound(total)
  })
})
