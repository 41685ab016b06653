import type { ConnectionTransferOrder, TransferOrder, TransferStatus } from '@penstock/wire'
import { isKept } from '../db/kept.ts'
import { type Statement, statement } from '../db/statement.ts'
import { type TransferRow, transferColumns } from './queries.ts'

/** Statements of the lists: the transfers of one connection, and those of many. */

type Filter = { connectionId: string; status: TransferStatus | null; sort: ConnectionTransferOrder }
type Page = { size: number; offset: number }
const newestFirst = 'order by t.created_time desc, t.id desc'
const oldestFirst = 'order by t.created_time, t.id'

/** Some connections have many transfers of a status and some have none: pages are planned for the values that they have. */
const listOf = (condition: string, order: string) =>
  statement<Filter & Page, TransferRow>(
    `
    select ${transferColumns} from transfers t where ${condition}
    ${order} limit :size offset :offset`,
    { plannedEachTime: true },
  )
/** Of each status the first ones, each by an index in its order, and of those the page: so much is read and no more. */
const listBy = (order: string) =>
  statement<Filter & Page & { statuses: readonly TransferStatus[] }, TransferRow>(`
    select ${transferColumns}
    from unnest(:statuses::text[]) as s (status)
    cross join lateral (
      select t.* from transfers t where t.connection_id = :connectionId and t.status = s.status
      ${order} limit :size::bigint + :offset::bigint
    ) t
    ${order} limit :size offset :offset
  `)
/** By a column that is set at the end, then by time. */
const largestFirst = (column: string) => listBy(`order by t.${column} desc nulls last, t.created_time desc, t.id desc`)
const smallestFirst = (column: string) => listBy(`order by t.${column} nulls first, t.created_time, t.id`)
const listsByValue = {
  '-duration': largestFirst('duration'),
  duration: smallestFirst('duration'),
  '-read': largestFirst('ended_read'),
  read: smallestFirst('ended_read'),
  '-rejected': largestFirst('ended_rejected'),
  rejected: smallestFirst('ended_rejected'),
}
const listsOf = (condition: string) => ({
  list: { ...listsByValue, '-created': listOf(condition, newestFirst), created: listOf(condition, oldestFirst) },
  count: statement<Filter, { total: number }>(`select count(*) as total from transfers t where ${condition}`),
})
const lists = {
  all: listsOf('t.connection_id = :connectionId'),
  byStatus: listsOf('t.connection_id = :connectionId and t.status = :status'),
}
/** Picks the statements for a filter; each has an index in its order. */
export const transferList = ({ status, sort }: Filter) => {
  const { list, count } = lists[status === null ? 'all' : 'byStatus']
  return { list: list[sort], count }
}

/** Which transfers a list over many connections keeps. */
export type WideFilter = {
  organizationId: string
  /** Null in the list of a whole organization. */
  accountId: string | null
  /** The sub-accounts that the actor is limited to; null: all. */
  accountIds: readonly string[] | null
  statuses: readonly TransferStatus[]
  /** Only the newest of each connection. */
  latest: boolean
  /** Null if they are not named. */
  connectionIds: readonly string[] | null
  sort: TransferOrder
}

/** A connection that can be asked for; the limit of one row has every plan look it up by its key. */
const ofKept = `
  cross join lateral (
    select from connections c where c.id = t.connection_id and not c.account_deleted and ${isKept('c')} limit 1
  ) kept`
type WideList = Statement<WideFilter & Page, TransferRow>
/** A statement for each order; both are those of the same indexes. */
const inEachOrder = (sql: (order: string) => string): Record<TransferOrder, WideList> => ({
  '-created': statement(sql(newestFirst)),
  created: statement(sql(oldestFirst)),
})

/** Of each status the first ones, each by an index in its order, and of those the page: so much is read and no more. */
const wideListOf = (parts: string, condition: string) =>
  inEachOrder(
    (order) => `
    select ${transferColumns}
    from ${parts}
    cross join lateral (
      select t.* from transfers t ${ofKept} where ${condition} and t.status = s.status
      ${order} limit :size::bigint + :offset::bigint
    ) t
    ${order} limit :size offset :offset
  `,
  )

