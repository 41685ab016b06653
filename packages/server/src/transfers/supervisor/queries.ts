import type { Json, Values } from '@penstock/connector'
import type { ConnectionStatus, Role, TransferErrorCode, TransferTrigger } from '@penstock/wire'
import { lacks } from '../../db/errors.ts'
import { statement } from '../../db/statement.ts'
import { makingDataKey } from '../../secrets/queries.ts'

/** Statements of the workers. Each that changes a transfer names the attempt: a worker that lost it changes nothing. */

export type WorkRow = StandingRow & {
  id: string
  organizationId: string
  accountId: string
  connectionId: string
  srcConnectorId: string
  destConnectorId: string
  trigger: TransferTrigger
  replayOf: string | null
  srcConfig: Values
  destConfig: Values
  /** Saved configuration without secrets as it was at the start; none in rows of earlier versions. */
  srcSettings: Values | null
  destSettings: Values | null
  confirmed: boolean
  read: number
  attempt: number
  checkpointSealed: Buffer | null
  checkpoint: Json | null
  pending: number | null
  unconfirmed: number | null
  sourceColumns: string[] | null
  columns: string[] | null
  dataKeyId: string | null
  createdTime: Date
  startedTime: Date
  connectionDataKeyId: string | null
  cursorSealed: Buffer | null
  cursor: Json | null
  stateSealed: Buffer | null
  state: Json | null
  replaced: number | null
}

/** Only one claims at a time, so that no limit is passed by two at once. */
export const holdClaims = statement(`select pg_advisory_xact_lock(hashtext('penstock claims'), 0)`)

/** What a worker must know of a transfer. */
const workOf = (transfers: 'transfers' | 'claimed') => `
  select t.id, t.organization_id, t.account_id, t.connection_id, t.src_connector_id, t.dest_connector_id, t.trigger,
    t.replay_of,
    case when t.src_settings is null then c.src_config || t.src_config else t.src_config end as src_config,
    case when t.src_settings is null then c.dest_config || t.dest_config else t.dest_config end as dest_config,
    t.src_settings, t.dest_settings, t.confirmed, t.read, t.attempt, t.position_sealed as checkpoint_sealed, t.position as checkpoint, t.pending,
    t.source_columns, t.columns, t.data_key_id, t.created_time, t.started_time,
    m.data_key_id as connection_data_key_id, m.marker_sealed as cursor_sealed, m.marker as cursor, m.memory_sealed as state_sealed, m.memory as state, m.replaced,
    case when t.read = 0 then m.pending end as unconfirmed,
    c.status, a.enabled as account_enabled, t.cancelling, c.account_deleted as gone
  from ${transfers} t
  join connections c on c.id = t.connection_id
  join accounts a on a.id = c.account_id
  left join connection_memories m on m.connection_id = t.connection_id`

/**
 * Claims the transfer whose turn it is: of the organizations with room the one that runs least, in it of the accounts
 * with room the one that runs least, and in it the oldest. So a thousand transfers of one account delay no one else. Of
 * each account that waits only the first transfer is looked at: it takes longer with more accounts that wait, and not
 * with more transfers.
 */
export const claimTransfer = statement<
  {
    perAccount: number
    perPlatform: number
    platformConnectors: string
    fullOrganizations: readonly string[]
    fullAccounts: readonly string[]
  },
  WorkRow
