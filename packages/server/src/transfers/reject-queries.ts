import type { PlaceInFile, RejectState } from '@penstock/wire'
import { statement } from '../db/statement.ts'
import { ofTable } from './reject-tables.ts'

/** Statements that read what a transfer rejected. */

/** Bytes of a sealed record that is opened to show it; of larger ones the redacted copy is shown. */
const shownBytesMax = 65_536

export type RejectRow = {
  number: number
  row: number | null
  place: PlaceInFile | null
  count: number
  field: string | null
  /** Null if its key was lost. */
  reasonSealed: Buffer | null
  /** The table that it is of, and the columns of this table, if the transfer moved many. */
  table: string | null
  ownColumns: string[] | null
  /** The redacted copy. */
  record: Record<string, string | null>
  /** The record itself; null if it is not kept, or too large to show. */
  sealed: Buffer | null
  erased: boolean
  /** With corrected values; null if there are none. */
  editedSealed: Buffer | null
  /** Whether a replay delivered it. */
  replayed: boolean
  structural: boolean
  superseded: boolean
  state: RejectState
  /** The last replay of the transfer that sent it. */
  resentBy: string | null
  /** The reject in that replay, if it was rejected again, and the key of its reason. */
  againNumber: number | null
  againSealed: Buffer | null
  againKeyId: string | null
}

/**
 * Whether a replay sends a record, besides that it is kept and not delivered. It depends only on the corrections, which cannot change
 * while a replay is active.
 * @param rows SQL of the column `replay_rows` of the replay
 */
export const isInReplay = (rows: string): string =>
  `case ${rows} when 'corrected' then edited_sealed is not null when 'ready' then edited_sealed is not null or not structural else true end`

const shown = (condition: string, order: string) => `
  with active as (
    select a.id, a.replay_rows from transfers t
    join transfers a on a.connection_id = t.connection_id and a.replay_of = t.id and a.status in ('queued', 'running')
    where t.id = :transferId
  ),
  page as (select * from rejects where transfer_id = :transferId ${condition} order by number ${order})
  select r.number, r.row, r.place, r.count, r.field, r.reason_sealed, r.record,
    ${ofTable('table_name')} as "table", ${ofTable('source_columns')} as own_columns,
    case when octet_length(r.sealed) <= ${shownBytesMax} then r.sealed end as sealed,
    r.erased_time is not null as erased,
    case when octet_length(r.edited_sealed) <= ${shownBytesMax} then r.edited_sealed end as edited_sealed,
    r.replayed_by is not null as replayed, r.structural, r.superseded is not null as superseded,
    case
      when r.replayed_by is not null then 'accepted'
      when r.sealed is null then 'expired'
      when r.superseded is not null then 'left_out'
      when active.id is not null and again.transfer_id is distinct from active.id then 'sending'
      when r.structural and r.edited_sealed is null then 'needs_correction'
      when again.transfer_id is not null and coalesce(again.finished_time, 'infinity') > coalesce(r.edited_time, '-infinity') then 'rejected_again'
      when r.edited_sealed is not null then 'corrected'
      else 'waiting'
    end as state,
    coalesce(r.replayed_by, active.id, again.transfer_id) as resent_by,
    case when again.transfer_id = coalesce(r.replayed_by, active.id, again.transfer_id) then again.number end as again_number,
    again.reason_sealed as again_sealed, again.data_key_id as again_key_id
  from page r
  left join active on r.sealed is not null and r.replayed_by is null and ${isInReplay('active.replay_rows')}
  left join lateral (
    select o.transfer_id, o.number, o.reason_sealed, x.finished_time, x.data_key_id
    from rejects o join transfers x on x.id = o.transfer_id
    where o.origin_id = coalesce(r.origin_id, r.transfer_id) and o.origin_number = coalesce(r.origin_number, r.number)
      and x.replay_of = r.transfer_id
    order by x.created_time desc limit 1
  ) again on true
  order by r.number`

export const listRejects = statement<{ transferId: string; size: number; offset: number }, RejectRow>(
  shown('', 'limit :size offset :offset'),
)
export const rejectsAfter = statement<{ transferId: string; number: number; limit: number }, RejectRow>(
  shown('and number > :number', 'limit :limit'),
)
/** Whether a replay of these records would send any. */
export const hasRows = statement<{ transferId: string; rows: 'ready' | 'corrected' }, { found: boolean }>(`
  select exists (
    select from rejects
    where transfer_id = :transferId and sealed is not null and replayed_by is null and superseded is null
      and ${isInReplay(':rows::text')}
  ) as found
`)
/** The key that the rejected records of a transfer are sealed under, and the columns that they have. */
export const findSealing = statement<
  { transferId: string },
  { dataKeyId: string | null; sourceColumns: string[] | null }
>(`
  select data_key_id, source_columns from transfers where id = :transferId
`)
export const countRejects = statement<{ transferId: string }, { total: number }>(`
  select count(*) as total from rejects where transfer_id = :transferId
`)
/** Of the records that are stored completely: the number that no replay delivered, and the number that one did. */
export const countReplayable = statement<
  { transferId: string },
  { replayable: number; replayed: number; ofTables: boolean }
>(`
  select count(*) filter (where replayed_by is null) as replayable, count(replayed_by) as replayed,
    exists (select from transfer_parts where transfer_id = :transferId and table_name = '') as of_tables
  from rejects where transfer_id = :transferId and sealed is not null
`)

/** A transfer whose rejected records can be corrected, held: no replay of it starts meanwhile. */
export const findEditable = statement<
  { transferId: string },
  { dataKeyId: string | null; sourceColumns: string[] | null; active: boolean }
>(`
  select t.data_key_id, t.source_columns,
    t.status in ('queued', 'running') or exists (
      select from transfers r
      where r.connection_id = t.connection_id and r.replay_of = t.id and r.status in ('queued', 'running')
    ) as active
  from transfers t where t.id = :transferId
`)
export const lockRejects = statement<
  { transferId: string; numbers: readonly number[] },
  {
    number: number
    sealed: Buffer | null
    replayed: boolean
    erased: boolean
    structural: boolean
    superseded: boolean
    editedBytes: number
  }
>(`
  select number, sealed, coalesce(octet_length(edited_sealed), 0) as edited_bytes, replayed_by is not null as replayed, erased_time is not null as erased, structural,
    superseded is not null as superseded
  from rejects where transfer_id = :transferId and number = any(:numbers::int[]) order by number for update
`)
/**
 * Stores corrected records, sealed and in base64, in the order of their numbers; null takes the corrections back.
 * @param addedBytes by how many bytes the transfer keeps more than before
 */
export const saveEdits = statement<{
  transferId: string
  addedBytes: number
  numbers: readonly number[]
  edited: readonly (string | null)[]
}>(`
  with counted as (update transfers set kept_bytes = kept_bytes + :addedBytes where id = :transferId)
  update rejects r set edited_sealed = decode(e.edited, 'base64'), edited_time = clock_timestamp()
  from unnest(:numbers::int[], :edited::text[]) as e (number, edited)
  where r.transfer_id = :transferId and r.number = e.number
`)
