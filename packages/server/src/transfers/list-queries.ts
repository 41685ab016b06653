import type { ConnectionTransferOrder, TransferOrder, TransferStatus, TransferTrigger } from '@penstock/wire'
import { isKept } from '../db/kept.ts'
import { type Statement, statement } from '../db/statement.ts'
import { type TransferRow, transferColumns } from './queries.ts'

/** Statements of the lists: the transfers of one connection, those of many, and those of all organizations. */

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

// Of all organizations, for the operator

export type OperatorTransferRow = {
  id: string
  organizationId: string
  accountId: string
  connectionId: string
  connection: string
  status: TransferStatus
  trigger: TransferTrigger
  attempt: number
  cancelling: boolean
  /** The workers that have the transfer or its parts, or had it last. */
  worker: string | null
  /** Since the last heartbeat, of the part that is silent for longest. */
  heartbeatSeconds: number | null
  read: number
  accepted: number
  rejected: number
  parts: number | null
  partsRunning: number
  errorCode: string | null
  errorMessage: string | null
  createdTime: Date
  startedTime: Date | null
  finishedTime: Date | null
  /** Of a transfer that waits: its group if that is full, and how much runs of its sub-account and of its organization. */
  waitsForGroup: string | null
  accountRuns: number
  organizationRuns: number
  organizationLimit: number | null
}

/** How much runs of an owner, a part like a whole transfer. */
const runsOf = (owner: 'account_id' | 'organization_id') => `
  case when t.status = 'queued' then (
    select count(*) from active_transfers a
    left join transfer_parts p on a.divided and p.transfer_id = a.transfer_id and p.status = 'running'
    where a.${owner} = t.${owner} and a.running and (not a.divided or p.transfer_id is not null)
  ) else 0 end`

const operatorColumns = `
  t.id, t.organization_id, t.account_id, t.connection_id, c.name as connection, t.status, t.trigger, t.attempt, t.cancelling,
  p.worker, extract(epoch from now() - p.heartbeat_time)::float8 as heartbeat_seconds,
  t.read, t.accepted, t.rejected, nullif(t.parts, 1) as parts, case when t.parts > 1 then p.running else 0 end as parts_running, t.error_code, t.error_message,
  t.created_time, t.started_time, t.finished_time,
  case when t.status = 'queued' then group_waited_for(t.id) end as waits_for_group,
  ${runsOf('account_id')} as account_runs, ${runsOf('organization_id')} as organization_runs,
  (select value from organization_limits l where l.organization_id = t.organization_id and l.name = 'transfers') as organization_limit`

const withParts = `
  join connections c on c.id = t.connection_id
  cross join lateral (
    select count(*) filter (where status = 'running')::int as running, min(heartbeat_time) as heartbeat_time,
      coalesce(
        string_agg(distinct worker, ', ') filter (where status = 'running'),
        (array_agg(worker order by started_time desc nulls last))[1]
      ) as worker
    from transfer_parts where transfer_id = t.id
  ) p`

export type OperatorFilter = {
  statuses: readonly TransferStatus[]
  /** Only transfers that were tried and wait to be tried again. */
  retrying: boolean
  organizationId: string | null
  accountId: string | null
  connectionId: string | null
  worker: string | null
  /** Made at least so long ago. */
  olderThanSeconds: number
  limit: number
}

/** The newest of each organization and status are read in the order of an index, and of them the newest of all are listed. */
export const listOfOperator = statement<OperatorFilter, OperatorTransferRow>(
  `
  with newest as (
    select t.id, t.created_time
    from organizations o cross join unnest(:statuses::text[]) as s (status)
    cross join lateral (
      select id, created_time from transfers t
      where t.organization_id = o.id and t.status = s.status
        and (:accountId::text is null or t.account_id = :accountId)
        and (:connectionId::text is null or t.connection_id = :connectionId)
        and (:worker::text is null or exists (
          select from transfer_parts p
          where p.transfer_id = t.id and p.worker = :worker and (t.parts = 1 or p.status = 'running')
        ))
        and (not :retrying::boolean or t.status = 'queued' and t.attempt > 0 or t.status = 'running' and t.error_code is not null)
        and t.created_time <= now() - make_interval(secs => :olderThanSeconds::float8)
      order by t.created_time desc, t.id desc limit :limit
    ) t
    where :organizationId::text is null or o.id = :organizationId
    order by t.created_time desc, t.id desc limit :limit
  )
  select ${operatorColumns} from newest n join transfers t on t.id = n.id ${withParts}
  order by t.created_time desc, t.id desc`,
  { plannedEachTime: true },
)

export const findOfOperator = statement<{ id: string }, OperatorTransferRow>(
  `select ${operatorColumns} from transfers t ${withParts} where t.id = :id`,
)

export const partsOfOperator = statement<
  { id: string },
  {
    number: number
    status: string
    attempt: number
    worker: string | null
    heartbeatSeconds: number | null
    read: number
    accepted: number
    rejected: number
    errorCode: string | null
  }
>(`
  select number, status, attempt, worker, extract(epoch from now() - heartbeat_time)::float8 as heartbeat_seconds, read, accepted,
    rejected, error_code
  from transfer_parts where transfer_id = :id order by number
`)

export const lockOfOperator = statement<
  { id: string },
  { organizationId: string; accountId: string; status: TransferStatus; cancelling: boolean }
>(`select organization_id, account_id, status, cancelling from transfers where id = :id for no key update`)
