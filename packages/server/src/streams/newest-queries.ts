import type { StreamOutcome, StreamRefusal } from '@penstock/wire'
import { statement } from '../db/statement.ts'

/** Statements that show the newest events of a stream. */

/** A stream with its key. */
export const findShown = statement<{ id: string }, { number: number; lastNumber: number; dataKeyId: string }>(`
  select number, last_number, data_key_id from streams where id = :id
`)

/** The batches of the newest events, newest first, up to a number of bytes; at least one. */
export const shownBatches = statement<
  { stream: number; first: number; bytes: number },
  { firstNumber: number; count: number; sealed: Buffer }
>(
  `
  select b.first_number, b.count, b.sealed from stream_batches b join (
    select stream, first_number, time, sum(bytes) over (order by first_number desc) - bytes as newer_bytes
    from stream_batches
    where stream = :stream and first_number > :first::bigint - 2000 and first_number + count > :first
      and first_number + count > (select removed_number + 1 from streams where number = :stream)
  ) n using (stream, first_number, time)
  where n.newer_bytes < :bytes::bigint order by b.first_number desc
`,
  { isLong: true },
)

/** The batches before a number, newest first, up to a number of bytes; at least one. */
export const batchesBefore = statement<
  { stream: number; before: number; bytes: number },
  { firstNumber: number; count: number; sealed: Buffer }
>(
  `
  select b.first_number, b.count, b.sealed from stream_batches b join (
    select stream, first_number, time, sum(bytes) over (order by first_number desc) - bytes as newer_bytes from (
      select b.stream, b.first_number, b.time, b.bytes from stream_batches b join streams s on s.number = b.stream
      where s.number = :stream and b.first_number < :before and b.first_number + b.count > s.removed_number + 1
      order by b.first_number desc limit 500
    ) n
  ) n using (stream, first_number, time)
  where n.newer_bytes < :bytes::bigint order by b.first_number desc
`,
  { isLong: true },
)

export type ShownNoteRow = {
  time: Date
  outcome: StreamOutcome
  reason: StreamRefusal | null
  events: number
  bytes: number | null
  digest: string | null
}
export const newestNotes = statement<{ stream: number; outcome: StreamOutcome | null; limit: number }, ShownNoteRow>(`
  select time, outcome, reason, events, bytes, digest from stream_notes
  where stream = :stream and (:outcome::text is null or outcome = :outcome) order by position desc limit :limit
`)

export const refusalsOf = statement<{ stream: number }, { reason: StreamRefusal; count: number; newestTime: Date }>(`
  select reason, count, newest_time from stream_refusals where stream = :stream order by newest_time desc, reason
`)
