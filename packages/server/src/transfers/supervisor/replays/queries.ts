import { statement } from '../../../db/statement.ts'

/**
 * Rejected records of a transfer that is replayed, less the records that another replay delivered. A replay finds the
 * same ones from its beginning to its end, since no other runs beside it, and so the same batches after a crash.
 */
const toReplay = 'transfer_id = :transferId and sealed is not null and (replayed_by is null or replayed_by = :replay)'
export const replayedRejects = statement<
  { transferId: string; replay: string; number: number; limit: number; bytes: number },
  /** `edited`: with corrected values. */
  { number: number; sealed: Buffer; edited: boolean }
>(`
  select number, coalesce(edited_sealed, sealed) as sealed, edited_sealed is not null as edited from (
    select number, sealed, edited_sealed,
      sum(octet_length(coalesce(edited_sealed, sealed))) over (order by number) - octet_length(coalesce(edited_sealed, sealed)) as bytes_before
    from rejects
    where ${toReplay} and number > :number order by number limit :limit
  ) page
  where bytes_before < :bytes::bigint order by number
`)
export const replayedTransfer = statement<
  { transferId: string; replay: string },
  { sourceColumns: string[] | null; dataKeyId: string | null; numbers: number[] }
>(`
  select source_columns, data_key_id, array(select number from rejects where ${toReplay} order by number) as numbers
  from transfers where id = :transferId
`)

/** Says of records that a replay rejected again, behind `after`, which rejects they were first. */
export const keepOrigins = statement<{
  id: string
  after: number
  transferId: string
  rows: readonly number[]
  numbers: readonly number[]
}>(`
  update rejects r set
    origin_id = coalesce(o.origin_id, o.transfer_id), origin_number = coalesce(o.origin_number, o.number)
  from unnest(:rows::bigint[], :numbers::int[]) as sent (row, number)
  join rejects o on o.transfer_id = :transferId and o.number = sent.number
  where r.transfer_id = :id and r.number > :after and r.row = sent.row
`)

/** Marks records that a replay delivered, wherever they are kept: as they were rejected first, and by replays since. */
export const markReplayed = statement<{ replay: string; transferId: string; numbers: readonly number[] }>(`
  with origins as (
    select coalesce(origin_id, transfer_id) as id, coalesce(origin_number, number) as number
    from rejects where transfer_id = :transferId and number = any(:numbers::int[])
  ),
  places as (
    select id as transfer_id, number from origins
    union all
    select r.transfer_id, r.number from origins o join rejects r on r.origin_id = o.id and r.origin_number = o.number
  )
  update rejects r set replayed_by = :replay
  from places p where r.transfer_id = p.transfer_id and r.number = p.number
`)
