import { statement } from '../db/statement.ts'
import { addVolumes } from './volume-queries.ts'

/** Statements that count events that the database does not keep, and list refused and repeated ones. */

export { lockStreams, noteKeyUse, saveColumns } from './commit-queries.ts'

/** Adds counts by reason, and notes in their order. Streams that were deleted are skipped. The streams are locked. */
export const storeNotes = statement<{
  streams: readonly number[]
  accepted: readonly number[]
  refused: readonly number[]
  reasonStreams: readonly number[]
  reasons: readonly string[]
  counts: readonly number[]
  noteStreams: readonly number[]
  outcomes: readonly string[]
  noteReasons: readonly (string | null)[]
  events: readonly number[]
  bytes: readonly (number | null)[]
  digests: readonly (string | null)[]
}>(`
  with counted as (
    update streams s set refused = s.refused + n.refused, accepted = s.accepted + n.accepted,
      last_time = case when n.accepted > 0 then clock_timestamp() else s.last_time end
    from unnest(:streams::bigint[], :refused::integer[], :accepted::integer[]) as n (stream, refused, accepted)
    where s.number = n.stream and (n.refused > 0 or n.accepted > 0)
  ),
  volumes as (${addVolumes(`
      select n.stream, n.accepted, 0 as duplicates, n.refused
      from unnest(:streams::bigint[], :refused::integer[], :accepted::integer[]) as n (stream, refused, accepted)
        join streams s on s.number = n.stream
      where n.refused > 0 or n.accepted > 0
    `)}
  ),
  by_reason as (
    insert into stream_refusals as r (stream, reason, count, newest_time)
    select n.stream, n.reason, n.count, now()
    from unnest(:reasonStreams::bigint[], :reasons::text[], :counts::integer[]) as n (stream, reason, count)
      join streams s on s.number = n.stream
    on conflict (stream, reason) do update set count = r.count + excluded.count, newest_time = excluded.newest_time
  )
  insert into stream_notes (stream, time, outcome, reason, events, bytes, digest)
  select n.stream, now(), n.outcome, n.reason, n.events, n.bytes, n.digest::uuid
  from unnest(
    :noteStreams::bigint[], :outcomes::text[], :noteReasons::text[], :events::integer[], :bytes::integer[],
    :digests::text[]
  ) with ordinality as n (stream, outcome, reason, events, bytes, digest, place)
    join streams s on s.number = n.stream
  order by n.place
`)

/** Deletes the notes of each stream beyond the newest ones. */
export const trimNotes = statement<{ streams: readonly number[]; max: number }>(`
  delete from stream_notes n using unnest(:streams::bigint[]) as g (stream)
  where n.stream = g.stream and n.position <= (
    select position from stream_notes o where o.stream = g.stream order by position desc offset :max::integer limit 1
  )
`)
