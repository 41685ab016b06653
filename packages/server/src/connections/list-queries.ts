import {
  type Blackout,
  type ConnectionOrder,
  type ConnectionRule,
  type ConnectionStatus,
  connectionOrders,
  type DriftMode,
  rejectedRecordsConnectorId,
} from '@penstock/wire'
import { isKept } from '../db/kept.ts'
import { type Statement, type StatementOptions, statement } from '../db/statement.ts'
import { type LabelsRow, ownerColumns, ownerTable } from './label-queries.ts'
import { type ConnectionEntryRow, type ConnectionRow, connectionColumns, entryColumns, sideTables } from './queries.ts'

/** Statements of the lists of connections, and how many there are. */

type Filter = {
  organizationId: string
  /** Null in the list of a whole organization. */
  accountId: string | null
  /** The sub-accounts that the actor is limited to. Null means all. */
  accountIds: readonly string[] | null
  /** The filter q, and the connectors whose names it is in. */
  like: string | null
  connectorIds: readonly string[] | null
  /** The sub-accounts whose names it is in. */
  namedAccountIds: readonly string[] | null
  status: ConnectionStatus | null
  /** Tags in lower case, all of which a connection has. */
  tags: readonly string[] | null
  /** The identifier of the owner, or `none`. */
  owner: string | null
  sort: ConnectionOrder
}
type Page = { size: number; offset: number }

/**
 * The lists of connections. A statement first picks the page, by the index that fits, and joins only its rows. Each combination
 * is a separate statement, because one plan would not fit all of them.
 */
const listedBy = {
  account: 'account_id = :accountId',
  organization: 'organization_id = :organizationId',
  accounts: 'organization_id = :organizationId and account_id = any(:accountIds)',
} as const
const statusFilter = 'and status = :status'
const conditionOf = (conditions: readonly string[]) =>
  [...conditions, 'and not account_deleted and', isKept('connections')].join(' ')

const columnsOfCounts = {
  'In-progress': 'in_progress',
  active: 'active',
  disabled: 'disabled',
  deleted: 'deleted',
  broken: 'broken',
  offline: 'offline',
} as const satisfies Record<ConnectionStatus, string>

/**
 * How many connections a scope has, with one status or in total, summed from the counts `k` instead of counted. Connections
 * whose restore window has closed still have rows, and are counted as deleted until they are purged. So they are subtracted.
 */
const totalOf = (scope: string, byStatus: boolean) => {
  const gone = `(select count(*) from connections where ${scope} and status = 'deleted' and not account_deleted and not ${isKept('connections')})`
  const counts = Object.entries(columnsOfCounts)
  if (!byStatus) return `coalesce(sum(${counts.map(([, column]) => `k.${column}`).join(' + ')}), 0)::bigint - ${gone}`
  const cases = counts.map(
    ([status, column]) =>
      `when '${status}' then coalesce(sum(k.${column}), 0)::bigint${status === 'deleted' ? ` - ${gone}` : ''}`,
  )
  return `case :status::text ${cases.join(' ')} end`
}

/** A row of a list that includes its total. An empty page returns one row with only the total. */
type CountedRow = (ConnectionEntryRow | { id: null }) & { total: number }

const pageOf = (conditions: readonly string[]) => `
      select * from connections where ${conditionOf(conditions)}
      order by created_time desc, id desc limit :size offset :offset`

/** The connections of an account, with their total, which one row of counts says. */
const accountList = (byStatus: boolean) => ({
  list: statement<Filter & Page, CountedRow>(`
    select ${entryColumns}, counted.total
    from (
      select ${totalOf(`${listedBy.organization} and ${listedBy.account}`, byStatus)} as total
      from connection_counts k where k.account_id = :accountId
    ) counted left join (${pageOf([listedBy.account, ...(byStatus ? [statusFilter] : [])])}
    ) c on true
    order by c.created_time desc, c.id desc`),
})

/**
 * Connections of an organization, whose total is stored, or of some of its accounts, whose total is their sum. Lists of a whole
 * organization are planned for each page. Up to PostgreSQL 17, a plan for pages of any size sorts all connections.
 */
