import type { Values } from '@penstock/connector'
import { statement } from '../db/statement.ts'

/** Statements that remove events. */

/** Streams with events, in the order of their identifiers, after one of them. */
export const streamsWithEvents = statement<
  { after: string; limit: number },
  { id: string; number: number; connectorId: string; settings: Values }
>(`
  select s.id, s.number, s.connector_id, f.settings from streams s join configurations f on f.id = s.id
  where s.id > :after and (s.kept_bytes > 0 or s.last_number > s.removed_number) order by s.id limit :limit
`)

/**
 * Moves the place up to which events are removed: by age, by size, and, unless they are kept, up to the last event that every connection has read.
 * The stream is locked, so that no commit changes its size in between.
 */
export const moveRemoved = statement<{ number: number; days: number; bytesMax: number; keepsRead: boolean }>(`
  with place as (
    select s.number, greatest(
      s.removed_number,
      (
        select max(b.first_number + b.count - 1) from stream_batches b
        where b.stream = s.number and b.time < now() - make_interval(days => :days)
      ),
      (
        select max(b.last) from (
          select first_number + count - 1 as last, sum(bytes) over (order by first_number desc) as total
          from stream_batches where stream = s.number and first_number + count > s.removed_number + 1
        ) b
        where s.kept_bytes > :bytesMax::bigint and b.total > :bytesMax
      ),
      (
        select min(coalesce(r.stream_read, 0)) from connections c
          left join connection_states r on r.connection_id = c.id and r.stream_of = s.id
        where not :keepsRead::boolean and c.account_id = s.account_id and c.src_configuration_id = s.id and c.status <> 'deleted' and not c.account_deleted
      )
    ) as removed
    from streams s where s.number = :number for no key update
  )
  update streams s set removed_number = p.removed from place p where s.number = p.number and p.removed > s.removed_number
`)

/** Deletes some batches all of whose events are removed, and subtracts their size. */
export const deleteRemoved = statement<{ number: number; limit: number }, { batches: number }>(`
  with gone as (
    delete from stream_batches where (stream, first_number, time) in (
      select b.stream, b.first_number, b.time from stream_batches b join streams s on s.number = b.stream
      where s.number = :number and b.first_number + b.count - 1 <= s.removed_number order by b.first_number limit :limit
    )
    returning bytes
  ),
  sums as (select count(*) as batches, coalesce(sum(bytes), 0) as bytes from gone),
  moved as (
    update streams s set kept_bytes = greatest(0, s.kept_bytes - sums.bytes) from sums where s.number = :number
  )
  select batches from sums
`)

/** Creates the partitions of the next days, and drops older ones. */
export const keepPartitions = statement<
  { daysAhead: number; batchDays: number; messageDays: number },
  { changed: number }
>(`
  select keep_stream_partitions(:daysAhead::integer, :batchDays::integer, :messageDays::integer) as changed
`)
/** Deletes message IDs from the default partition, which is never dropped. */
export const deleteOldMessages = statement<{ hours: number }>(`
  delete from stream_messages_default where time < now() - make_interval(hours => :hours)
`)
