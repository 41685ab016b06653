import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { limits, noAlertConditions } from '@penstock/wire'
import type pg from 'pg'
import * as announceQueries from '../packages/server/src/alerts/announce-queries.ts'
import * as checkQueries from '../packages/server/src/alerts/check-queries.ts'
import * as deliveryQueries from '../packages/server/src/alerts/delivery-queries.ts'
import * as incidentQueries from '../packages/server/src/alerts/incident-queries.ts'
import * as ruleQueries from '../packages/server/src/alerts/rule-queries.ts'
import * as sweepQueries from '../packages/server/src/alerts/sweep-queries.ts'
import { openSession } from '../packages/server/src/db/session.ts'
import { createTestDatabase, type TestDatabase } from './harness/database.ts'
import { accountId, loadAccounts, organizationIds, prepareToLoad, settle } from './harness/many-connections.ts'
import { loadPairsOfTransfers } from './harness/many-transfers.ts'
import { assertPlansOf, type Case } from './harness/plans.ts'

/** Rows that PostgreSQL reads for each statement of alerts, with 10,000 connections and 1,000 rules. */

const organizationId = organizationIds.most
const connections = 10_000
const rules = limits.alertRulesMax
/** Of each open incident there is one, and two that are resolved. */
const incidents = 9_000
const people = 500
const deliveries = { ended: 20_000, due: 3_000 }

let database: TestDatabase
let client: pg.Client
let ids: string[] = []
before(async () => {
  database = await createTestDatabase()
  client = await openSession(database.url, 'test')
  await prepareToLoad(client)
  await loadAccounts(client, { first: 0, last: 110, connectionsEach: 100 })
  await loadPairsOfTransfers(client, accountId(1))
  await loadStrangers()
  await load()
  await settle(client)
  const found = await client.query('select id from connections where account_id = $1 order by id', [accountId(1)])
  ids = found.rows.map(({ id }) => id)
})
after(async () => {
  await client.end()
  await database.drop()
})

/** Rows of other organizations, which no statement for one organization reads. */
async function loadStrangers(): Promise<void> {
  await client.query(
    `insert into organizations (id, name, owner_id, owner_email)
     select 'stranger' || n, 'Stranger', 'owner', 'owner@example.com' from generate_series(1, 100) as n`,
  )
  await client.query(
    `insert into users (id, organization_id, email, name, role, joined_time)
     select 'stranger' || n, 'stranger' || 1 + n % 100, 'stranger-' || n || '@example.com', 'Stranger', 'owner', now()
     from generate_series(1, 10000) as n`,
  )
  await client.query(
    `insert into connection_events (connection_id, number, kind, was, became)
     select id, n, 'status', 'broken', 'active' from connections cross join generate_series(2, 4) as n`,
  )
  await client.query(
    `insert into accounts (id, organization_id, name, enabled, env)
     select 'stranger' || n, $1, 'Stranger ' || n, true, 'production' from generate_series(1, 10000) as n`,
    [organizationIds.other],
  )
  await client.query(
    `insert into alert_rules (id, organization_id, account_id, name, transfer_failed, connection_broken, emails, email_roles)
     select 'stranger' || n, $1, 'stranger' || n, 'Rule ' || n, true, true, '{}', '{owner}' from generate_series(1, 10000) as n`,
    [organizationIds.other],
  )
}

