import type { Role, TransferErrorCode } from '@penstock/wire'
import { statement } from '../db/statement.ts'
import type { Fence } from './supervisor/queries.ts'

/** Statements that end transfers, and store with their connections where the next one continues. */

const nothingAccepted = 'rejected > 0 and accepted = 0 and unchanged = 0'

const withoutDeliveryStates = `not exists (
    select from ledger where transfer_id = t.id and delivery_state_sealed is not null
  )`

/**
 * Where the next transfer of the connection continues: where the confirmed records end. After an end without success
 * this holds unless the destination gave delivery states: what it has of such a transfer is not whole and may be gone, so the
 * next one reads it again. The batch that was being delivered then comes again as it was.
 * A cursor is sealed under the key of the connection from the start, and so is taken over as it is. The columns of a successful
 * transfer are stored with it, if they are others than before.
 */
const takeCursors = (succeeded: string, condition: string) => {
  const takes = `cursor_sealed is not null and (${succeeded} or ${withoutDeliveryStates})`
  return `
  insert into connection_states (connection_id, cursor_sealed, pending, shape)
  select connection_id, cursor_sealed, pending, shape
  from (
    select t.connection_id, case when ${takes} then cursor_sealed end as cursor_sealed,
      case when ${takes} and not (${succeeded}) then t.pending end as pending,
      case when ${succeeded} and not (${nothingAccepted}) and t.shape is distinct from s.shape then t.shape end as shape
    from transfers t left join (select connection_id, shape from connection_states) s on s.connection_id = t.connection_id
    where ${condition}
  ) taken
  where cursor_sealed is not null or shape is not null
  on conflict (connection_id) do update set
    cursor_sealed = coalesce(excluded.cursor_sealed, connection_states.cursor_sealed),
    pending = case when excluded.cursor_sealed is null then connection_states.pending else excluded.pending end,
    shape = coalesce(excluded.shape, connection_states.shape)`
}

/**
 * Columns that a transfer needs only until it has ended. Its key is kept if rejected records, or parts that can be retried, are sealed
 * under it.
 */
const withoutProgress = (keepsKey: string) => `
    finished_time = now(), heartbeat_time = null,
    pending = null, announced_sealed = null, checkpoint_sealed = null, plan_sealed = null, cursor_sealed = null,
    data_key_id = case when ${keepsKey} then data_key_id end`

const isNothing = `:status = 'succeeded' and ${nothingAccepted}`

/**
 * Ends a transfer, stores with its connection where the next one continues, and drops its delivery states, which serve only
 * to resume it. Answers its identifier, unless it is another worker's by now.
 */
export const endTransfer = statement<
  Fence & {
    status: 'succeeded' | 'failed' | 'cancelled'
    code: TransferErrorCode | null
    message: string | null
    side: Role | null
  },
  { id: string }
>(`
  with ended as (
    update transfers set
      status = case
        when ${isNothing} then 'failed'
        when :status = 'succeeded' and rejected > 0 then 'partial'
        else :status
      end,
      progress = case when :status = 'succeeded' then 1 else progress end,
      error_code = case when ${isNothing} then 'nothing_accepted' else :code end,
      error_message = case
        when ${isNothing}
        then 'Not one of the ' || rejected || ' records was accepted. Look at why they were rejected, correct the source or the mapping, and start the transfer again.'
        else :message
      end,
      error_side = case when ${isNothing} then 'Destination' else :side end,
      ${withoutProgress(`rejected > 0 or parts is not null and :status <> 'succeeded'`)}
    where id = :id and attempt = :attempt and status = 'running'
    returning id
  ),
  stored_cursor as (${takeCursors(`:status = 'succeeded'`, 't.id = (select id from ended)')}),
  dropped as (
    update ledger set delivery_state_sealed = null
    where transfer_id = (select id from ended) and delivery_state_sealed is not null
  )
  select id from ended
`)

// After a restore (restored.ts)

/** As `endTransfer` does for one transfer. */
export const saveCursorsOfActive = statement(takeCursors('false', `t.status in ('queued', 'running')`))
export const dropDeliveryStatesOfActive = statement(`
  update ledger set delivery_state_sealed = null
  where delivery_state_sealed is not null
    and transfer_id in (select id from transfers where status in ('queued', 'running'))
`)
export const failActive = statement<{ code: TransferErrorCode; message: string }>(`
  with parts as (
    update transfer_parts set
      status = 'skipped', finished_time = now(), heartbeat_time = null, pending = null, announced_sealed = null, checkpoint_sealed = null,
      key_sealed = null
    where status in ('queued', 'running')
  ),
  standings as (
    update transfer_parts set checkpoint_sealed = null, announced_sealed = null
    where status not in ('queued', 'running') and coalesce(checkpoint_sealed, announced_sealed) is not null
  )
  update transfers set
    status = 'failed', error_code = :code, error_message = :message, error_side = null, ${withoutProgress('rejected > 0')}
  where status in ('queued', 'running')
`)
