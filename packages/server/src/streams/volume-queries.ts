import { statement } from '../db/statement.ts'

/** Statements of the events of a stream by time: of each minute for some hours, and of each hour for some days. */

const minute = 60
const hour = 3_600

/**
 * Adds counts to the minute and to the hour of now, as a part of a statement. The streams are locked.
 * @param counts a query of `stream`, `accepted`, `duplicates` and `refused`
 */
export const addVolumes = (counts: string): string => `
    insert into stream_volumes as v (stream, seconds, time, accepted, duplicates, refused)
    select n.stream, p.seconds, to_timestamp(floor(extract(epoch from clock_timestamp()) / p.seconds) * p.seconds),
      n.accepted, n.duplicates, n.refused
    from (${counts}) n cross join (values (${minute}), (${hour})) p (seconds)
    on conflict (stream, seconds, time) do update set accepted = v.accepted + excluded.accepted,
      duplicates = v.duplicates + excluded.duplicates, refused = v.refused + excluded.refused`

export type StreamVolumeRow = { seconds: number; time: Date; accepted: number; duplicates: number; refused: number }

/** The minutes of the last hour and the hours of the last week in which events came, oldest first. */
export const volumesOf = statement<{ id: string }, StreamVolumeRow>(`
  select v.seconds, v.time, v.accepted, v.duplicates, v.refused
  from streams s join stream_volumes v on v.stream = s.number
  where s.id = :id and v.time > now() - case v.seconds when ${minute} then interval '1 hour' else interval '7 days' end
  order by v.seconds, v.time
`)

/** Whether a row counts a minute; otherwise it counts an hour. */
export const isMinute = ({ seconds }: Pick<StreamVolumeRow, 'seconds'>): boolean => seconds === minute

/** Deletes the minutes and hours that are not shown any more. */
export const deleteOldVolumes = statement(`
  delete from stream_volumes where (seconds = ${minute} and time < now() - interval '2 hours')
    or (seconds = ${hour} and time < now() - interval '8 days')
`)