const organizationList = (byStatus: boolean, scope: 'organization' | 'accounts') => ({
  list: statement<Filter & Page, ConnectionEntryRow>(
    `
    select ${entryColumns} from (${pageOf([listedBy[scope], ...(byStatus ? [statusFilter] : [])])}
    ) c
    order by c.created_time desc, c.id desc`,
    { plannedEachTime: scope === 'organization' && !byStatus },
  ),
  count: statement<Filter, { total: number }>(
    `select ${totalOf(listedBy[scope], byStatus)} as total ${
      scope === 'accounts'
        ? `from connection_counts k join accounts a on a.id = k.account_id and a.deleted_time is null
           where k.organization_id = :organizationId and k.account_id = any(:accountIds)`
        : 'from organization_counts k where k.organization_id = :organizationId'
    }`,
  ),
})

/** Connections that match a filter are counted up to this number: the time of a count grows with what it finds. */
export const countedMax = 10_000
const countOf = (conditions: string, options: StatementOptions) =>
  statement<Filter, { total: number }>(
    `select count(*) as total from (select from connections where ${conditions} limit ${countedMax + 1}) found`,
    options,
  )

/**
 * The connections that match a filter, and their number up to `countedMax`. An index that contains the columns of the filter is read
 * without its rows.
 */
const countedListOf = (conditions: readonly string[], options: StatementOptions, more: readonly string[] = []) => ({
  list: statement<Filter & Page, ConnectionEntryRow>(
    `
    select ${entryColumns}
    from (
      select id from connections where ${conditionOf([...conditions, ...more])}
      order by created_time desc, id desc limit :size offset :offset
    ) picked join connections c using (id)
    order by c.created_time desc, c.id desc`,
    options,
  ),
  count: countOf(conditionOf(conditions), options),
  isBounded: true,
})

/**
 * How names are searched: by the index of names, or in the index of an account, which contains the names. Which one reads less
 * depends on the account and the text, and so does the cost of the connectors filter. So plans are made for the actual values.
 * Only the index of names contains the organization as `organization_id || ''`, and it does not contain `name || ''`. This
 * leads the planner to that index in a whole organization, or away from it.
 */
const named = {
  account: { scope: listedBy.account, name: 'name ilike :like', alone: `${listedBy.account} and name ilike :like` },
  organization: {
    scope: listedBy.organization,
    name: "((organization_id || '') = :organizationId and name ilike :like)",
    alone: "(organization_id || '') = :organizationId and name ilike :like",
  },
  accounts: {
    scope: listedBy.accounts,
    name: 'name ilike :like',
    alone: `${listedBy.accounts} and name ilike :like`,
  },
  accountBriefly: {
    scope: listedBy.account,
    name: "(name || '') ilike :like",
    alone: `${listedBy.account} and (name || '') ilike :like`,
  },
  organizationBriefly: {
    scope: listedBy.organization,
    name: "(name || '') ilike :like",
    alone: `${listedBy.organization} and (name || '') ilike :like`,
  },
} as const

const namedListsOf = ({ scope, name, alone }: (typeof named)[keyof typeof named]) => {
  const nameOrConnector = `and (${name} or src_connector_id = any(:connectorIds) or dest_connector_id = any(:connectorIds))`
  const options = { plannedEachTime: true }
  return {
    // A text that many have is found sooner by walking the list than by the index of names, which the planner can then choose.
    byName: countedListOf([alone], options, [`and ${scope}`]),
    byNameAndStatus: countedListOf([alone, statusFilter], options, [`and ${scope}`]),
    byNameOrConnector: countedListOf([scope, nameOrConnector], options),
    byNameOrConnectorAndStatus: countedListOf([scope, nameOrConnector, statusFilter], options),
  }
}

const lists = {
  account: { all: accountList(false), byStatus: accountList(true) },
  organization: { all: organizationList(false, 'organization'), byStatus: organizationList(true, 'organization') },
  accounts: { all: organizationList(false, 'accounts'), byStatus: organizationList(true, 'accounts') },
}
const namedLists = {
  account: namedListsOf(named.account),
  accounts: namedListsOf(named.accounts),
  accountBriefly: namedListsOf(named.accountBriefly),
  organization: namedListsOf(named.organization),
  organizationBriefly: namedListsOf(named.organizationBriefly),
}

/** The index of names contains groups of three letters. A shorter text is searched among all names of the scope. */
const indexedLettersMin = 3