>(`
  with recursive running as (
    select id, organization_id, account_id, src_connector_id, dest_connector_id from transfers where status = 'running'
  ),
  platforms as (
    select p.connector, p.platform from jsonb_to_recordset(:platformConnectors::jsonb) as p (connector text, platform text)
  ),
  full_platforms as (
    select p.platform from running r join platforms p on p.connector in (r.src_connector_id, r.dest_connector_id)
    group by p.platform having count(distinct r.id) >= :perPlatform::int
  ),
  barred as (select connector from platforms where platform in (select platform from full_platforms)),
  waiting_accounts as (
    (select account_id from transfers where status = 'queued' order by account_id limit 1)
    union all
    select (
      select t.account_id from transfers t
      where t.status = 'queued' and t.account_id > w.account_id order by t.account_id limit 1
    )
    from waiting_accounts w where w.account_id is not null
  ),
  with_room as (
    select w.account_id, coalesce(r.runs, 0) as runs
    from waiting_accounts w
    left join (select account_id, count(*) as runs from running group by account_id) r on r.account_id = w.account_id
    where w.account_id is not null and coalesce(r.runs, 0) < :perAccount::int
      and w.account_id <> all(:fullAccounts::text[])
  ),
  next as (
    select oldest.id
    from with_room a
    cross join lateral (
      select t.id, t.organization_id, t.created_time from transfers t
      where t.status = 'queued' and t.account_id = a.account_id
        and not exists (select from barred b where b.connector in (t.src_connector_id, t.dest_connector_id))
      order by t.created_time, t.id limit 1
    ) oldest
    left join (select organization_id, count(*) as runs from running group by organization_id) o
      on o.organization_id = oldest.organization_id
    where oldest.organization_id <> all(:fullOrganizations::text[])
    order by coalesce(o.runs, 0), a.runs, oldest.created_time, oldest.id limit 1
  ),
  claimed as (
    update transfers set
      status = 'running', attempt = attempt + 1, heartbeat_time = now(), started_time = coalesce(started_time, now()),
      error_code = null, error_message = null, error_side = null
    where id in (select id from next) and status = 'queued'
    returning *
  )
  ${workOf('claimed')}
`)

/** A running transfer, as it is now. */
export const findWork = statement<{ id: string }, WorkRow>(`
  ${workOf('transfers')} where t.id = :id and t.status = 'running'
`)

export const deliveryStatesOf = statement<
  { transferId: string },
  { number: number; deliveryStateSealed: Buffer | null; deliveryState: Json | null }
>(`
  select number, receipt_sealed as delivery_state_sealed, receipt as delivery_state from ledger where transfer_id = :transferId order by number
`)

export type Fence = { id: string; attempt: number }
export type StandingRow = { status: ConnectionStatus; accountEnabled: boolean; cancelling: boolean; gone: boolean }

/** Sends a heartbeat, and asks whether the worker may continue (invariant 3). No row: the transfer is no longer its own. */
export const heartbeat = statement<Fence, StandingRow>(`
  update transfers t set heartbeat_time = now()
  from connections c join accounts a on a.id = c.account_id
  where t.id = :id and t.attempt = :attempt and t.status = 'running' and c.id = t.connection_id
  returning c.status, a.enabled as account_enabled, t.cancelling, c.account_deleted as gone
`)

/** The same before each batch, and what the batch covers. */
export const beginBatch = statement<Fence & { pending: number | null }, StandingRow>(`
  update transfers t set heartbeat_time = now(), pending = :pending
  from connections c join accounts a on a.id = c.account_id
  where t.id = :id and t.attempt = :attempt and t.status = 'running' and c.id = t.connection_id
  returning c.status, a.enabled as account_enabled, t.cancelling, c.account_deleted as gone
`)

/**
 * The same before the first batch of a session, with the columns, and with a data key for a transfer that has none. The
 * key is kept only while the master key that it is sealed under is the current one.
 */
export const beginFirstBatch = statement<
  Fence & {
    pending: number | null
    sourceColumns: string
    columns: string
    dataKeyId: string | null
    keyId: string | null
    sealed: Buffer | null
  },
  StandingRow & { dataKeyId: string | null }
>(`
  with ${makingDataKey('exists (select from transfers where id = :id and data_key_id is null)')}
  update transfers t set
    heartbeat_time = now(), pending = :pending, source_columns = :sourceColumns, columns = :columns,
    data_key_id = coalesce(t.data_key_id, (select id from made))
  from connections c join accounts a on a.id = c.account_id
  where t.id = :id and t.attempt = :attempt and t.status = 'running' and c.id = t.connection_id
  returning c.status, a.enabled as account_enabled, t.cancelling, c.account_deleted as gone, t.data_key_id
`)

