import { after, before, test } from 'node:test'
import {
  connectionTransferOrders,
  limits,
  type TransferOrder,
  type TransferStatus,
  transferStatuses,
} from '@penstock/wire'
import type pg from 'pg'
import * as connectionQueries from '../packages/server/src/connections/queries.ts'
import { openSession } from '../packages/server/src/db/session.ts'
import * as reportQueries from '../packages/server/src/reports/queries.ts'
import { transferList, wideTransferList } from '../packages/server/src/transfers/list-queries.ts'
import { forgetDataKeys, purgeRejects } from '../packages/server/src/transfers/purge-queries.ts'
import { findActive } from '../packages/server/src/transfers/queries.ts'
import { listRejects, rejectsAfter } from '../packages/server/src/transfers/reject-queries.ts'
import { claimAnywhere, claimOldest } from '../packages/server/src/transfers/supervisor/claim-queries.ts'
import { takeDue } from '../packages/server/src/transfers/supervisor/due-schedule-queries.ts'
import * as replayQueries from '../packages/server/src/transfers/supervisor/replays/queries.ts'
import { requeueLost, sendHeartbeats, someQueued } from '../packages/server/src/transfers/supervisor/upkeep-queries.ts'
import * as totalsQueries from '../packages/server/src/transfers/totals/queries.ts'
import { createTestDatabase, type TestDatabase } from './harness/database.ts'
import {
  accountId,
  loadAccounts,
  organizationIds,
  prepareToLoad,
  settle,
  withoutIndexes,
} from './harness/many-connections.ts'
import { firstTransferId, ledgerEntriesADay, loadPairsOfTransfers, loadTransfers } from './harness/many-transfers.ts'
import { assertPlansOf, type Case, type Judge, judgePageOf, type Plan } from './harness/plans.ts'

/** How PostgreSQL runs the statements for a connection that has run for months, and for an account with many of them. */

const size = limits.pageSizeDefault
const usual = { id: accountId(1), connections: 2 }
const huge = { id: accountId(0), connections: 20_000 }
const many = { transfers: 20_000, rejects: 5_000 }

let database: TestDatabase
let client: pg.Client
let connectionId: string
/** A connection with a long history. */
let busiest: string
before(async () => {
  database = await createTestDatabase()
  client = await openSession(database.url, 'test')
  await prepareToLoad(client)
  await withoutIndexes(client, async () => {
    await loadAccounts(client, { first: 0, last: 0, connectionsEach: huge.connections })
    await loadAccounts(client, { first: 1, last: 2_000, connectionsEach: usual.connections })
  })
  const found = await client.query<{ id: string }>('select min(id) as id from connections where account_id = $1', [
    usual.id,
  ])
  connectionId = found.rows[0]?.id ?? ''
  await loadTransfers(client, { accountId: usual.id, connectionId, ...many })
  await loadPairsOfTransfers(client, huge.id)
  await loadEvents()
  const reported = await client.query<{ id: string }>(
    'select max(connection_id) as id from connection_events where number > 1',
  )
  busiest = reported.rows[0]?.id ?? ''
  await settle(client)
})
after(async () => {
  await client.end()
  await database.drop()
})

/** Nearly the maximum number of stored events, for each of a hundred connections. */
const loadEvents = () =>
  client.query(
    `insert into connection_events (connection_id, number, kind, was, became)
     select c.id, n, 'renamed', 'a', 'b' from (select id from connections where account_id = $1 limit 100) c
     cross join generate_series(2, $2::int) as n`,
    [huge.id, limits.connectionEventsMax],
  )

const assertPlans = (cases: readonly Case[], judge: Judge) => assertPlansOf(client, cases, judge)
const judgePage = (plan: Plan) => judgePageOf(size, plan)

const transfersBy = ({ status, sort }: Omit<Parameters<typeof transferList>[0], 'connectionId'>): Case => ({
  title: `list of transfers, ${status}, ${sort}`,
  statement: transferList({ connectionId, status, sort }).list as Case['statement'],
  parameters: { connectionId, status, statuses: status ? [status] : transferStatuses, sort, size, offset: 0 },
})

