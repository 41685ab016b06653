import { statement } from '../../../db/statement.ts'
import { isInReplay } from '../../reject-queries.ts'

/**
 * Rejected records of a transfer that is replayed, less the records that another replay delivered. A replay finds the
 * same ones from its beginning to its end, since no other runs beside it, and so the same batches after a crash.
 */
const toReplay = `transfer_id = :transferId and sealed is not null and (replayed_by is null or replayed_by = :replay)
      and ${isInReplay('(select replay_rows from transfers where id = :replay)')}`
export const replayedRejects = statement<
  { transferId: string; replay: string; number: number; limit: number; bytes: number },
  /** `edited`: with corrected values. */
  {
    number: number
    sealed: Buffer
    edited: boolean
    structural: boolean
    superseded: 'delivered' | 'unknown' | null
    reasonSealed: Buffer | null
    erased: boolean
  }
>(`
  select number, coalesce(edited_sealed, sealed) as sealed, edited_sealed is not null as edited, structural, superseded, reason_sealed, erased
  from (
    select number, sealed, edited_sealed, structural, superseded, reason_sealed, erased_time is not null as erased,
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

/** Says of records that a replay rejected again, behind `after`, which rejects they were first, with what is known of those. */
export const keepOrigins = statement<{
  id: string
  after: number
  transferId: string
  rows: readonly number[]
  numbers: readonly number[]
}>(`
  update rejects r set
    origin_id = coalesce(o.origin_id, o.transfer_id), origin_number = coalesce(o.origin_number, o.number),
    row = o.row, place = o.place, position = o.position, key = coalesce(r.key, o.key), structural = r.structural and o.structural,
    superseded = coalesce(r.superseded, o.superseded)
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

/** Keys of rejected records of a connection that can be sent again, the latest first. */
export const openKeys = statement<{ connectionId: string; limit: number }, { key: string }>(`
  select coalesce(r.key, '') as key from rejects r join transfers t on t.id = r.transfer_id
  where t.connection_id = :connectionId and r.key is not null and r.superseded is null and r.replayed_by is null and r.sealed is not null
  group by r.key order by max(r.position) desc limit :limit
`)
/** Gives up the open keys of a connection, less some: nothing is found out about them any more. */
export const giveUpKeys = statement<{ connectionId: string; kept: readonly string[] }>(`
  update rejects r set superseded = 'unknown' from transfers t
  where t.id = r.transfer_id and t.connection_id = :connectionId and r.key is not null and r.superseded is null
    and r.key <> all(:kept::text[])
`)
/** Marks rejected records of keys that were delivered since. */
export const supersedeKeys = statement<{ keys: readonly string[] }>(`
  update rejects set superseded = 'delivered' where key = any(:keys::text[]) and superseded is null and replayed_by is null
`)
/** Marks rejected records that came before records with the same keys that a replay delivered. */
export const supersedeBefore = statement<{ keys: readonly string[]; transferId: string; numbers: readonly number[] }>(`
  update rejects r set superseded = 'delivered'
  from unnest(:keys::text[], :numbers::int[]) as sent (key, number)
  join rejects o on o.transfer_id = :transferId and o.number = sent.number
  where r.key = sent.key and r.superseded is null and r.replayed_by is null and r.position < o.position
`)