export const keepDataKey = statement<Fence & { dataKeyId: string }>(`
  update transfers set data_key_id = :dataKeyId
  where id = :id and attempt = :attempt and status = 'running'
`)

/** Makes this the key of what outlives the transfers of a connection. */
export const keepConnectionDataKey = statement<{ connectionId: string; dataKeyId: string }>(`
  insert into connection_memories (connection_id, data_key_id) values (:connectionId, :dataKeyId)
  on conflict (connection_id) do update set data_key_id = excluded.data_key_id
`)

/**
 * Stores what was confirmed, and announces the batch that follows (invariants 9 and 10). Rows are taken in this order:
 * account, connection, transfer; each part needs the one before, so that no plan can change the order. Where the transfer
 * is another worker's by now, the ledger entry has no transfer and PostgreSQL refuses all of it: `isOfLostTransfer`.
 */
export const confirmBatch = statement<
  Fence & {
    accountId: string
    connectionId: string
    organizationId: string
    number: number
    read: number
    sent: number
    accepted: number
    rejected: number
    replayed: number
    bytes: number
    progress: number | null
    checkpoint: Buffer | null
    cursor: Buffer | null
    deliveryState: Buffer | null
    pending: number | null
  },
  StandingRow
>(`
  with account as (
    update accounts set volume = volume + :accepted where id = :accountId returning id, enabled
  ),
  connection as (
    update connections c set
      total_volume = total_volume + :read, used_volume = used_volume + :accepted,
      monthly_volume = :accepted + case
        when volume_month = to_char(now() at time zone 'UTC', 'YYYY-MM') then monthly_volume else 0
      end,
      volume_month = to_char(now() at time zone 'UTC', 'YYYY-MM')
    from account a where c.id = :connectionId and c.account_id = a.id
    returning c.id, c.status, c.account_deleted, a.enabled
  ),
  transfer as (
    update transfers t set
      read = read + :read, sent = sent + :sent, accepted = accepted + :accepted, rejected = rejected + :rejected,
      bytes = bytes + :bytes, progress = coalesce(:progress, progress), pending = :pending, crashes = 0,
      position_sealed = coalesce(:checkpoint, position_sealed),
      position = case when :checkpoint::bytea is null then position end,
      marker_sealed = coalesce(:cursor, marker_sealed), marker = case when :cursor::bytea is null then marker end,
      error_code = null, error_message = null, error_side = null, heartbeat_time = now()
    from connection c
    where t.id = :id and t.attempt = :attempt and t.status = 'running' and t.connection_id = c.id
    returning t.id, t.cancelling, c.status, c.enabled as account_enabled, c.account_deleted as gone
  ),
  entry as (
    insert into ledger
      (transfer_id, number, organization_id, account_id, connection_id, day, read, accepted, rejected, replayed, bytes,
       receipt_sealed)
    values
      ((select id from transfer), :number, :organizationId, :accountId, :connectionId,
       (now() at time zone 'UTC')::date, :read, :accepted, :rejected, :replayed, :bytes, :deliveryState)
  )
  select status, account_enabled, cancelling, gone from transfer
`)

/** Whether `confirmBatch` found the transfer to be another worker's. */
export const isOfLostTransfer = (error: unknown): boolean => lacks(error, 'transfer_id')

export const insertRejects = statement<{
  transferId: string
  after: number
  rows: readonly (number | null)[]
  counts: readonly number[]
  fields: readonly (string | null)[]
  /** Sealed, in base64, as the records are. */
  reasons: readonly string[]
  records: readonly string[]
  sealed: readonly (string | null)[]
}>(`
  insert into rejects (transfer_id, number, row, count, field, reason_sealed, record, sealed)
  select :transferId, :after::int + n, row, count, field, decode(reason, 'base64'), record, decode(sealed, 'base64')
  from unnest(:rows::bigint[], :counts::int[], :fields::text[], :reasons::text[], :records::json[], :sealed::text[])
    with ordinality as r (row, count, field, reason, record, sealed, n)
`)

