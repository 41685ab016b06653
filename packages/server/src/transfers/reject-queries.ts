import { statement } from '../db/statement.ts'

/** Statements that read what a transfer rejected. */

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
