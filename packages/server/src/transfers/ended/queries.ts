import type { Role } from '@penstock/wire'
import { statement } from '../../db/statement.ts'
import type { Fence } from '../supervisor/queries.ts'

/** Statements that end transfers, and have their connections remember where the next one continues. */

/**
 * A marker is sealed under the key of the connection from the start, and so is taken over as it is.
 * @param pending how many records behind it may have been delivered without a confirmation
 */
const takeMarkers = (condition: string, pending: 'pending' | 'null::int') => `
  insert into connection_memories (connection_id, marker_sealed, marker, pending)
  select connection_id, marker_sealed, marker, ${pending} from transfers t
  where (marker_sealed is not null or marker is not null) and ${condition}
  on conflict (connection_id) do update set
    marker_sealed = excluded.marker_sealed, marker = excluded.marker, pending = excluded.pending`

const withoutReceipts = `not exists (
  select from ledger where transfer_id = t.id and (receipt_sealed is not null or receipt is not null)
)`

/** What a transfer needs only until it has ended; its key is kept where rejected records are sealed under it. */
const withoutProgress = `
    pending = null, position_sealed = null, position = null, marker_sealed = null, marker = null,
    data_key_id = case when rejected > 0 then data_key_id end`

/** When a transfer has succeeded: the next one continues where its confirmed records end. */
export const rememberMarker = statement<{ id: string }>(takeMarkers('t.id = :id', 'null::int'))

/**
 * When it ended without success: the same, unless the destination gave receipts. What it has of such a transfer is not
 * whole and may be gone, so the next one reads it again. The batch that was being delivered comes again as it was.
 */
export const rememberMarkerUnfinished = statement<{ id: string }>(
  takeMarkers(`t.id = :id and ${withoutReceipts}`, 'pending'),
)

export const endTransfer = statement<
  Fence & {
    status: 'succeeded' | 'failed' | 'cancelled'
    code: string | null
    message: string | null
    side: Role | null
  }
>(`
  update transfers set
    status = case
      when :status = 'succeeded' and rejected > 0 then case when accepted > 0 then 'partial' else 'failed' end
      else :status
    end,
    progress = case when :status = 'succeeded' then 1 else progress end,
    error_code = case when :status = 'succeeded' and rejected > 0 and accepted = 0 then 'nothing_accepted' else :code end,
    error_message = case
      when :status = 'succeeded' and rejected > 0 and accepted = 0
      then 'Not one of the ' || rejected || ' records was accepted. Look at why they were rejected, correct the source or the mapping, and start the transfer again.'
      else :message
    end,
    error_side = case when :status = 'succeeded' and rejected > 0 and accepted = 0 then 'Destination' else :side end,
    finished_time = now(), heartbeat_time = null, ${withoutProgress}
  where id = :id and attempt = :attempt and status = 'running'
`)

/** Receipts serve to resume; a transfer that has ended is not resumed. */
export const dropReceipts = statement<{ transferId: string }>(`
  update ledger set receipt_sealed = null, receipt = null
  where transfer_id = :transferId and (receipt_sealed is not null or receipt is not null)
`)

// After a restore (restored.ts)

/** As `rememberMarkerUnfinished` does for one transfer. */
export const rememberMarkersOfActive = statement(
  takeMarkers(`t.status in ('queued', 'running') and ${withoutReceipts}`, 'pending'),
)
export const dropReceiptsOfActive = statement(`
  update ledger set receipt_sealed = null, receipt = null
  where (receipt_sealed is not null or receipt is not null)
    and transfer_id in (select id from transfers where status in ('queued', 'running'))
`)
export const failActive = statement<{ code: string; message: string }>(`
  update transfers set
    status = 'failed', error_code = :code, error_message = :message, error_side = null, finished_time = now(), heartbeat_time = null,
    ${withoutProgress}
  where status in ('queued', 'running')
`)
