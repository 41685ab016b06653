import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { connectors } from '@penstock/connectors'
import { addedConnectorOrders, connectionOrders, connectionStatuses, limits } from '@penstock/wire'
import type pg from 'pg'
import * as accountQueries from '../packages/server/src/accounts/queries.ts'
import { connectionList } from '../packages/server/src/connections/list-queries.ts'
import * as connectionQueries from '../packages/server/src/connections/queries.ts'
import * as connectorQueries from '../packages/server/src/connectors/queries.ts'
import { openSession } from '../packages/server/src/db/session.ts'
import { statements } from '../packages/server/src/db/statement.ts'
import { createTestDatabase, type TestDatabase } from './harness/database.ts'
import {
  accountId,
  loadAccounts,
  organizationIds,
  prepareToLoad,
  settle,
  withoutIndexes,
} from './harness/many-connections.ts'
import { assertPlansOf, type Case, type Judge, judgePageOf, type Plan } from './harness/plans.ts'
// Whatever has a statement is reached from these.
import '../packages/server/src/service.ts'
import '../packages/server/src/worker/worker.ts'
import '../packages/server/src/cli/program.ts'

const size = limits.pageSizeDefault
/** An account that is the same in the small and in the large database, and one that has many connections. */
const usual = { id: accountId(1), connections: 200 }
const huge = { id: accountId(0), connections: 20_000 }
const others = { small: 4, large: 2_000, connectionsEach: 100 }

let database: TestDatabase
let client: pg.Client
before(async () => {
  database = await createTestDatabase()
  client = await openSession(database.url, 'test')
})
after(async () => {
  await client.end()
  await database.drop()
})

test('PostgreSQL prepares every statement of the program', async () => {
  assert(statements.length > 70, `only ${statements.length} statements were found`)
  const failures: string[] = []
  for (const { text } of statements) {
    try {
      if (isPlanned(text)) {
        await client.query(`prepare tried as ${text}`)
        await client.query('deallocate tried')
      } else {
        await client.query('begin')
        await client.query(text)
        await client.query('rollback')
      }
    } catch (error) {
      failures.push(`${(error as Error).message}: ${text}`)
    }
  }
  assert.deepEqual(failures, [])
})

/** Whether PostgreSQL plans it. Statements that are not planned, such as locks, cannot be prepared either. */
const isPlanned = (text: string) => /^(select|insert|update|delete|with)\b/.test(text)

/** View of an actor that is not limited to sub-accounts. */
const everything = { organizationId: organizationIds.most, accountIds: null }

type ListFilter = Parameters<typeof connectionList>[0]

/** Connectors by the filter q, as the list's rule finds them. */
const named = (q: string) => connectors.filter(({ name }) => name.toLowerCase().includes(q)).map(({ id }) => id)

/** The list and, if it is needed, the count of a filter over connections. */
function connectionCases(
  title: string,
  account: string | null,
  {
    q,
    status,
    organizationId = organizationIds.most,
    ...labels
  }: { q?: string; status?: string; organizationId?: string } & Partial<Pick<ListFilter, 'tags' | 'owner' | 'sort'>>,
): Case[] {
  const filter: ListFilter = {
    organizationId,
    accountId: account,
    accountIds: null,
    like: q === undefined ? null : `%${q}%`,
    connectorIds: q === undefined ? null : named(q),
    namedAccountIds: null,
    status: connectionStatuses.find((name) => name === status) ?? null,
    tags: null,
    owner: null,
    sort: '-created',
    ...labels,
  }
  const { list, count } = connectionList(filter)
  const listed = { title: `list ${title}`, statement: list, parameters: { ...filter, size, offset: 0 } }
  return count ? [listed, { title: `count ${title}`, statement: count, parameters: filter }] : [listed]
}

const assertPlans = (cases: readonly Case[], judge: Judge) => assertPlansOf(client, cases, judge)

/** Number of rows that match the filter `q`, to compare with the rows that are read. */
async function countMatches(
  account: string | null,
  q: string,
  organizationId: string = organizationIds.most,
): Promise<number> {
  const { rows } = await client.query<{ n: number }>(
    `select count(*)::int as n from connections
     where organization_id = $1 and ($2::text is null or account_id = $2) and (name ilike $3 or src_connector_id = any($4) or dest_connector_id = any($4))`,
    [organizationId, account, `%${q}%`, named(q)],
  )
  return rows[0]?.n ?? 0
}

const judgePage = (plan: Plan) => judgePageOf(size, plan)

/** In an account of usual size, every filter that the small and the large database are compared by. */
const usualCases: Case[] = [
  ...connectionCases('of an account', usual.id, {}),
  ...connectionStatuses.flatMap((status) => connectionCases(`of an account, ${status}`, usual.id, { status })),
  ...connectionCases('of an account, q in many names', usual.id, { q: 'customers' }),
  ...connectionCases('of an account, q in many names, broken', usual.id, { q: 'customers', status: 'broken' }),
  ...connectionCases('of an account, q in one name', usual.id, { q: 'partner 1-77' }),
  ...connectionCases('of an account, q in no name', usual.id, { q: 'nowhere' }),
  ...connectionCases('of an account, q of two letters in no name', usual.id, { q: 'qx' }),
  ...connectionCases('of an account, q in the name of a connector', usual.id, { q: 'amazon s3' }),
  ...connectionCases('of an account, q in the name of a connector, active', usual.id, {
    q: 'amazon s3',
    status: 'active',
  }),
  ...connectionCases('of an account, q in the name of an unused connector', usual.id, { q: 'snowflake' }),
]

