import { statement } from '../db/statement.ts'
import { eventBounds } from './bounds.ts'

/** Statements of the jobs that read a stream. */

export const findConsumed = statement<
  { id: string; accountId: string },
  { id: string; number: number; lastNumber: number; removedNumber: number; dataKeyId: string }
>(`
  select id, number, last_number, removed_number, data_key_id from streams where id = :id and account_id = :accountId
`)

/** The number before the first batch that was stored at a time or later; no row if there is no such batch. */
export const numberBefore = statement<{ stream: number; time: Date }, { before: number }>(`
  select first_number - 1 as before from stream_batches where stream = :stream and time >= :time
  order by first_number limit 1
`)

export type BatchRow = { firstNumber: number; count: number; sealed: Buffer }

/** Batches with events after a number. The first one can also have events before it. */
export const batchesAfter = statement<{ stream: number; after: number; removed: number; limit: number }, BatchRow>(
  `
  select first_number, count, sealed from stream_batches
  where stream = :stream and first_number > :after::bigint - ${eventBounds.batchEvents} and first_number + count > :after + 1
    and first_number + count > :removed::bigint + 1
  order by first_number limit :limit
`,
  { isLong: true },
)

export const newestBatches = statement<{ stream: number; removed: number; limit: number }, BatchRow>(
  `
  select first_number, count, sealed from stream_batches
  where stream = :stream and first_number + count > :removed::bigint + 1
  order by first_number desc limit :limit
`,
  { isLong: true },
)