/** The columns of an order, which an index has in this and in the opposite order. */
const orders: Readonly<Record<ConnectionOrder, string>> = {
  '-created': 'created_time desc, id desc',
  created: 'created_time, id',
  name: 'lower(name), id',
  '-name': 'lower(name) desc, id desc',
  '-lastTransfer': 'last_transfer_time desc nulls last, id desc',
  lastTransfer: 'last_transfer_time nulls first, id',
  nextTransfer: 'next_transfer_time, id',
  '-nextTransfer': 'next_transfer_time desc, id desc',
}
/** The planner drops a condition if its value is null. */
const narrowedBy = `
  and (:status::text is null or status = :status)
  and (:tags::text[] is null or (tag_keys @> :tags::text[] and tag_keys <> '{}'))
  and (:owner::text is null or case :owner when 'none' then owner_id is null else owner_id = :owner end)
  and (:like::text is null or name ilike :like
    or src_connector_id = any(:connectorIds::text[]) or dest_connector_id = any(:connectorIds::text[])
    or account_id = any(:namedAccountIds::text[]))`
/** Lists by labels, or in another order. They are planned for the values at hand, and what they find is counted. */
const narrowedListOf = (scope: keyof typeof listedBy, sort: ConnectionOrder) => {
  return statement<Filter & Page, ConnectionEntryRow>(
    `
    select ${entryColumns}
    from (
      select * from connections where ${conditionOf([listedBy[scope]])} ${narrowedBy}
      order by ${orders[sort]} limit :size offset :offset
    ) c
    order by ${orders[sort]}`,
    { plannedEachTime: true },
  )
}
const narrowedCountOf = (scope: keyof typeof listedBy) =>
  countOf(`${conditionOf([listedBy[scope]])} ${narrowedBy}`, { plannedEachTime: true })
const narrowedCounts = {
  account: narrowedCountOf('account'),
  organization: narrowedCountOf('organization'),
  accounts: narrowedCountOf('accounts'),
}
const narrowedLists = Object.fromEntries(
  (['account', 'organization', 'accounts'] as const).map((scope) => [
    scope,
    Object.fromEntries(connectionOrders.map((sort) => [sort, narrowedListOf(scope, sort)])),
  ]),
) as Record<keyof typeof listedBy, Record<ConnectionOrder, ReturnType<typeof narrowedListOf>>>

/** Totals without a search, summed from the counts. */
const totals = {
  account: { all: accountTotal(false), byStatus: accountTotal(true) },
  organization: { all: lists.organization.all.count, byStatus: lists.organization.byStatus.count },
  accounts: { all: lists.accounts.all.count, byStatus: lists.accounts.byStatus.count },
}
function accountTotal(byStatus: boolean) {
  return statement<Filter, { total: number }>(`
    select ${totalOf(`${listedBy.organization} and ${listedBy.account}`, byStatus)} as total
    from connection_counts k where k.account_id = :accountId`)
}

type ConnectionList = {
  readonly list: Statement<Filter & Page, (ConnectionEntryRow | { id: null }) & { total?: number }>
  readonly count?: Statement<Filter, { total: number }>
  /** Whether counting stops at `countedMax` plus one. */
  readonly isBounded?: boolean
}

/** Picks the statements for a filter. There is a count where the list does not bring its total along. */
export function connectionList(filter: Filter): ConnectionList {
  const { accountId, accountIds, like, connectorIds, namedAccountIds, status, tags, owner, sort } = filter
  const scope = accountId !== null ? 'account' : accountIds !== null ? 'accounts' : 'organization'
  if (tags || owner || sort !== '-created' || namedAccountIds) {
    const isCounted = tags !== null || owner !== null || like !== null
    const count = isCounted ? narrowedCounts[scope] : totals[scope][status ? 'byStatus' : 'all']
    return { list: narrowedLists[scope][sort], count, isBounded: isCounted }
  }
  if (like === null) return lists[scope][status ? 'byStatus' : 'all']
  const isBrief = like.length - 2 < indexedLettersMin
  const of = namedLists[isBrief && scope !== 'accounts' ? (`${scope}Briefly` as const) : scope]
  if (!connectorIds?.length) return status ? of.byNameAndStatus : of.byName
  return status ? of.byNameOrConnectorAndStatus : of.byNameOrConnector
}

