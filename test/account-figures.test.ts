import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type AccountFigures, accountFiguresOrders } from '@penstock/wire'
import type pg from 'pg'
import { type FiguresFilter, figuresList, usage } from '../packages/server/src/accounts/figures-queries.ts'
import { openSession } from '../packages/server/src/db/session.ts'
import { addConnection, addFolder, type Connection } from './harness/connections.ts'
import { createTestDatabase } from './harness/database.ts'
import { type Caller, callerOf } from './harness/fixtures.ts'
import {
  accountId,
  loadAccounts,
  organizationIds,
  prepareToLoad,
  settle,
  withoutIndexes,
} from './harness/many-connections.ts'
import { assertPlansOf } from './harness/plans.ts'
import { recordStatements } from './harness/recorded-statements.ts'
import { startTestsWithInbox } from './harness/started.ts'
import { large } from './harness/tiers.ts'

/** Sub-accounts in figures. No worker runs. */

const { service, inbox } = await startTestsWithInbox({ env: { PENSTOCK_QUOTA_CONNECTIONS: '30' } })

describe('the figures of sub-accounts', () => {
  let caller: Caller
  let organizationId: string
  const ids: Record<string, string> = {}
  before(async () => {
    const organization = await service.addOrganization()
    ;({ organizationId } = organization)
    caller = callerOf(service, organization)
    for (const name of ['Acme Outdoor', 'Urban Bikes', 'Rheinmode', 'Empty']) {
      const { id } = await caller.addAccountWithSides(name)
      ids[name] = id
      if (name !== 'Empty') await addFolder(caller, id, inbox.folder)
    }
    const acme = ids['Acme Outdoor'] ?? ''
    await move(await addConnection(caller, acme, 'broken and failed'), 'broken', 'failed')
    await move(await addConnection(caller, acme, 'offline'), 'offline')
    await move(await addConnection(caller, acme, 'failed'), 'active', 'failed')
    await move(await addConnection(caller, acme, 'runs well'), 'active', 'succeeded')
    await move(await addConnection(caller, acme, 'disabled'), 'disabled', 'failed')
    const urban = ids['Urban Bikes'] ?? ''
    await move(await addConnection(caller, urban, 'failed too'), 'active', 'failed')
    await addConnection(caller, urban, 'never ran')
    await addConnection(caller, ids.Rheinmode ?? '', 'fine')
    const month = `to_char(now() at time zone 'UTC', 'YYYY-MM')`
    await sql(`update accounts set monthly_volume = 50, volume_month = ${month} where id = $1`, ids.Rheinmode)
    await sql(`update accounts set monthly_volume = 99, volume_month = '2026-01' where id = $1`, urban)
    await sql(
      `insert into organization_rows (organization_id, month, stripe, rows) values ($1, ${month}, 0, 30), ($1, ${month}, 3, 25)`,
      organizationId,
    )
    await open('failed', 1_700_000_000, 1_700_000_900)
    await open('offline', 1_700_001_000, null)
    await open('broken and failed', 1_700_000_500, null)
    await open('failed too', 1_700_002_000, 1_700_002_500)
  })

  const sql = (text: string, ...values: unknown[]) => service.database.pool.query(text, values)
  async function move({ id }: Connection, status: string, outcome?: string): Promise<void> {
    const previous = status === 'disabled' ? 'active' : null
    await sql('update connections set status = $2, previous_status = $3 where id = $1', id, status, previous)
    if (!outcome) return
    await sql(
      `insert into transfers (id, organization_id, account_id, connection_id, src_connector_id, dest_connector_id, status,
         trigger, finished_time)
       select left(md5(id), 16), organization_id, account_id, id, src_connector_id, dest_connector_id, $2, 'manual', now()
       from connections where id = $1`,
      id,
      outcome,
    )
  }
  const open = (name: string, opened: number, resolved: number | null) =>
    sql(
      `insert into alert_incidents (id, rule_id, organization_id, account_id, connection_id, reasons, error_code, opened_time,
         resolved_time, resolution)
       select left(md5(c.id || $3), 16), r.id, c.organization_id, c.account_id, c.id, '{transfer_failed}', 'access_refused',
         to_timestamp($3::bigint), to_timestamp($4::bigint), case when $4::bigint is not null then 'recovered' end
       from connections c join alert_rules r on r.organization_id = c.organization_id and r.name = 'Failures'
       where c.organization_id = $1 and c.name = $2`,
      organizationId,
      name,
      opened,
      resolved,
    )
  async function list(query: object): Promise<AccountFigures[]> {
    const { status, text, response, headers } = await caller.call('listAccountFigures', { query: { ...query } })
    assert.equal(status, 200, text)
    assert.equal(headers['x-total-count'], String(response.length))
    return response
  }
  const names = async (query: object) => (await list(query)).map(({ name }) => name)

  test('count each connection one time, as failing, active, draft or disabled', async () => {
    const figures = Object.fromEntries((await list({})).map(({ name, connections }) => [name, connections]))
    assert.deepEqual(figures, {
      'Acme Outdoor': { failing: 3, active: 1, draft: 0, disabled: 1 },
      'Urban Bikes': { failing: 1, active: 1, draft: 0, disabled: 0 },
      Empty: { failing: 0, active: 0, draft: 0, disabled: 0 },
      Rheinmode: { failing: 0, active: 1, draft: 0, disabled: 0 },
    })
    const { connections, accounts } = await caller.expect(caller.call('getUsage'))
    assert.deepEqual(connections, { failing: 4, active: 3, draft: 0, disabled: 1 })
    assert.deepEqual([accounts.used, accounts.failing], [4, 2])
  })

  test('have the rows of this month only, the limit, and the newest open incident, otherwise the newest', async () => {
    const [acme, urban, empty, rheinmode] = await list({})
    assert.deepEqual(
      [acme, urban, empty, rheinmode].map((account) => account?.rowsThisMonth),
      [0, 0, 0, 50],
    )
    assert.equal(acme?.connectionsMax, 30)
    assert.deepEqual(
      [acme, urban, empty].map((account) => [account?.openIncidents, account?.lastIncident?.connectionName]),
      [
        [2, 'offline'],
        [0, 'failed too'],
        [0, undefined],
      ],
    )
    assert.deepEqual(urban?.lastIncident, {
      id: urban?.lastIncident?.id,
      ruleName: 'Failures',
      connectionId: urban?.lastIncident?.connectionId,
      connectionName: 'failed too',
      reasons: ['transfer_failed'],
      errorCode: 'access_refused',
      openedTime: 1_700_002_000,
      resolvedTime: 1_700_002_500,
      acknowledgedTime: null,
    })
    const { rowsThisMonth, openIncidents } = await caller.expect(caller.call('getUsage'))
    assert.equal(rowsThisMonth.used, 55)
    assert.deepEqual(openIncidents, { count: 2, since: 1_700_000_500 })
  })

  test('are searched by name, filtered and sorted', async () => {
    assert.deepEqual(await names({ q: 'bik' }), ['Urban Bikes'])
    assert.deepEqual(await names({ q: '%' }), [])
    assert.deepEqual(await names({ failing: true }), ['Acme Outdoor', 'Urban Bikes'])
    assert.deepEqual(await names({ failing: false, sort: 'name' }), ['Empty', 'Rheinmode'])
    assert.deepEqual(await names({ sort: '-name' }), ['Urban Bikes', 'Rheinmode', 'Empty', 'Acme Outdoor'])
    assert.equal((await names({ sort: '-rows' }))[0], 'Rheinmode')
    assert.deepEqual(await names({ sort: '-connections' }), ['Acme Outdoor', 'Urban Bikes', 'Rheinmode', 'Empty'])
    assert.deepEqual(await names({ sort: '-incident' }), ['Urban Bikes', 'Acme Outdoor', 'Empty', 'Rheinmode'])
    assert.equal((await caller.call('listAccountFigures', { query: { sort: 'luck' } as never })).status, 400)
  })

  test('show no incident without alerts:read, and only sums of the sub-accounts of a limited key', async () => {
    const asKey = async (body: object) => {
      const key = await caller.expect(caller.call('createClient', { body: { name: 'Key', ...body } as never }))
      const { response } = await service.call('createToken', {
        body: { clientId: key.id, clientSecret: key.clientSecret },
      })
      return response.accessToken
    }
    const blind = await asKey({ scopes: ['connections:read'] })
    const { response } = await service.call('listAccountFigures', { token: blind })
    assert.deepEqual([response[0]?.openIncidents, response[0]?.lastIncident], [null, null])
    assert.equal((await service.call('getUsage', { token: blind })).response.openIncidents, null)
    const limited = await asKey({ accountIds: [ids.Rheinmode, ids['Urban Bikes']] })
    const sums = (await service.call('getUsage', { token: limited })).response
    assert.deepEqual(sums, {
      accounts: { used: 2, max: null, failing: 1 },
      connections: { failing: 1, active: 2, draft: 0, disabled: 0 },
      rowsThisMonth: { used: 50, max: null },
      openIncidents: { count: 0, since: null },
    })
    const entries = (await service.call('listAccountFigures', { token: limited })).response
    assert.deepEqual(
      entries.map(({ name, lastIncident }) => [name, lastIncident]),
      [
        ['Urban Bikes', null],
        ['Rheinmode', null],
      ],
    )
  })

  test('are one statement and the limit', async () => {
    const statements = recordStatements(service.database.pool)
    await list({})
    assert.equal(statements.length, 2, statements.join('\n\n'))
  })
})