test('a page of transfers by their numbers reads a page of each status', () =>
  assertPlans(
    connectionTransferOrders.flatMap((sort) =>
      [null, 'failed' as const, 'succeeded' as const].map((status) => transfersBy({ status, sort })),
    ),
    (plan) =>
      (plan.rowsReadFrom('transfers') > 3 * size && `${plan.rowsReadFrom('transfers')} transfers read`) ||
      (plan.scannedWhole.length > 0 && `whole tables read: ${plan.scannedWhole}`),
  ))

test('a page of transfers, or of rejected records, reads the rows of the page alone', () =>
  assertPlans(
    [
      ...[null, 'failed' as const, 'succeeded' as const, 'queued' as const].flatMap((status) =>
        (['-created', 'created'] as const).map((sort) => transfersBy({ status, sort })),
      ),
      {
        title: 'rejected records',
        statement: listRejects,
        parameters: { transferId: firstTransferId, size, offset: 0 },
      },
      {
        title: 'rejected records, streamed',
        statement: rejectsAfter,
        parameters: { transferId: firstTransferId, number: 4_000, limit: size },
      },
      {
        title: 'rejected records that are sent again',
        statement: replayQueries.replayedRejects,
        parameters: { transferId: firstTransferId, replay: 'transfer00000002', number: 4_000, limit: size },
      },
    ],
    judgePage,
  ))

/** The lists over many connections: of the organization, of the account with the most, and of some that are named. */
async function wideCases(
  kind: 'list' | 'count',
  wanted: { latest: boolean; status?: TransferStatus; sort?: TransferOrder },
): Promise<Case[]> {
  const { rows } = await client.query<{ id: string }>('select id from connections where account_id = $1 limit 25', [
    huge.id,
  ])
  const named = [connectionId, ...rows.map(({ id }) => id)]
  return [
    { title: 'of an organization', accountId: null, connectionIds: null },
    { title: 'of two accounts', accountId: null, accountIds: [huge.id, 'account000000001'], connectionIds: null },
    { title: 'of a huge account', accountId: huge.id, connectionIds: null },
    { title: 'of some connections', accountId: null, connectionIds: named },
  ].map(({ title, ...scope }) => {
    const filter = {
      organizationId: organizationIds.most,
      accountIds: null,
      ...scope,
      latest: wanted.latest,
      statuses: wanted.status ? [wanted.status] : transferStatuses,
      sort: wanted.sort ?? '-created',
    }
    const statement = wideTransferList(filter)[kind]
    const parameters = { ...filter, size, offset: 0 }
    return {
      title: `${kind} ${title}, ${JSON.stringify(wanted)}`,
      parameters,
      statement: statement as Case['statement'],
    }
  })
}

const oldestFirst = (wanted: Parameters<typeof wideCases>[1]) => wideCases('list', { ...wanted, sort: 'created' })
for (const latest of [true, false]) {
  for (const status of [undefined, 'failed', 'partial', 'queued'] as const) {
    const wanted = { latest, ...(status ? { status } : {}) }
    test(`a page of all transfers, ${JSON.stringify(wanted)}, reads pages of the statuses and their connections`, async () =>
      assertPlans([...(await wideCases('list', wanted)), ...(await oldestFirst(wanted))], (plan) => {
        // There are three statuses, and so at most three pages. Each transfer is read with its connection.
        const pages = status ? 1 : 3
        return (
          (plan.rowsReadFrom('transfers') > size * pages + 100 && `${plan.rowsReadFrom('transfers')} transfers read`) ||
          (plan.rowsRead > 2 * size * pages + 500 && `${plan.rowsRead} rows read`) ||
          (plan.scannedWhole.length > 0 && `whole tables read: ${plan.scannedWhole}`)
        )
      }))
  }
}

