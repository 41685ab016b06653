import { type PlaceInFile, rejectedRecordsConnectorId } from '@penstock/wire'
import { isKept } from '../db/kept.ts'
import { statement } from '../db/statement.ts'
import { ofTable } from './reject-tables.ts'

/** Statements of connections that read the rejected records of another one. */

/** A connection that reads rejected records itself is none of them: two could send each other their records without end. */
const readable = `c.src_connector_id <> '${rejectedRecordsConnectorId}' and not c.account_deleted and ${isKept('c')}`

/** Connections whose rejected records can be read, by name. @param like a pattern of their names; null: all */
export const searchRejecting = statement<
  { accountId: string; like: string | null; size: number; offset: number },
  { id: string; name: string }
>(`
  select c.id, c.name from connections c
  where c.account_id = :accountId and c.status <> 'deleted' and ${readable} and (:like::text is null or c.name ilike :like)
  order by lower(c.name), c.id limit :size offset :offset
`)

/** The connection with an identifier, or those with a name, of which there can be several: two at most. */
export const findRejecting = statement<{ accountId: string; connection: string }, { id: string; name: string }>(`
  select c.id, c.name from connections c
  where c.account_id = :accountId and (c.id = :connection or c.name = :connection and c.status <> 'deleted') and ${readable}
  order by c.id = :connection desc, c.id limit 2
`)

/** Whether the record `r` came after an entry, of which `ends` has the last number of each part. */
const isBehind = (ends: string) => `
  not exists (select from unnest(${ends}) as one (last) where one.last / 1000000 = r.number / 1000000 and r.number <= one.last)`

/**
 * The next transfer with rejected records: at a position if `within` it, or else behind it. From the beginning, transfers of which nothing
 * is kept any more are passed over. A transfer that was retried comes once more, with the records that came since.
 */
export const nextRejecting = statement<
  { connectionId: string; position: number; within: boolean },
  {
    position: number
    transferId: string
    endedTime: Date
    rejected: number
    dataKeyId: string | null
    sourceColumns: string[] | null
    /** The last numbers of the records that came before, and of these. */
    before: number[]
    ends: number[]
    /** How many rejected records the kept ones stand for, and the number of the last one. */
    kept: number
    last: number | null
  }
>(`
  select e.position, t.id as transfer_id, e.ended_time, e.rejected - coalesce(b.rejected, 0) as rejected, t.data_key_id,
    t.source_columns, coalesce(b.ends, '{}') as before, e.ends, k.kept, k.last
  from rejecting_transfers e join transfers t on t.id = e.transfer_id
  left join lateral (
    select rejected, ends from rejecting_transfers
    where transfer_id = e.transfer_id and connection_id = e.connection_id and position < e.position
    order by position desc limit 1
  ) b on true
  cross join lateral (
    select coalesce(sum(r.count), 0)::int as kept, max(r.number) as last from rejects r
    where r.transfer_id = t.id and ${isBehind(`coalesce(b.ends, '{}')`)} and not (${isBehind('e.ends')})
  ) k
  where e.connection_id = :connectionId and (e.position > :position::int or e.position = :position and :within::boolean)
    and (:position > 0 or t.data_key_id is not null)
  order by e.position limit 1
`)

/** Rejected records of a transfer behind a number, of so many bytes at most, or one. */
export const rejectedAfter = statement<
  {
    transferId: string
    before: readonly number[]
    ends: readonly number[]
    number: number
    limit: number
    bytes: number
  },
  {
    number: number
    row: number | null
    place: PlaceInFile | null
    count: number
    field: string | null
    reasonSealed: Buffer | null
    record: Record<string, string | null>
    sealed: Buffer | null
    erased: boolean
    /** The columns of its table, if the transfer moved many. */
    ownColumns: string[] | null
  }
>(`
  select number, row, place, count, field, reason_sealed, record, sealed, erased, own_columns
  from (
    select *, sum(coalesce(octet_length(sealed), 0)) over (order by number) - coalesce(octet_length(sealed), 0) as bytes_before
    from (
      select r.number, r.row, r.place, r.count, r.field, r.reason_sealed, r.record, r.sealed, r.erased_time is not null as erased,
        ${ofTable('source_columns')} as own_columns
      from rejects r
      where r.transfer_id = :transferId and r.number > :number
        and ${isBehind(':before::int[]')} and not (${isBehind(':ends::int[]')})
      order by r.number limit :limit
    ) page
  ) summed
  where bytes_before < :bytes::bigint order by number
`)

/** Stores up to which position a connection delivered the rejected records of another one. If none was accepted, they are read again. */
export const saveRejectsRead = statement<{ id: string; rejectsOf: string; rejectsRead: number }>(`
  insert into connection_states (connection_id, rejects_of, rejects_read)
  select connection_id, :rejectsOf, :rejectsRead from transfers
  where id = :id and not (rejected > 0 and accepted = 0 and unchanged = 0)
  on conflict (connection_id) do update set rejects_of = excluded.rejects_of, rejects_read = excluded.rejects_read
`)

/**
 * Stores up to which number a connection delivered the events of a stream, under the same condition. A transfer that delivered
 * some has their numbers.
 * @param begin where a connection without an earlier number began
 */
export const saveEventsRead = statement<{ id: string; streamOf: string; streamRead: number; begin: number }>(`
  with read as (
    select t.id, t.connection_id, coalesce(s.stream_read, least(:begin::bigint, :streamRead::bigint)) as after
    from transfers t
      left join connection_states s on s.connection_id = t.connection_id and s.stream_of = :streamOf::text
    where t.id = :id and not (t.rejected > 0 and t.accepted = 0 and t.unchanged = 0)
  ),
  noted as (
    update transfers t set stream_after = r.after, stream_read = :streamRead from read r
    where t.id = r.id and r.after < :streamRead
  )
  insert into connection_states (connection_id, stream_of, stream_read)
  select connection_id, :streamOf, :streamRead from read
  on conflict (connection_id) do update set stream_of = excluded.stream_of, stream_read = excluded.stream_read
`)
