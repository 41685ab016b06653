import type { Values } from '@penstock/connector'
import type { ConnectionStatus, Role, TransferStatus, TransferTrigger } from '@penstock/wire'
import { isKept } from '../db/kept.ts'
import { statement } from '../db/statement.ts'

export type TransferRow = {
  id: string
  accountId: string
  connectionId: string
  status: TransferStatus
  trigger: TransferTrigger
  read: number
  sent: number
  accepted: number
  rejected: number
  bytes: number
  progress: number | null
  attempt: number
  errorCode: string | null
  errorMessage: string | null
  errorSide: Role | null
  srcConnectorId: string
  destConnectorId: string
  createdTime: Date
  startedTime: Date | null
  finishedTime: Date | null
}

const transferColumns = `
  t.id, t.account_id, t.connection_id, t.status, t.trigger, t.read, t.sent, t.accepted, t.rejected, t.bytes, t.progress,
  t.attempt, t.error_code, t.error_message, t.error_side, t.src_connector_id, t.dest_connector_id, t.created_time,
  t.started_time, t.finished_time`

export type RunnableRow = {
  id: string
  organizationId: string
  accountId: string
  status: ConnectionStatus
  env: string
  srcConnectorId: string
  destConnectorId: string
  srcConfig: Values
  destConfig: Values
  accountEnabled: boolean
}

const runnable = `
  select c.id, c.organization_id, c.account_id, c.status, c.env, c.src_connector_id, c.dest_connector_id,
    c.src_config, c.dest_config, a.enabled as account_enabled
  from connections c join accounts a on a.id = c.account_id
  where c.id = :id and c.account_id = :accountId and not c.account_deleted
    and ${isKept('c')}`

/** What is saved of an added connector; nothing where it is not added. */
export const findAddedSettings = statement<
  { accountId: string; connectorId: string },
  { settings: Values; configured: boolean }
>(`
  select settings, configured from added_connectors where account_id = :accountId and connector_id = :connectorId
`)

/** What a transfer of a connection would run on. */
export const findRunnable = statement<{ accountId: string; id: string }, RunnableRow>(runnable)

/** The same, held: its status cannot change before a transfer of it is written. */
export const holdRunnable = statement<{ accountId: string; id: string }, RunnableRow>(
  `${runnable} for no key update of c`,
)

export const insertTransfer = statement<
  {
    id: string
    organizationId: string
    accountId: string
    connectionId: string
    srcConnectorId: string
    destConnectorId: string
    trigger: TransferTrigger
    replayOf: string | null
    srcConfig: string
    destConfig: string
    confirmed: boolean
  },
  TransferRow
>(`
  with t as (
    insert into transfers
      (id, organization_id, account_id, connection_id, src_connector_id, dest_connector_id, status, trigger, replay_of,
       src_config, dest_config, src_settings, dest_settings, confirmed)
    values
      (:id, :organizationId, :accountId, :connectionId, :srcConnectorId, :destConnectorId, 'queued', :trigger,
       :replayOf, :srcConfig, :destConfig,
       (select settings from added_connectors where account_id = :accountId and connector_id = :srcConnectorId),
       (select settings from added_connectors where account_id = :accountId and connector_id = :destConnectorId),
       :confirmed)
    returning *
  )
  select ${transferColumns} from t
`)

/** Wakes a worker; in the transaction of the transfer that it is for. The job carries the identifier only. */
export const wakeWorker = statement<{ id: string }>(`
  select graphile_worker.add_job('transfer', json_build_object('id', :id::text))
`)

export const findActive = statement<{ connectionId: string }, TransferRow>(`
  select ${transferColumns} from transfers t
  where t.connection_id = :connectionId and t.status in ('queued', 'running')
`)

type Named = { accountId: string; connectionId: string; id: string }
const named = 't.id = :id and t.connection_id = :connectionId and t.account_id = :accountId'

export const findTransfer = statement<Named, TransferRow>(`select ${transferColumns} from transfers t where ${named}`)

export const lockTransfer = statement<Named, TransferRow>(
  `select ${transferColumns} from transfers t where ${named} for no key update`,
)

