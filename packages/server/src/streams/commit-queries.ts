import { notifyAll } from '../db/notices.ts'
import { statement } from '../db/statement.ts'
import { addVolumes } from './volume-queries.ts'

/** Statements of one commit of events. */

/**
 * Locks streams, in one order everywhere: commits of several processes never wait for each other crosswise, and the numbers of
 * events are given in the order of the commits.
 */
export const lockStreams = statement<{ numbers: readonly number[] }, { number: number; lastNumber: number }>(`
  select number, last_number from streams where number = any(:numbers::bigint[]) order by number for no key update
`)

/** The message IDs among the given ones that were stored in the last hours. */
export const storedMessages = statement<
  { streams: readonly number[]; digests: readonly string[]; hours: number },
  { stream: number; digest: string }
>(`
  select g.stream, g.digest
  from unnest(:streams::bigint[], :digests::uuid[]) as g (stream, digest)
    cross join lateral (
      select from stream_messages m
      where m.stream = g.stream and m.digest = g.digest and m.time > now() - make_interval(hours => :hours)
      limit 1
    ) found
`)

/** Stores columns that were not seen before, or that have values of another kind now. */
export const saveColumns = statement<{
  streams: readonly number[]
  names: readonly string[]
  kinds: readonly number[]
}>(`
  insert into stream_columns (stream, name, kinds)
  select * from unnest(:streams::bigint[], :names::text[], :kinds::integer[])
  on conflict (stream, name) do update set kinds = stream_columns.kinds | excluded.kinds
`)

/** Notes the use of write keys, at most once in a minute for each. */
export const noteKeyUse = statement<{ ids: readonly string[] }>(`
  update stream_keys set last_used_time = now()
  where id = any(:ids) and (last_used_time is null or last_used_time < now() - interval '1 minute')
`)

/** Stores batches of events and their message IDs, moves the streams, and sends a notice for each. The streams are locked. */
export const storeEvents = statement<{
  batchStreams: readonly number[]
  firsts: readonly number[]
  counts: readonly number[]
  sizes: readonly number[]
  sealed: readonly Buffer[]
  messageStreams: readonly number[]
  digests: readonly string[]
  streams: readonly number[]
  accepted: readonly number[]
  duplicates: readonly number[]
  bytes: readonly number[]
  topic: string
  values: readonly string[]
}>(`
  with batches as (
    insert into stream_batches (stream, first_number, count, bytes, time, sealed)
    select b.stream, b.first_number, b.count, b.bytes, clock_timestamp(), b.sealed
    from unnest(
      :batchStreams::bigint[], :firsts::bigint[], :counts::integer[], :sizes::integer[], :sealed::bytea[]
    ) as b (stream, first_number, count, bytes, sealed)
  ),
  messages as (
    insert into stream_messages (stream, digest) select * from unnest(:messageStreams::bigint[], :digests::uuid[])
  ),
  moved as (
    update streams s set last_number = s.last_number + n.accepted, accepted = s.accepted + n.accepted,
      duplicates = s.duplicates + n.duplicates, kept_bytes = s.kept_bytes + n.bytes,
      last_time = case when n.accepted > 0 then clock_timestamp() else s.last_time end
    from unnest(
      :streams::bigint[], :accepted::integer[], :duplicates::integer[], :bytes::bigint[]
    ) as n (stream, accepted, duplicates, bytes)
    where s.number = n.stream
  ),
  volumes as (${addVolumes(`
      select stream, accepted, duplicates, 0 as refused
      from unnest(:streams::bigint[], :accepted::integer[], :duplicates::integer[]) as n (stream, accepted, duplicates)
    `)}
  )
  ${notifyAll}
`)