/** Rules of the organization, of sub-accounts and of named connections, all with every condition; incidents; messages. */
async function load(): Promise<void> {
  await client.query(
    `insert into alert_rules (id, organization_id, account_id, name, connection_ids, enabled, transfer_failed, connection_broken,
       rejected_percent, no_success_hours, volume_percent, behind_minutes, emails, email_roles)
     select 'rule' || n, $1, case when n % 3 = 1 then $2 end, 'Rule ' || n,
       case when n % 3 = 2 then array['named' || n] end, true, true, true, 5, 24, 50, 10, '{}', '{owner,admin}'
     from generate_series(1, $3::int) as n`,
    [organizationId, accountId(1), rules],
  )
  await client.query(
    `insert into alert_incidents (id, rule_id, organization_id, account_id, connection_id, reasons, opened_time,
       resolved_time, resolution, pending)
     select 'i' || c.n || '-' || k, 'rule' || 3 * (1 + c.n % 10), c.organization_id, c.account_id, c.id, '{transfer_failed}',
       now() - c.n * interval '1 minute' - k * interval '1 day', case when k > 0 then now() - k * interval '1 day' end,
       case when k > 0 then 'recovered' end, case when k = 0 and c.n % 30 = 0 then 'opened' end
     from (select *, row_number() over (order by id) as n from connections where organization_id = $1) c
     cross join generate_series(0, 2) as k where c.n <= $2`,
    [organizationId, incidents],
  )
  await client.query(
    `insert into alert_deliveries (id, rule_id, kind, channel, content, next_time, outcome, created_time)
     select 'delivery' || n, 'rule' || 1 + n % $3::int, case when n % 7 = 0 then 'test' else 'opened' end,
       case when n % 3 = 0 then 'slack' else 'email' end, '{}', now() - n * interval '1 second',
       case when n <= $1::int then 'delivered' end, now() - n * interval '1 minute'
     from generate_series(1, $1::int + $2::int) as n`,
    [deliveries.ended, deliveries.due, rules],
  )
  await client.query(
    `insert into users (id, organization_id, email, name, role, joined_time)
     select 'user' || n, $1, 'person-' || n || '@example.com', 'Person', case when n % 2 = 0 then 'owner' else 'viewer' end, now()
     from generate_series(1, $2::int) as n`,
    [organizationId, people],
  )
  await client.query(
    `insert into change_logs (connection_id, configuration_id, slot, server, organization_id, account_id, connector_id, status, kept_bytes)
     select id, src_configuration_id, 'slot', 'server', organization_id, account_id, src_connector_id, 'reserved', 1000 from connections`,
  )
  await client.query(`insert into data_keys (id, key_id, sealed) values ('of streams', 'key', '')`)
  await client.query(
    `insert into streams (id, organization_id, account_id, connector_id, data_key_id, last_number)
     select distinct on (src_configuration_id) src_configuration_id, organization_id, account_id, src_connector_id, 'of streams', 30
     from connections`,
  )
  await client.query(
    `insert into stream_batches (stream, first_number, count, bytes, time, sealed)
     select number, 1 + 10 * n, 10, 100, now() - interval '1 hour', '' from streams cross join generate_series(0, 2) as n`,
  )
  await client.query(
    `insert into connection_states (connection_id, stream_of, stream_read) select id, src_configuration_id, 15 from connections`,
  )
  await client.query(
    `insert into audience_checks (connection_id, next_time, smallest) select id, now(), 500 from connections`,
  )
  await client.query(`insert into alert_checks (connection_id) select id from connections where organization_id = $1`, [
    organizationId,
  ])
  await client.query(
    `insert into ledger (transfer_id, number, organization_id, account_id, connection_id, day, read, accepted, rejected, replayed, bytes)
     select 'of ' || c.id, d, organization_id, account_id, c.id, current_date - d, 10, 10, 0, 0, 100
     from connections c cross join generate_series(1, 70) as d where account_id = $1`,
    [accountId(1)],
  )
}

type Bound = Omit<Case, 'title'> & {
  /** Rows that can be read of all tables. */
  readonly most: number
  /** Tables that are always small: a row for each of few things, or no lasting rows. */
  readonly small?: readonly string[]
}
const bound = (statement: Case['statement'], parameters: object, most: number, ...small: string[]): Bound => ({
  statement,
  parameters: parameters as Bound['parameters'],
  most,
  small,
})

const everyone = { organizationId, accountIds: null }
const page = { size: limits.pageSizeDefault, offset: 0 }
const some = 200
const json = (many: unknown[]) => JSON.stringify(many)
const later = new Date(Date.now() + 60_000).toISOString() as unknown as Date