type Filter = { connectionId: string; status: TransferStatus | null }
/** Some connections have many transfers of a status and some have none: pages are planned for the values that they have. */
const listOf = (condition: string) => ({
  list: statement<Filter & { size: number; offset: number }, TransferRow>(
    `
    select ${transferColumns} from transfers t where ${condition}
    order by t.created_time desc, t.id desc limit :size offset :offset`,
    { plannedEachTime: true },
  ),
  count: statement<Filter, { total: number }>(`select count(*) as total from transfers t where ${condition}`),
})
const lists = {
  all: listOf('t.connection_id = :connectionId'),
  byStatus: listOf('t.connection_id = :connectionId and t.status = :status'),
}
/** Picks the statements for a filter; each has an index in its order. */
export const transferList = ({ status }: Filter) => lists[status === null ? 'all' : 'byStatus']

/** Which transfers a list over many connections keeps. */
export type WideFilter = {
  organizationId: string
  /** Null in the list of a whole organization. */
  accountId: string | null
  statuses: readonly TransferStatus[]
  /** Only the newest of each connection. */
  latest: boolean
  /** Null where they are not named. */
  connectionIds: readonly string[] | null
}

/** A connection that can be asked for; the limit of one row has every plan look it up by its key. */
const ofKept = `
  cross join lateral (
    select from connections c where c.id = t.connection_id and not c.account_deleted and ${isKept('c')} limit 1
  ) kept`
const newestFirst = 'order by t.created_time desc, t.id desc'

/** Of each status the newest, each by an index in its order, and of those the page: so much is read and no more. */
const wideListOf = (parts: string, condition: string) =>
  statement<WideFilter & { size: number; offset: number }, TransferRow>(`
    select ${transferColumns}
    from ${parts}
    cross join lateral (
      select t.* from transfers t ${ofKept} where ${condition} and t.status = s.status
      ${newestFirst} limit :size::bigint + :offset::bigint
    ) t
    ${newestFirst} limit :size offset :offset
  `)

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
      and (:accountId::text is null or c.account_id = :accountId) and not c.account_deleted and ${isKept('c')}
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
    list: statement<WideFilter & { size: number; offset: number }, TransferRow>(`
      select ${transferColumns} from ${connectionsAsked} ${newestOfAsked}
      where t.status = any(:statuses) ${newestFirst} limit :size offset :offset
    `),
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
export const wideTransferList = ({ accountId, latest, connectionIds }: WideFilter) =>
  wideLists[latest ? 'latest' : 'all'][
    connectionIds !== null ? 'asked' : accountId === null ? 'organization' : 'account'
  ]

/**
 * A transfer that waits for its first worker ends at once. One that has begun ends at its next batch, so that its worker can
 * remove incomplete data from the destination.
 */
export const cancelTransfer = statement<{ id: string }, TransferRow>(`
  with t as (
    update transfers set
      cancelling = true,
      status = case when status = 'queued' and attempt = 0 then 'cancelled' else status end,
      finished_time = case when status = 'queued' and attempt = 0 then now() end
    where id = :id and status in ('queued', 'running')
    returning *
  )
  select ${transferColumns} from t
`)

export type RejectRow = {
  number: number
  row: number | null
  count: number
  field: string | null
  reasonSealed: Buffer | null
  /** As the version before stored it; empty where it is sealed. */
  reason: string
  record: Record<string, string | null>
}
export const listRejects = statement<{ transferId: string; size: number; offset: number }, RejectRow>(`
  select number, row, count, field, reason_sealed, reason, record from rejects
  where transfer_id = :transferId order by number limit :size offset :offset
`)
export const rejectsAfter = statement<{ transferId: string; number: number; limit: number }, RejectRow>(`
  select number, row, count, field, reason_sealed, reason, record from rejects
  where transfer_id = :transferId and number > :number order by number limit :limit
`)
/** The key that the rejected records of a transfer are sealed under. */
export const findDataKeyId = statement<{ transferId: string }, { dataKeyId: string | null }>(`
  select data_key_id from transfers where id = :transferId
`)
export const countRejects = statement<{ transferId: string }, { total: number }>(`
  select count(*) as total from rejects where transfer_id = :transferId
`)
/** Of the records that are kept whole: those that were not delivered by a replay, and those that were. */
export const countReplayable = statement<{ transferId: string }, { replayable: number; replayed: number }>(`
  select count(*) filter (where replayed_by is null) as replayable, count(replayed_by) as replayed
  from rejects where transfer_id = :transferId and sealed is not null
`)

