import { statement } from '../db/statement.ts'
import { type TransferRow, transferColumns } from './queries.ts'

/** Statements that retry the parts of a transfer that ended without success. */

/**
 * Not a table that was refused before a worker began it, such as a new one, nor one that is paused, nor one whose state was reset since:
 * its next transfer begins from nothing.
 */
const canBegin = `(p.error_code is null or p.attempt > 0 and p.status <> 'skipped')
    and not exists (
      select from connection_tables k
      where k.connection_id = :connectionId and k.name = p.table_name and (
        k.paused
        or k.reset_time > p.finished_time and coalesce(p.checkpoint_sealed, p.cursor_sealed, p.announced_sealed) is not null
      )
    )`

/** A transfer that may be retried, held, and its parts: how many did not succeed, and how many of these cannot continue. */
export const findRetry = statement<
  { id: string; connectionId: string },
  { isLatest: boolean; parts: number; isKept: boolean; left: number; lost: number }
>(`
  select t.latest as is_latest, t.parts, t.data_key_id is not null as is_kept, p.unfinished as left, p.lost
  from transfers t
  cross join lateral (
    select count(*) as unfinished,
      count(*) filter (where key_sealed is null or read > 0 and coalesce(checkpoint_sealed, cursor_sealed) is null) as lost
    from transfer_parts p where transfer_id = t.id and status <> 'succeeded' and ${canBegin}
  ) p
  where t.id = :id and t.connection_id = :connectionId
  for no key update of t
`)

/** Queues the parts that did not succeed. Each continues after its last confirmed record. */
export const queueParts = statement<{ id: string; connectionId: string }>(`
  update transfer_parts p set
    status = 'queued', crashes = 0, error_code = null, error_message = null, error_side = null, finished_time = null
  where transfer_id = :id and status in ('failed', 'cancelled', 'skipped') and ${canBegin}
`)

/** The transfer runs again. The time since it ended does not count for the limit of how long it may run. */
export const continueTransfer = statement<{ id: string }, TransferRow & { logAttempt: number }>(`
  with t as (
    update transfers set
      status = 'running', cancelling = false, error_code = null, error_message = null, error_side = null,
      paused = paused + (now() - finished_time), finished_time = null
    where id = :id and status in ('failed', 'cancelled', 'partial') and parts > 1
    returning *
  )
  select ${transferColumns}, t.attempt as log_attempt from t
`)