describe('lists over many connections', () => {
  const inSmall = new Map<string, Plan>()
  before(async () => {
    await prepareToLoad(client)
    await loadAccounts(client, { first: 1, last: 1, connectionsEach: usual.connections })
    await loadAccounts(client, { ...others, first: 2, last: 1 + others.small })
    await settle(client)
    await assertPlans(usualCases, (plan, { title }) => {
      const known = inSmall.get(title)
      if (!known || known.rowsRead < plan.rowsRead) inSmall.set(title, plan)
      return false
    })
    await withoutIndexes(client, async () => {
      await loadAccounts(client, { first: 0, last: 0, connectionsEach: huge.connections })
      await loadAccounts(client, { ...others, first: 2 + others.small, last: 1 + others.large })
    })
    await settle(client)
  })

  test('the database is as large as these tests mean', async () => {
    const { rows } = await client.query<{ all: number; huge: number }>(
      `select sum(n)::int as all, sum(n) filter (where account_id = $1)::int as huge
       from (select account_id, in_progress + active + disabled + deleted + broken + offline as n from connection_counts) counts`,
      [huge.id],
    )
    assert.deepEqual(rows, [{ all: 200_000 + 20_000 + 200, huge: 20_000 }])
  })

  const pages = [
    ...connectionCases('of a huge account', huge.id, {}),
    ...connectionCases('of an organization', null, {}),
    ...connectionCases('of an organization by a tag that no connection has', null, { tags: ['nothing'] }),
    ...connectionCases('of an organization by a person who owns none', null, { owner: '0'.repeat(16) }),
    ...connectionOrders.flatMap((sort) => [
      ...connectionCases(`of a huge account by ${sort}`, huge.id, { sort }),
      ...connectionCases(`of an organization by ${sort}`, null, { sort }),
    ]),
    ...connectionStatuses.flatMap((status) => [
      ...connectionCases(`of a huge account, ${status}`, huge.id, { status }),
      ...connectionCases(`of an organization, ${status}`, null, { status }),
    ]),
  ]
  for (const at of pages.filter(({ title }) => title.startsWith('list'))) {
    test(`${at.title}: the first page reads the rows of the page alone`, () => assertPlans([at], judgePage))
  }

  for (const at of usualCases) {
    test(`${at.title}: reads no more among many connections than among few`, () =>
      assertPlans([at], (plan) => {
        const before = inSmall.get(at.title)?.rowsRead ?? 0
        const rowsMax = Math.max(1.5 * before, usual.connections + 2 * size)
        return (
          (plan.rowsRead > rowsMax && `${plan.rowsRead} rows read, ${before} among few connections`) ||
          (plan.rowsRead > 3 * usual.connections &&
            `${plan.rowsRead} rows read of an account of ${usual.connections}`) ||
          (plan.pagesRead > 5 * usual.connections && `${plan.pagesRead} pages read`)
        )
      }))
  }

  for (const [scope, account] of [
    ['a huge account', huge.id],
    ['an organization', null],
  ] as const) {
    for (const [what, q] of [
      ['in many names', 'customers'],
      ['in one name', 'partner 0-12345'],
      ['in no name', 'nowhere'],
    ] as const) {
      for (const at of connectionCases(`of ${scope}, q ${what}`, account, { q })) {
        test(`${at.title}: reads what fits, not everything`, async () => {
          const matches = await countMatches(account, q)
          await assertPlans([at], (plan) => {
            // If a large part matches, scanning only the account's index costs less than reading its many rows.
            const throughIndex = account && matches > huge.connections / 10 ? huge.connections : 0
            const rowsMax = Math.max(2 * matches, throughIndex) + 4 * size
            return plan.rowsRead > rowsMax && `${plan.rowsRead} rows read for ${matches} that fit`
          })
        })
      }
    }
  }

  // The other organization has a tenth of all. Matches in the first one must not be read for it.
  const { other: organizationId } = organizationIds
  for (const [what, q] of [
    ['in many names', 'customers'],
    ['in one name', 'partner 9-77'],
    ['in no name of its own', 'partner 0-12345'],
    ['in the name of a connector', 'amazon s3'],
    ['in the name of an unused connector', 'snowflake'],
  ] as const) {
    for (const at of connectionCases(`of a smaller organization, q ${what}`, null, { q, organizationId })) {
      test(`${at.title}: reads what fits in it, not what fits elsewhere`, async () => {
        const matches = await countMatches(null, q, organizationId)
        const all = await countMatches(null, '', organizationId)
        await assertPlans([at], (plan) => {
          // Found by its name and by its sides, it is read up to three times. PostgreSQL 18 can also scan its entries in
          // another index, to read fewer rows.
          const passed = at.title.startsWith('list') ? all : 0
          const rowsMax = 3 * matches + passed + 4 * size
          return plan.rowsRead > rowsMax && `${plan.rowsRead} rows read for ${matches} that fit`
        })
      })
    }
  }
  for (const at of connectionCases('of a smaller organization, q of two letters', null, { q: 'qx', organizationId })) {
    test(`${at.title}: reads no more than what is its own`, async () => {
      const all = await countMatches(null, '', organizationId)
      // Rows that an index finds, and rows in the table.
      await assertPlans([at], (plan) => plan.rowsRead > 2 * all + 4 * size && `${plan.rowsRead} rows read of ${all}`)
    })
  }

  for (const at of connectionCases('of an organization, q in the name of an unused connector', null, {
    q: 'snowflake',
  })) {
    test(`${at.title}: reads what fits, not everything`, () =>
      assertPlans([at], (plan) => plan.rowsRead > 4 * size && `${plan.rowsRead} rows read for none that fits`))
  }

  test('the list of an account without q is one statement, its total included', () => {
    for (const filter of [{}, ...connectionStatuses.map((status) => ({ status }))]) {
      assert.equal(connectionCases('of an account', usual.id, filter).length, 1)
    }
  })

  test('totals without q read no connection but those that wait to be purged', () =>
    assertPlans(
      pages.filter(({ title }) => title.startsWith('count')),
      (plan) =>
        (plan.rowsReadFrom('connections') > 0 && 'reads connections') ||
        (plan.scannedWhole.includes('connections') && 'reads all connections'),
    ))

  test('the list of added connectors reads their counts, and no connection', () =>
    assertPlans(
      addedConnectorOrders.map((sort) => ({
        title: `added connectors of a huge account by ${sort}`,
        statement: connectorQueries.addedList(sort),
        parameters: {
          accountId: huge.id,
          connectorIds: null,
          configured: null,
          idsByName: connectors.map(({ id }) => id),
          size,
          offset: 0,
        },
      })),
      (plan) =>
        (plan.nodes.some(({ table }) => table === 'connections') && 'reads connections') ||
        (plan.rowsRead > 4 * size && `${plan.rowsRead} rows read for a page of ${size}`),
    ))

  test('the list of accounts reads its page alone, and the counts of that page', () =>
    assertPlans(
      [null, '%account 77%', '%nowhere%'].map((like) => ({
        title: `list of accounts, ${like}`,
        statement: accountQueries.accountList({ ...everything, like }).list,
        parameters: { ...everything, like, size, offset: 0 },
      })),
      (plan, { parameters }) =>
        (plan.rowsReadFrom('connection_counts') > size && 'reads the counts of other accounts') ||
        (plan.nodes.some(({ table }) => table === 'connections') && 'reads connections') ||
        (plan.rowsSorted > size && `${plan.rowsSorted} accounts sorted`) ||
        (parameters.like === null && judgePage(plan)),
    ))

  test('a single account or connection is read by its identifier', () =>
    assertPlans(
      [
        {
          title: 'account',
          statement: accountQueries.findAccount,
          parameters: { organizationId: organizationIds.most, id: usual.id },
        },
        {
          title: 'connection',
          statement: connectionQueries.findConnection,
          parameters: { accountId: usual.id, id: 'ffffffffffffffff' },
        },
      ],
      (plan) => plan.rowsRead > 10 && `${plan.rowsRead} rows read`,
    ))

  test('a connection of another account is not read, as if there were none', async () => {
    const { rows } = await client.query<{ id: string }>('select id from connections where account_id = $1 limit 1', [
      huge.id,
    ])
    const parameters = { accountId: usual.id, id: rows[0]?.id ?? assert.fail('There is no connection.') }
    await assertPlans(
      [
        { title: 'find', statement: connectionQueries.findConnection, parameters },
        { title: 'lock', statement: connectionQueries.lockConnection, parameters },
      ],
      (plan) => plan.rowsReadFrom('connections') > 0 && 'reads its row',
    )
  })

  test('no statement of the program reads every connection', async () => {
    const failures: string[] = []
    await client.query('set plan_cache_mode = force_generic_plan')
    // All except these get one plan for all values. Their reads are judged above, by their values.
    const planned = statements.filter(({ text }) => isPlanned(text))
    const bounded = planned.filter(({ plannedEachTime }) => !plannedEachTime)
    assert.equal(planned.length - bounded.length, 105)
    for (const { text } of bounded) {
      await client.query(`prepare planned as ${text}`)
      const parameters = new Set(text.match(/\$\d+/g)).size
      const given = parameters > 0 ? `(${Array(parameters).fill('null').join(', ')})` : ''
      const explained = await client.query(`explain execute planned${given}`)
      const plan = explained.rows.map((row) => row['QUERY PLAN']).join('\n')
      if (/Seq Scan on (connections|added_connectors|configurations)\b/.test(plan)) failures.push(`${text}\n${plan}`)
      await client.query('deallocate planned')
    }
    assert.equal(failures.length, 0, failures.join('\n\n'))
  })
})