describe('among 500 sub-accounts with 25,000 connections', large, () => {
  const accounts = 500
  const size = 50
  const incidentsEach = 100
  let session: pg.Client
  let drop: () => Promise<void>
  before(async () => {
    const database = await createTestDatabase()
    drop = database.drop
    session = await openSession(database.url, 'test')
    await prepareToLoad(session)
    await withoutIndexes(session, () => loadAccounts(session, { first: 0, last: accounts - 1, connectionsEach: 50 }))
    // Nothing reads what they write for each row.
    await session.query('alter table transfers disable trigger user')
    await session.query(
      `insert into transfers (id, organization_id, account_id, connection_id, src_connector_id, dest_connector_id, status,
         trigger, created_time, finished_time, latest)
       select left(md5(c.id || n), 16), organization_id, account_id, id, src_connector_id, dest_connector_id,
         case when right(id, 1) = '0' then 'failed' else 'succeeded' end, 'schedule', now(), now(), n = 2
       from connections c, generate_series(1, 2) n`,
    )
    await session.query(
      `insert into alert_rules (id, organization_id, name, transfer_failed, connection_broken, emails, email_roles)
       select left(md5(id), 16), id, 'Failures', true, true, '{}', '{}' from organizations`,
    )
    await session.query(
      `insert into alert_incidents (id, rule_id, organization_id, account_id, connection_id, reasons, opened_time, resolved_time, resolution)
       select left(md5(c.id || n), 16), left(md5(organization_id), 16), organization_id, account_id, id, '{transfer_failed}',
         now() - n * interval '1 day', now(), 'recovered'
       from connections c, generate_series(1, 2) n`,
    )
    await settle(session)
  })
  after(async () => {
    await session.end()
    await drop()
  })

  test('a page reads the sub-accounts, what fails, and the incidents of the page', async () => {
    const failing = await session.query(
      `select count(*)::int as n from connections c where organization_id = $1 and (status in ('broken', 'offline') or status = 'active'
         and exists (select from transfers t where t.connection_id = c.id and latest and t.status = 'failed'))`,
      [organizationIds.most],
    )
    const found = failing.rows[0].n
    const all = { organizationId: organizationIds.most, accountIds: null, incidents: true }
    const limited = { ...all, accountIds: Array.from({ length: 40 }, (_, n) => accountId(n)) }
    const filters = accountFiguresOrders.flatMap((sort): FiguresFilter[] =>
      [all, limited].map((scope) => ({ ...scope, like: null, failing: null, sort })),
    )
    const cases = filters.map((filter) => ({
      title: `${filter.sort}${filter.accountIds ? ' of some' : ''}`,
      statement: figuresList(filter),
      parameters: { ...filter, size, offset: 0 },
    }))
    const sums = [all, limited].map((scope) => ({
      title: 'sums',
      statement: usage[scope.accountIds ? 'some' : 'all'],
      parameters: scope,
    }))
    await assertPlansOf(session, [...cases, ...sums], (plan, { parameters }) => {
      // An actor who is limited sees only incidents of the rules of these sub-accounts: others are read and dropped.
      const ofOthers = parameters.accountIds ? 2 * limited.accountIds.length * incidentsEach : 0
      const rowsMax = 4 * accounts + 4 * found + 20 * size + ofOthers
      return plan.rowsRead > rowsMax && `${plan.rowsRead} rows read for ${found} that fail`
    })
  })
})