/** Each statement of alerts, and the limit of what it can read. */
function bounds(): Record<string, Bound> {
  const connectionIds = ids.slice(0, some)
  const many = connectionIds.length
  const ruleId = 'rule3'
  const rule = { ...content, id: ruleId }
  const filter = { ...everyone, accountId: null, ruleId: null, open: null, like: null }
  const first = { scopeId: organizationId, createdTime: 'infinity', after: '', limit: 1_000 }
  const { organization, account, rule: ofRule } = incidentQueries.incidentsOf
  return {
    takeTurn: bound(checkQueries.takeTurn, {}, 1, 'schedule_pauses'),
    takeChecks: bound(checkQueries.takeChecks, { limit: some }, 2 * some),
    // The connection, its account, two or three transfers, one day of the ledger and two of its rows for each of 9 weeks.
    factsOf: bound(checkQueries.factsOf, { connectionIds, weeks: 8 }, 50 * many),
    findCovering: bound(
      checkQueries.findCovering,
      { organizationIds: [organizationId], accountIds: [accountId(1)], connectionIds },
      3 * (rules + 10),
    ),
    findOpen: bound(checkQueries.findOpen, { connectionIds }, 2 * many),
    noteAgain: bound(checkQueries.noteAgain, { connectionIds }, 0),
    openIncidents: bound(checkQueries.openIncidents, { incidents: json([]) }, 0),
    extendIncidents: bound(
      checkQueries.extendIncidents,
      { incidents: json([{ id: 'i1-0', reasons: ['transfer_failed'] }]) },
      1,
    ),
    resolveIncidents: bound(
      checkQueries.resolveIncidents,
      { incidents: json([{ id: 'i1-0', resolution: 'recovered' }]) },
      4,
    ),

    takeSweep: bound(sweepQueries.takeSweep, { leaseSeconds: 1 }, 10, 'alert_sweeps', 'schedule_pauses'),
    extendSweep: bound(sweepQueries.extendSweep, { name: 'volume', leaseSeconds: 1 }, 3, 'alert_sweeps'),
    repeatSweep: bound(sweepQueries.repeatSweep, { name: 'volume', nextTime: later }, 3, 'alert_sweeps'),
    endSweep: bound(sweepQueries.endSweep, { name: 'volume' }, 3, 'alert_sweeps'),
    sweepRule: bound(sweepQueries.sweepRule, { id: ruleId }, 10, 'alert_sweeps'),
    noteOpen: bound(sweepQueries.noteOpen, { after: '', limit: 1_000 }, 3_010),
    nextWithIdle: bound(sweepQueries.nextWithIdle, { after: '' }, 1),
    nextWithBehind: bound(sweepQueries.nextWithBehind, { after: '' }, 1),
    nextWithVolume: bound(sweepQueries.nextWithVolume, { after: '' }, 1),
    // Each page passes through a few steps, which each count as a read. The rules are read once.
    noteIdle: bound(sweepQueries.noteIdle, first, 10_000 + 3 * rules),
    noteBehind: bound(sweepQueries.noteBehind, first, 20_000 + 3 * rules),
    noteVolumes: bound(sweepQueries.noteVolumes, first, 10_000 + 3 * rules),
    noteOrganization: bound(sweepQueries.noteOrganization, first, 3_000),
    noteAccount: bound(sweepQueries.noteAccount, { ...first, scopeId: accountId(1) }, 4 * 100),

    // Rules of which something is pending: 10 of them have 300 incidents.
    takeRules: bound(announceQueries.takeRules, { atOnce: 6, minutes: 10, limit: 10 }, 400),
    takePending: bound(announceQueries.takePending, { ruleId: 'rule3', limit: 20 }, 300 + 200),
    recipientsOf: bound(announceQueries.recipientsOf, { ruleIds: ['rule3', 'rule6'], limit: 200 }, 6 * people),
    insertDeliveries: bound(announceQueries.insertDeliveries, { deliveries: json([]) }, 0),
    testWait: bound(announceQueries.testWait, { ruleId, perHour: 10 }, 20),

    // The due messages of the channel, at most 1,000, and before them messages of other channels.
    takeDeliveries: bound(
      deliveryQueries.takeDeliveries,
      { channel: 'slack', leaseSeconds: 120, limit: 10, most: 3 },
      3 * deliveries.due,
    ),
    endDelivery: bound(deliveryQueries.endDelivery, { id: 'delivery20001', outcome: 'delivered', message: null }, 4),
    postponeDelivery: bound(
      deliveryQueries.postponeDelivery,
      { id: 'delivery20001', seconds: 30, message: 'It is tried again' },
      4,
    ),
    deliveryTotals: bound(deliveryQueries.deliveryTotals, {}, 10, 'alert_delivery_totals'),
    purgeDeliveries: bound(deliveryQueries.purgeDeliveries, { days: 1, limit: 1_000 }, 3_100),

    listOrganization: bound(organization.list, { ...filter, ...page }, 8 * page.size),
    listAccount: bound(account.list, { ...filter, ...page, accountId: accountId(1) }, 12 * page.size),
    listRule: bound(ofRule.list, { ...filter, ...page, ruleId }, 8 * page.size),
    countOrganization: bound(organization.count, { ...filter, open: true }, 3 * incidents + 200),
    countAccount: bound(account.count, { ...filter, accountId: accountId(1) }, 9 * 100),
    countRule: bound(ofRule.count, { ...filter, ruleId }, (3 * (3 * incidents)) / 10 + 200),
    findIncident: bound(incidentQueries.findIncident, { ...everyone, id: 'i1-0' }, 5),
    lockIncident: bound(incidentQueries.lockIncident, { ...everyone, id: 'i1-0' }, 5),
    acknowledge: bound(incidentQueries.acknowledge, { id: 'i1-0', by: '{}' }, 1),
    countOpen: bound(incidentQueries.countOpen, {}, incidents),
    purgeIncidents: bound(incidentQueries.purgeIncidents, { days: 1, limit: 1_000 }, 3_100),

    // Each rule of the page has its open incidents counted.
    listRules: bound(ruleQueries.listRules, { ...filter, ...page }, 4 * page.size + incidents),
    countRules: bound(ruleQueries.countRules, filter, 3 * rules),
    findRule: bound(ruleQueries.findRule, { ...everyone, id: ruleId }, 3 + incidents / 10),
    lockRule: bound(ruleQueries.lockRule, { ...everyone, id: ruleId }, 3 + incidents / 10),
    lockOrganization: bound(ruleQueries.lockOrganization, { organizationId }, 200, 'organizations'),
    countForQuota: bound(ruleQueries.countForQuota, { organizationId, accountId: null }, 3 * rules),
    findConnections: bound(
      ruleQueries.findConnections,
      { organizationId, accountId: null, ids: ids.slice(0, 100) },
      200,
    ),
    updateRule: bound(ruleQueries.updateRule, { ...rule, clearError: true }, 1),
    muteRule: bound(ruleQueries.muteRule, { id: ruleId, until: null }, 1),
    noteUnsent: bound(announceQueries.noteUnsent, { ruleId, message: 'no one receives it' }, 1),
    deleteRule: bound(ruleQueries.deleteRule, { id: ruleId }, 1),
  }
}

