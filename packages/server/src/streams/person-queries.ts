import { statement } from '../db/statement.ts'
import { eventBounds } from './bounds.ts'

/** Statements that search stored events of one person. */

/** The sub-accounts to look in. */
export type PersonScope = {
  organizationId: string
  /** Null: all sub-accounts that the actor can access. */
  accountId: string | null
  /** The sub-accounts that the actor is limited to. Null means all. */
  accountIds: readonly string[] | null
}

export type SearchedStream = {
  id: string
  number: number
  accountId: string
  accountName: string
  name: string
  dataKeyId: string
  removedNumber: number
  /** Whether its sub-account is not deleted. */
  shown: boolean
}

/** Streams with events, in the order of their identifiers, from one on. */
export const searchedStreams = statement<PersonScope & { from: string; limit: number }, SearchedStream>(`
  select s.id, s.number, s.account_id, a.name as account_name, f.name, s.data_key_id, s.removed_number,
    a.deleted_time is null as shown
  from streams s join configurations f on f.id = s.id join accounts a on a.id = s.account_id
  where s.organization_id = :organizationId and (:accountId::text is null or s.account_id = :accountId)
    and (:accountIds::text[] is null or s.account_id = any(:accountIds))
    and s.id >= :from and s.last_number > s.removed_number
  order by s.id limit :limit
`)

export type SearchedBatch = { firstNumber: number; count: number; sealed: Buffer }

const batchesOf = `
  select first_number, count, sealed from stream_batches
  where stream = :stream and first_number > :after::bigint - ${eventBounds.batchEvents} and first_number + count > :after + 1
    and first_number + count > :removed::bigint + 1
  order by first_number limit :limit`
type BatchesAfter = { stream: number; after: number; removed: number; limit: number }

/** Batches with events after a number. The first one can also have events before it. */
export const searchedBatches = statement<BatchesAfter, SearchedBatch>(batchesOf, { isLong: true })
/** The same, held until the commit. */
export const heldBatches = statement<BatchesAfter, SearchedBatch>(`${batchesOf} for update`, { isLong: true })

/** Replaces the lines of a batch, which is held, and changes the size of its stream. */
export const replaceLines = statement<{ stream: number; first: number; sealed: Buffer; more: number }>(`
  with replaced as (
    update stream_batches set sealed = :sealed, bytes = octet_length(:sealed::bytea)
    where stream = :stream and first_number = :first
  )
  update streams set kept_bytes = greatest(0, kept_bytes + :more::bigint) where number = :stream
`)
