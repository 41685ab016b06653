import { lacks } from '../../db/errors.ts'
import { statement } from '../../db/statement.ts'
import { type Fence, ownPart, type PartFence, type PendingParameters, type StandingRow } from './queries.ts'

/** Statements that store what a destination confirmed, and what outlives the transfer (invariants 9 and 10). */

const thisMonth = "to_char(now() at time zone 'UTC', 'YYYY-MM')"
/** The volume of this month before the batch: the stored number may be of an earlier month. */
const volumeOfMonth = `case when volume_month = ${thisMonth} then monthly_volume else 0 end`

/**
 * Stores what was confirmed of a part, and announces the batch that follows (invariants 9 and 10). The counts of the transfer are the sums
 * of those of its parts at any time. Rows are taken in this order: account, connection, transfer, part, counter of the organization; each
 * CTE needs the one before, so that no plan can change the order. If the part is another worker's by now, the ledger entry has no
 * transfer and PostgreSQL refuses all of it: `isOfLostTransfer`.
 */
export const confirmBatch = statement<
  PartFence & {
    accountId: string
    connectionId: string
    organizationId: string
    number: number
    read: number
    sent: number
    accepted: number
    rejected: number
    removed: number
    filtered: number
    unchanged: number
    duplicates: number
    noConsent: number
    controlGroup: number
    /** Whether the records were read from rejected ones, and not from the source. */
    replay: boolean
    test: boolean
    bytes: number
    progress: number | null
    checkpoint: Buffer | null
    cursor: Buffer | null
    deliveryState: Buffer | null
  } & PendingParameters,
  StandingRow
>(`
  with account as (
    update accounts set
      volume = volume + case when :test::boolean then 0 else :accepted end,
      monthly_volume = case when :test then 0 else :accepted end + ${volumeOfMonth},
      volume_month = ${thisMonth}
    where id = :accountId returning id, enabled
  ),
  connection as (
    update connections c set
      total_volume = total_volume + case when :test or :replay::boolean then 0 else :read end,
      used_volume = used_volume + case when :test then 0 else :accepted end,
      monthly_volume = case when :test then 0 else :accepted end + ${volumeOfMonth},
      volume_month = ${thisMonth}
    from account a where c.id = :connectionId and c.account_id = a.id
    returning c.id, c.status, c.account_deleted, a.enabled
  ),
  transfer as (
    update transfers t set
      read = read + :read, sent = sent + :sent, accepted = accepted + :accepted, rejected = rejected + :rejected,
      removed = removed + :removed, filtered = filtered + :filtered, unchanged = unchanged + :unchanged, duplicates = duplicates + :duplicates, no_consent = no_consent + :noConsent, control_group = control_group + :controlGroup,
      bytes = bytes + :bytes,
      progress = case
        when :progress::float8 is null then progress
        when t.parts = 1 then :progress
        else least(1, coalesce(progress, 0) + (select (:progress - p.progress) * p.share from transfer_parts p where ${ownPart}))
      end,
      error_code = null, error_message = null, error_side = null
    from connection c
    where t.id = :id and t.parts = :parts and t.status = 'running' and t.connection_id = c.id
    returning t.id, t.cancelling, c.status, c.enabled as account_enabled, c.account_deleted as gone
  ),
  part as (
    update transfer_parts p set
      read = read + :read, accepted = accepted + :accepted, rejected = rejected + :rejected,
      progress = coalesce(:progress, progress), pending = :pending, announced_sealed = :announced, crashes = 0,
      checkpoint_sealed = coalesce(:checkpoint, checkpoint_sealed), cursor_sealed = coalesce(:cursor, cursor_sealed),
      error_code = null, error_message = null, error_side = null, heartbeat_time = now()
    from transfer t where ${ownPart} and p.transfer_id = t.id
    returning t.id, t.cancelling, t.status, t.account_enabled, t.gone
  ),
  counted as (
    insert into organization_rows as o (organization_id, month, stripe, rows)
    select :organizationId, ${thisMonth}, hashtext(:accountId) & 15, :accepted::bigint
    from part where not :test and :accepted > 0
    on conflict (organization_id, month, stripe) do update set rows = o.rows + excluded.rows
  ),
  entry as (
    insert into ledger
      (transfer_id, number, organization_id, account_id, connection_id, day, read, accepted, rejected, replayed, replay, test,
       bytes, delivery_state_sealed)
    values
      ((select id from part), :number, :organizationId, :accountId, :connectionId,
       (now() at time zone 'UTC')::date, :read, :accepted, :rejected,
       case when :replay then :accepted else 0 end, :replay, :test, :bytes, :deliveryState)
  )
  select status, account_enabled, cancelling, gone from part
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
  structural: readonly boolean[]
  keys: readonly (string | null)[]
  superseded: readonly (string | null)[]
  places: readonly (string | null)[]
}>(`
  insert into rejects (transfer_id, number, row, count, field, reason_sealed, record, sealed, structural, key, superseded,
    place)
  select :transferId, :after::int + n, row, count, field, decode(reason, 'base64'), record, decode(sealed, 'base64'), structural, key,
    superseded, place::jsonb
  from unnest(:rows::bigint[], :counts::int[], :fields::text[], :reasons::text[], :records::json[], :sealed::text[],
    :structural::boolean[], :keys::text[],
    :superseded::text[], :places::text[]) with ordinality
    as r (row, count, field, reason, record, sealed, structural, key, superseded, place, n)
  order by n
`)

/** Bytes of what is kept of the rejected records of a transfer. */
export const keptBytesOf = statement<{ id: string }, { bytes: number }>(`
  select kept_bytes as bytes from transfers where id = :id
`)
export const addKeptBytes = statement<{ id: string; bytes: number }>(`
  update transfers set kept_bytes = kept_bytes + :bytes where id = :id
`)

/** How many rejects of a transfer are kept, and the number of the last one of it or of a part of it. */
export const countKeptRejects = statement<
  { transferId: string; after: number; until: number },
  { kept: number; last: number | null }
>(`
  select count(*)::int as kept, max(number) filter (where number > :after and number <= :until) as last
  from rejects where transfer_id = :transferId
`)

export const keepDataKey = statement<Fence & { dataKeyId: string }>(`
  update transfers set data_key_id = :dataKeyId
  where id = :id and attempt = :attempt and status = 'running' and parts = 1
`)

/** Makes this the key of what outlives the transfers of a connection. */
export const keepConnectionDataKey = statement<{ connectionId: string; dataKeyId: string }>(`
  insert into connection_states (connection_id, data_key_id) values (:connectionId, :dataKeyId)
  on conflict (connection_id) do update set data_key_id = excluded.data_key_id
`)

/** At once: what a destination made for the connection is there, however the transfer ends. */
export const saveState = statement<{ connectionId: string; state: Buffer }>(`
  insert into connection_states (connection_id, state_sealed) values (:connectionId, :state)
  on conflict (connection_id) do update set state_sealed = excluded.state_sealed
`)

/** How much a transfer that replaced everything put in its place. */
export const saveReplaced = statement<{ id: string }>(`
  insert into connection_states (connection_id, replaced)
  select connection_id, sent from transfers where id = :id
  on conflict (connection_id) do update set replaced = excluded.replaced
`)