export const countKeptRejects = statement<{ transferId: string }, { kept: number }>(`
  select coalesce(max(number), 0) as kept from rejects where transfer_id = :transferId
`)

/** At once: what a destination made for the connection is there, however the transfer ends. */
export const saveState = statement<{ connectionId: string; state: Buffer }>(`
  insert into connection_memories (connection_id, memory_sealed) values (:connectionId, :state)
  on conflict (connection_id) do update set memory_sealed = excluded.memory_sealed, memory = null
`)

/** How much a transfer that replaced everything put in its place. */
export const saveReplaced = statement<{ id: string }>(`
  insert into connection_memories (connection_id, replaced)
  select connection_id, sent from transfers where id = :id
  on conflict (connection_id) do update set replaced = excluded.replaced
`)

/** A transient error, while the transfer retries. */
export const recordRetry = statement<Fence & { code: TransferErrorCode; message: string; side: Role | null }>(`
  update transfers set error_code = :code, error_message = :message, error_side = :side
  where id = :id and attempt = :attempt and status = 'running'
`)

/** Gives a transfer back, so that another worker claims it at once. */
export const releaseTransfer = statement<Fence>(`
  update transfers set status = 'queued', heartbeat_time = null
  where id = :id and attempt = :attempt and status = 'running'
`)

/** The runner of a transfer died: queues it again, unless that happened too often since a batch was last confirmed. */
export const requeueCrashed = statement<Fence & { crashesMax: number }>(`
  update transfers set status = 'queued', heartbeat_time = null, crashes = crashes + 1
  where id = :id and attempt = :attempt and status = 'running' and crashes < :crashesMax
`)

// Upkeep

export const requeueLost = statement<{ heartbeatTimeoutSeconds: number }, { id: string }>(`
  update transfers set status = 'queued', heartbeat_time = null
  where id in (
    select id from transfers
    where status = 'running' and heartbeat_time < now() - make_interval(secs => :heartbeatTimeoutSeconds)
    for update skip locked
  )
  returning id
`)

/** Some transfer that waits, if one does; in the order of the index, so that it alone is read. */
export const someQueued = statement<Record<never, never>, { id: string }>(`
  select id from transfers where status = 'queued' order by account_id, created_time limit 1
`)

/** A schedule that is due, taken: no other worker starts it. */
export const takeDue = statement<
  Record<never, never>,
  { connectionId: string; accountId: string; cron: string; timezone: string }
>(`
  select s.connection_id, c.account_id, s.cron, s.timezone
  from schedules s join connections c on c.id = s.connection_id
  where s.enabled and s.next_time <= now() and not exists (select from schedule_pauses)
  order by s.next_time limit 1 for update of s skip locked
`)
export const moveSchedule = statement<{ connectionId: string; nextTime: Date | null }>(`
  update schedules set next_time = :nextTime, last_time = now() where connection_id = :connectionId
`)

export const scheduleProbe = statement<{ connectionId: string; inSeconds: number }>(`
  insert into probes (connection_id, next_time) values (:connectionId, now() + make_interval(secs => :inSeconds))
  on conflict (connection_id) do update set attempts = 0, next_time = excluded.next_time
`)

/** Probes that are due, each put off already, ever longer: a worker that dies while it probes is no hindrance. */
export const takeProbes = statement<
  { limit: number; mostSeconds: number },
  { connectionId: string; accountId: string; srcConnectorId: string; destConnectorId: string }
>(`
  update probes p set
    attempts = attempts + 1, next_time = now() + make_interval(secs => least(:mostSeconds::int, 60 * 2 ^ least(attempts, 10)))
  from connections c
  where c.id = p.connection_id and p.connection_id in (
    select d.connection_id from probes d join connections o on o.id = d.connection_id
    where d.next_time <= now() and o.status = 'offline'
    order by d.next_time limit :limit for update of d skip locked
  )
  returning p.connection_id, c.account_id, c.src_connector_id, c.dest_connector_id
`)
export const dropProbe = statement<{ connectionId: string }>(`delete from probes where connection_id = :connectionId`)