const content = {
  name: 'Rule',
  connectionIds: null,
  enabled: true,
  ...noAlertConditions,
  noSuccessHours: 24,
  emails: [],
  emailRoles: [],
  dataKeyId: null,
  slackSealed: null,
  teamsSealed: null,
}

test('each statement is here', () => {
  const modules = [announceQueries, checkQueries, deliveryQueries, incidentQueries, ruleQueries, sweepQueries]
  // A row that is inserted is read by no plan.
  const isStatement = (value: unknown) =>
    typeof value === 'object' && value !== null && 'sends' in value && value !== ruleQueries.insertRule
  const all = [...modules.flatMap(Object.values), ...Object.values(incidentQueries.incidentsOf).flatMap(Object.values)]
  const tried = new Set<unknown>(Object.values(bounds()).map(({ statement }) => statement))
  assert.deepEqual(
    all.filter((one) => isStatement(one) && !tried.has(one)).map(({ text }) => text),
    [],
  )
})

test('each reads what it is asked for, by an index, among 10,000 connections and 1,000 rules', async () => {
  const { rows } = await client.query('select count(*)::int as n from connections where organization_id = $1', [
    organizationId,
  ])
  assert(rows[0].n >= connections)
  const failures: string[] = []
  for (const [title, { most, small = [], ...at }] of Object.entries(bounds())) {
    await client.query('begin')
    await assertPlansOf(client, [{ title, ...at }], ({ rowsRead, scannedWhole }) => {
      const whole = scannedWhole.filter((table) => !small.includes(table))
      return (rowsRead > most && `${rowsRead} rows read`) || (whole.length > 0 && `whole tables read: ${whole}`)
    }).catch((error: Error) => failures.push(error.message))
    await client.query('rollback; deallocate all')
  }
  assert.equal(failures.length, 0, failures.join('\n\n'))
})

test('the pages of a sweep have every connection once, those of the same time too', async () => {
  await client.query('begin')
  // More connections of the same time than a page can have.
  await client.query(`update connections set created_time = '2026-03-01' where account_id = any($1)`, [
    [accountId(2), accountId(3), accountId(4)],
  ])
  await client.query('delete from alert_checks')
  let pages = 0
  for (let [createdTime, after] = ['infinity', '']; ; pages++) {
    const { text, values } = sweepQueries.noteOrganization.sends({
      scopeId: organizationId,
      createdTime,
      after,
      limit: 97,
    })
    const { rows } = await client.query<{ id: string; created_time: string }>(text, values)
    if (!rows[0]) break
    ;[createdTime, after] = [rows[0].created_time, rows[0].id]
  }
  const { rows } = await client.query(
    `select count(*)::int as noted, count(distinct connection_id)::int as connections,
       (select count(*)::int from connections where organization_id = $1 and status in ('active', 'broken', 'offline')) as expected
     from alert_checks`,
    [organizationId],
  )
  await client.query('rollback')
  assert(pages > connections / 97)
  const { expected } = rows[0]
  assert.deepEqual(rows[0], { noted: expected, connections: expected, expected })
})
