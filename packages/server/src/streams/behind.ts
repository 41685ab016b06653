/**
 * A query of how far a connection is behind the stream that it reads: `read_number` (the last event that it has delivered; null
 * if it has not begun), `events` that wait, and `seconds` since the oldest of these arrived. It returns no row if the
 * connection reads no stream. A connection that has not begun is behind by all events if it begins with the oldest one.
 * @param connection alias of a row of connections
 */
export const behindOf = (connection: string): string => `
  select r.stream_read as read_number, greatest(0, s.last_number - p.place)::bigint as events,
    coalesce((
      select greatest(0, extract(epoch from now() - b.time)) from stream_batches b
      where b.stream = s.number and b.first_number > p.place - 2000 and b.first_number + b.count > p.place + 1
      order by b.first_number limit 1
    ), 0)::bigint as seconds
  from streams s left join connection_states r on r.connection_id = ${connection}.id and r.stream_of = s.id
    cross join lateral (
      select greatest(s.removed_number, coalesce(
        r.stream_read, case when ${connection}.src_config ->> 'startAt' in ('newest', 'time') then s.last_number else 0 end
      )) as place
    ) p
  where s.id = ${connection}.src_configuration_id limit 1
`