test('the count of the newest transfers reads one of each connection, and those of a status alone', async () => {
  const failed = huge.connections / 100
  for (const [wanted, max] of [
    [{ latest: true }, huge.connections],
    [{ latest: true, status: 'failed' }, failed],
    [{ latest: true, status: 'partial' }, 0],
  ] as const) {
    await assertPlans(
      await wideCases('count', wanted),
      (plan) =>
        plan.rowsReadFrom('transfers') > max + 100 && `${plan.rowsReadFrom('transfers')} transfers read of ${max}`,
    )
  }
})

test('a page of the history of a connection reads the page, and its count two events', () =>
  assertPlans(
    [
      {
        title: 'page',
        statement: connectionQueries.listEvents,
        parameters: { connectionId: busiest, size, offset: 0 },
      },
      { title: 'count', statement: connectionQueries.countEvents, parameters: { connectionId: busiest } },
    ],
    (plan, { title }) => plan.rowsRead > (title === 'count' ? 2 : size) && `${plan.rowsRead} rows read`,
  ))

test('the count of a status reads the transfers of that status alone, and one that is active is found at once', () =>
  assertPlans(
    [
      {
        title: 'failed ones',
        statement: transferList({ connectionId, status: 'failed', sort: '-created' }).count,
        parameters: { connectionId, status: 'failed', sort: '-created' },
      },
      { title: 'active', statement: findActive, parameters: { connectionId } },
    ],
    (plan, { title }) =>
      plan.rowsRead > (title === 'active' ? 1 : many.transfers / 100) && `${plan.rowsRead} rows read`,
  ))

const supervised = { ids: ['one', 'two'], attempts: [1, 2] }

test('what workers look for again and again reads no transfer that has ended', () =>
  assertPlans(
    [
      { title: 'silent ones', statement: requeueLost, parameters: { heartbeatTimeoutSeconds: 20, ...supervised } },
      { title: 'those of one worker', statement: sendHeartbeats, parameters: supervised },
      { title: 'how many there are', statement: totalsQueries.countTransfers, parameters: {} },
      { title: 'one that waits', statement: someQueued, parameters: {} },
      { title: 'a schedule that is due', statement: takeDue, parameters: { limit: 200 } },
      ...[claimOldest, claimAnywhere].map((statement) => ({
        title: 'the next to run',
        statement,
        parameters: { perAccount: 4, perPlatform: 1, platformConnectors: '[]' },
      })),
    ],
    (plan) => plan.rowsReadFrom('transfers') > 5 && `${plan.rowsReadFrom('transfers')} transfers read`,
  ))

test('the purge reads those that keep rejected records alone', () =>
  assertPlans(
    [
      { title: 'rejects', statement: purgeRejects, parameters: { days: 30, limit: 100 } },
      { title: 'data keys', statement: forgetDataKeys, parameters: { days: 30, limit: 100 } },
    ],
    (plan) => plan.rowsReadFrom('transfers') > 5 && `${plan.rowsReadFrom('transfers')} transfers read`,
  ))

test('a report reads its page, and the days of the ledger that are asked for', () => {
  const days = { startDate: '2026-01-05', endDate: '2026-01-06' }
  const everyAccount = { organizationId: organizationIds.most, accountIds: null, like: null, ids: null }
  return assertPlans(
    [
      {
        title: 'names of connections',
        statement: reportQueries.connectionsByName,
        parameters: { accountId: huge.id, like: null, size, offset: 0 },
      },
      {
        title: 'names of accounts',
        statement: reportQueries.accountsByName(everyAccount).list,
        parameters: { ...everyAccount, size, offset: 0 },
      },
      {
        title: 'number of connections',
        statement: reportQueries.countAllConnections,
        parameters: { accountId: huge.id },
      },
      {
        title: 'volume of a connection',
        statement: reportQueries.volumeOfConnections,
        parameters: { accountId: usual.id, ids: [connectionId], ...days },
      },
      {
        title: 'volume of an account',
        statement: reportQueries.volumeOfAccounts,
        parameters: { organizationId: organizationIds.most, ids: [usual.id], ...days },
      },
    ],
    (plan, { title }) =>
      title.startsWith('volume')
        ? plan.rowsReadFrom('ledger') > 2 * ledgerEntriesADay && `${plan.rowsRead} rows read for two days`
        : judgePage(plan),
  )
})