type Scope = Pick<Filter, 'organizationId' | 'accountId' | 'accountIds'>
/** Columns of a connection that come from other tables. */
export type DetailsRow = {
  drift: DriftMode
  rules: ConnectionRule[]
  blackout: Blackout | null
  runAfter: string[]
  group: string | null
}
const detailsSql = (scope: keyof typeof listedBy, condition = 'true') => `
    select ${connectionColumns}, c.tags, ${ownerColumns},
      coalesce((select t.drift from connection_states t where t.connection_id = c.id), 'ignore') as drift,
      coalesce((select r.rules from connection_rules r where r.connection_id = c.id), '[]') as rules,
      (select r.blackout from connection_rules r where r.connection_id = c.id) as blackout,
      array(
        select d.after_connection_id from connection_dependencies d where d.connection_id = c.id order by d.after_connection_id
      ) as run_after,
      (select g.group_name from connection_groups g where g.connection_id = c.id) as "group"
    from (
      select * from connections where ${listedBy[scope]} and not account_deleted and status <> 'deleted' and ${condition}
      order by created_time desc, id desc limit :size offset :offset
    ) c ${sideTables} ${ownerTable}
    order by c.created_time desc, c.id desc`
const detailsOf = (scope: keyof typeof listedBy) =>
  statement<Scope & Page, ConnectionRow & LabelsRow & DetailsRow>(`${detailsSql(scope)}`)
const details = {
  account: detailsOf('account'),
  organization: detailsOf('organization'),
  accounts: detailsOf('accounts'),
}

/** Whether a connection reads the rejected records of another one, which its setting names. */
const readsRejects = `src_connector_id = '${rejectedRecordsConnectorId}' and src_config ->> 'connection' in (
        :rejectsOf, (select o.name from connections o where o.id = :rejectsOf and o.account_id = connections.account_id)
      )`
const isChosen = `(:rejectsOf::text is null or ${readsRejects})
      and (:connectionIds::text[] is null or connections.id = any(:connectionIds))`
type Chosen = { rejectsOf: string | null; connectionIds: readonly string[] | null }
/** Planned for the actual values: connections of a page are found by their identifiers. */
const planned = { plannedEachTime: true }
const chosenOf = (scope: keyof typeof listedBy) => ({
  list: statement<Scope & Page & Chosen, ConnectionRow & LabelsRow & DetailsRow>(detailsSql(scope, isChosen), planned),
  count: statement<Scope & Chosen, { total: number }>(
    `
    select count(*) as total from connections
    where ${listedBy[scope]} and not account_deleted and status <> 'deleted' and ${isChosen}`,
    planned,
  ),
})
const chosen = {
  account: chosenOf('account'),
  organization: chosenOf('organization'),
  accounts: chosenOf('accounts'),
}

const nameOfScope = ({ accountId, accountIds }: Scope) =>
  accountId !== null ? 'account' : accountIds !== null ? 'accounts' : 'organization'

/**
 * Connections by their identifiers, or connections that read the rejected records of another one, in full and with their total.
 */
export const chosenList = (scope: Scope) => chosen[nameOfScope(scope)]

/** Connections that are not deleted, whole. */
export const detailsList = (scope: Scope) => details[nameOfScope(scope)]

/** How many of a scope are not deleted. */
export const countsOfKept = statement<Scope, { total: number }>(`
  select coalesce(sum(k.in_progress + k.active + k.disabled + k.broken + k.offline), 0)::bigint as total
  from connection_counts k join accounts a on a.id = k.account_id and a.deleted_time is null
  where k.organization_id = :organizationId
    and (:accountId::text is null or k.account_id = :accountId)
    and (:accountIds::text[] is null or k.account_id = any(:accountIds))
`)

type CountRow = Record<ConnectionStatus, number>
/** Of all organizations, as the operator sees them: deleted ones count until they are purged. */
export const countsOfAll = statement<Record<never, never>, CountRow>(`
  select ${Object.entries(columnsOfCounts)
    .map(([status, column]) => `coalesce(sum(${column}), 0)::bigint as "${status}"`)
    .join(', ')}
  from connection_counts
`)

/** Counts the connections of an account, without and with deleted ones that are not yet purged. */
export const countForQuota = statement<{ accountId: string }, { live: number; kept: number }>(`
  select live, live + deleted as kept
  from connection_counts, lateral (select in_progress + active + disabled + broken + offline as live) sums
  where account_id = :accountId
`)