/** All of a scope without those of connections that wait to be purged, and of deleted accounts: these are few. */
const wideCountOf = (scope: string, ofScope: string, latest: string) => {
  const count = (from: string, condition: string) =>
    `(select count(*) from ${from} where ${condition} and t.status = any(:statuses)${latest})`
  return statement<WideFilter, { total: number }>(`
    select ${count('transfers t', `t.${scope}`)}
      - ${count(
        'connections c join transfers t on t.connection_id = c.id',
        `c.${scope} and c.status = 'deleted' and not c.account_deleted and not ${isKept('c')}`,
      )}
      ${ofScope && `- ${count('accounts a join transfers t on t.account_id = a.id', ofScope)}`} as total
  `)
}

const statusesAsked = 'unnest(:statuses::text[]) as s (status)'
/** Those of the connections that are named that can be asked for. */
const connectionsAsked = `(
    select c.id from connections c
    where c.id = any(:connectionIds) and c.organization_id = :organizationId
      and (:accountId::text is null or c.account_id = :accountId)
      and (:accountIds::text[] is null or c.account_id = any(:accountIds)) and not c.account_deleted and ${isKept('c')}
  ) asked`

/** Found by the mark alone, so that every plan finds it by the index of the marked ones. */
const newestOfAsked = `
  cross join lateral (select * from transfers where connection_id = asked.id and latest limit 1) t`

const wideListsOf = (latest: '' | ' and t.latest') => ({
  account: {
    list: wideListOf(statusesAsked, `t.account_id = :accountId${latest}`),
    count: wideCountOf('account_id = :accountId', '', latest),
  },
  organization: {
    list: wideListOf(statusesAsked, `t.organization_id = :organizationId${latest}`),
    count: wideCountOf(
      'organization_id = :organizationId',
      'a.organization_id = :organizationId and a.deleted_time is not null',
      latest,
    ),
  },
  accounts: {
    list: wideListOf(statusesAsked, `t.organization_id = :organizationId and t.account_id = any(:accountIds)${latest}`),
    count: wideCountOf(
      'account_id = any(:accountIds)',
      'a.organization_id = :organizationId and a.id = any(:accountIds) and a.deleted_time is not null',
      latest,
    ),
  },
})

/** Of connections that are asked: a page of each, or its newest transfer. */
const listsOfAsked = {
  all: {
    list: wideListOf(`${connectionsAsked} cross join ${statusesAsked}`, 't.connection_id = asked.id'),
    count: statement<WideFilter, { total: number }>(`
      select count(*) as total from ${connectionsAsked} join transfers t on t.connection_id = asked.id
      where t.status = any(:statuses)
    `),
  },
  latest: {
    list: inEachOrder(
      (order) => `
      select ${transferColumns} from ${connectionsAsked} ${newestOfAsked}
      where t.status = any(:statuses) ${order} limit :size offset :offset
    `,
    ),
    count: statement<WideFilter, { total: number }>(`
      select count(*) as total from ${connectionsAsked} ${newestOfAsked} where t.status = any(:statuses)
    `),
  },
}
const wideLists = {
  all: { ...wideListsOf(''), asked: listsOfAsked.all },
  latest: { ...wideListsOf(' and t.latest'), asked: listsOfAsked.latest },
}

/** Picks the statements for a filter over many connections. */
export const wideTransferList = ({ accountId, accountIds, latest, connectionIds, sort }: WideFilter) => {
  const scopes = wideLists[latest ? 'latest' : 'all']
  const scope =
    connectionIds !== null
      ? 'asked'
      : accountId !== null
        ? 'account'
        : accountIds !== null
          ? 'accounts'
          : 'organization'
  const { list, count } = scopes[scope]
  return { list: list[sort], count }
}