export type ScheduleRow = {
  connectionId: string
  cron: string
  timezone: string
  enabled: boolean
  nextTime: Date | null
  lastTime: Date | null
  /** Whether all schedules are. */
  paused: boolean
}
const scheduleColumns = `s.connection_id, s.cron, s.timezone, s.enabled, s.next_time, s.last_time,
  exists (select from schedule_pauses) as paused`

export const findSchedule = statement<{ accountId: string; connectionId: string }, ScheduleRow>(`
  select ${scheduleColumns} from schedules s join connections c on c.id = s.connection_id
  where s.connection_id = :connectionId and c.account_id = :accountId and not c.account_deleted and ${isKept('c')}
`)
export const putSchedule = statement<
  { connectionId: string; cron: string; timezone: string; enabled: boolean; nextTime: Date | null },
  ScheduleRow
>(`
  insert into schedules as s (connection_id, cron, timezone, enabled, next_time)
  values (:connectionId, :cron, :timezone, :enabled, :nextTime)
  on conflict (connection_id) do update set
    cron = excluded.cron, timezone = excluded.timezone, enabled = excluded.enabled, next_time = excluded.next_time
  returning ${scheduleColumns}
`)
/** Locks the organization, so that its schedules are enabled one at a time; rows that refer to it need not wait. */
export const lockOrganization = statement<{ organizationId: string }, { id: string }>(`
  select id from organizations where id = :organizationId for no key update
`)
/** The enabled schedules of an organization whose connections are not deleted. */
export const countEnabledSchedules = statement<{ organizationId: string }, { live: number }>(`
  select count(*) as live from schedules s join connections c on c.id = s.connection_id
  where s.organization_id = :organizationId and s.enabled and c.status <> 'deleted'
`)
/** Removes the schedule of a connection, if it has one. */
export const deleteSchedule = statement<{ connectionId: string }, ScheduleRow>(`
  delete from schedules s where s.connection_id = :connectionId returning ${scheduleColumns}
`)

// The purge. Each statement removes a part, so that none takes long, and skips rows that another one removes already.

const isOld = `
  t.data_key_id is not null and t.finished_time < now() - make_interval(days => :days)
  and not exists (
    select from transfers r where r.connection_id = t.connection_id and r.replay_of = t.id and r.status in ('queued', 'running')
  )`

/** Rejected records of transfers that ended so long ago, unless they are being sent again. */
export const purgeRejects = statement<{ days: number; limit: number }>(`
  delete from rejects where (transfer_id, number) in (
    select r.transfer_id, r.number from transfers t join rejects r on r.transfer_id = t.id
    where ${isOld}
    limit :limit for update of r skip locked
  )
`)

/** Drops the reference to the data key from such transfers, once all their rejected records are gone. */
export const forgetDataKeys = statement<{ days: number; limit: number }>(`
  update transfers set data_key_id = null where id in (
    select t.id from transfers t
    where ${isOld} and not exists (select from rejects r where r.transfer_id = t.id)
    limit :limit for update of t skip locked
  )
`)

/** Transfers of connections that were deleted so long ago, with their rejected records. Their ledger stays. */
export const purgeTransfers = statement<{ windowDays: number; limit: number }>(`
  delete from transfers where id in (
    select t.id from connections c join transfers t on t.connection_id = c.id
    where c.status = 'deleted' and c.deleted_time < now() - make_interval(days => :windowDays)
    limit :limit for update of t skip locked
  )
`)

/** The ledger of accounts that were deleted so long ago. */
export const purgeLedger = statement<{ windowDays: number; limit: number }>(`
  delete from ledger where (transfer_id, number) in (
    select l.transfer_id, l.number from accounts a join ledger l on l.account_id = a.id
    where a.deleted_time < now() - make_interval(days => :windowDays)
    limit :limit for update of l skip locked
  )
`)

// Pauses of schedules

export const pauseSchedules = statement<{ reason: string }>(`
  insert into schedule_pauses (reason) values (:reason) on conflict (reason) do nothing
`)
export const resumeSchedules = statement(`delete from schedule_pauses`)
export const findPause = statement<Record<never, never>, { reason: string; createdTime: Date }>(`
  select reason, created_time from schedule_pauses order by created_time limit 1
`)
