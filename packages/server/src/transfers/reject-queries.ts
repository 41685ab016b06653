import { statement } from '../db/statement.ts'

/** Statements that read what a transfer rejected. */

/** Bytes of a sealed record that is opened to show it; of larger ones the redacted copy is shown. */
const shownBytesMax = 65_536

export type RejectRow = {
  number: number
  row: number | null
  count: number
  field: string | null
  /** Null if its key was lost. */
  reasonSealed: Buffer | null
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
}
const shown = `number, row, count, field, reason_sealed, record,
    case when octet_length(sealed) <= ${shownBytesMax} then sealed end as sealed,
    erased_time is not null as erased,
    case when octet_length(edited_sealed) <= ${shownBytesMax} then edited_sealed end as edited_sealed, replayed_by is not null as replayed,
    structural, superseded is not null as superseded`

export const listRejects = statement<{ transferId: string; size: number; offset: number }, RejectRow>(`
  select ${shown} from rejects
  where transfer_id = :transferId order by number limit :size offset :offset
`)
export const rejectsAfter = statement<{ transferId: string; number: number; limit: number }, RejectRow>(`
  select ${shown} from rejects
  where transfer_id = :transferId and number > :number order by number limit :limit
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
export const countReplayable = statement<{ transferId: string }, { replayable: number; replayed: number }>(`
  select count(*) filter (where replayed_by is null) as replayable, count(replayed_by) as replayed
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
  update rejects r set edited_sealed = decode(e.edited, 'base64')
  from unnest(:numbers::int[], :edited::text[]) as e (number, edited)
  where r.transfer_id = :transferId and r.number = e.number
`)
