import type { Role, TransferErrorCode } from '@penstock/wire'
import { statement } from '../db/statement.ts'
import type { Fence } from './supervisor/queries.ts'

/** Statements that end transfers, and store with their connections where the next one continues. */

const nothingAccepted = 't.rejected > 0 and t.accepted = 0 and t.unchanged = 0'

const withoutDeliveryStates = `not exists (
    select from ledger where transfer_id = t.id and delivery_state_sealed is not null
  )`
/** The same of one of several parts, whose entries have their own numbers. */
const withoutDeliveryStatesOfPart = `not exists (
    select from ledger
    where transfer_id = t.id and number > p.number * 1000000 and number < (p.number + 1) * 1000000 and delivery_state_sealed is not null
  )`

/**
 * Where the next transfer of the connection continues: where the confirmed records end. After an end without success
 * this holds unless the destination gave delivery states: what it has of such a transfer is not whole and may be gone, so the
 * next one reads it again. The batch that was being delivered then comes again as it was: its announcement is kept with the connection,
 * under the key of the transfer, until another transfer confirms a batch. If no record was accepted, the next transfer reads all of them
 * again, in batches with other keys.
 * A cursor is sealed under the key of the connection from the start, and so is taken over as it is. The columns of a successful
 * transfer are stored with it, if they are others than before.
 * @param succeeded whether the transfer `t` did, as SQL
 * @param transfers the transfers, as a table `t`, with a condition
 * @param cursor where the connection continues: that of the only part, or of all parts
 */
const takeCursors = (
  succeeded: string,
  { from, where = 'true' }: { from: string; where?: string },
  cursor = 'p.cursor_sealed',
) => `
  insert into connection_states
    (connection_id, cursor_sealed, pending, announced_by, announced_data_key_id, announced_sealed, keys_salt, shape)
  select connection_id, cursor_sealed, pending, announced_by, announced_data_key_id, announced_sealed, keys_salt, shape
  from (
    select t.connection_id, ${takenOf('t', succeeded, cursor)}
    from ${from}
    left join transfer_parts p on p.transfer_id = t.id and t.parts = 1
    left join connection_states s on s.connection_id = t.connection_id
    where ${where}
  ) taken
  where ${isTaken}
  on conflict (connection_id) do update set
    cursor_sealed = coalesce(excluded.cursor_sealed, connection_states.cursor_sealed),
    pending = excluded.pending, announced_by = excluded.announced_by,
    announced_data_key_id = excluded.announced_data_key_id, announced_sealed = excluded.announced_sealed,
    keys_salt = coalesce(excluded.keys_salt, connection_states.keys_salt),
    shape = coalesce(excluded.shape, connection_states.shape)`

/** The same for tables, each of which is a part of its transfer. @param where a condition for `p` and `t` */
export const takeCursorsOfTables = (succeeded: string, where: string) => `
  update connection_tables k set
    cursor_sealed = coalesce(taken.cursor_sealed, k.cursor_sealed), pending = taken.pending, announced_by = taken.announced_by,
    announced_part = taken.announced_part, announced_data_key_id = taken.announced_data_key_id,
    announced_sealed = taken.announced_sealed, keys_salt = coalesce(taken.keys_salt, k.keys_salt),
    shape = coalesce(taken.shape, k.shape)
  from (
    select s.connection_id, s.name, ${takenOf('p', succeeded, 'p.cursor_sealed')}
    from transfer_parts p
    join transfers t on t.id = p.transfer_id
    join connection_tables s on s.connection_id = t.connection_id and s.name = p.table_name
    where ${where}
  ) taken
  where k.connection_id = taken.connection_id and k.name = taken.name and ${isTaken}`

const isTaken =
  '(coalesce(taken.cursor_sealed, taken.announced_sealed) is not null or coalesce(taken.keys_salt, taken.shape::text) is not null or taken.is_settled)'

/** The values that outlive a transfer, or a table of it, as columns. @param of has the counts and the columns: `t` or `p` */
function takenOf(of: 't' | 'p', succeeded: string, cursor: string): string {
  const nothing = of === 't' ? nothingAccepted : 'p.rejected > 0 and p.accepted = 0'
  const withoutStates = of === 't' ? withoutDeliveryStates : withoutDeliveryStatesOfPart
  const readsAgain = `(${nothing} and p.announced_sealed is null)`
  const takes = `(${cursor} is not null and not ${readsAgain} and (${succeeded} or ${withoutStates}))`
  const isOwn = `t.test_rows is null and t.backfill is null and t.trigger <> 'replay'`
  const carries = `(not (${succeeded}) and ${isOwn} and p.announced_sealed is not null
    and t.data_key_id is not null and (${cursor} is null or ${takes}) and ${withoutStates})`
  /** Whether the announcement of an earlier transfer does not count any more. */
  const settles = `(${isOwn} and (${carries} or ${succeeded} or ${of}.read > 0))`
  const carried = (own: string, before: string) =>
    `case when ${carries} then ${own} when not ${settles} then ${before} end`
  return `case when ${takes} then ${cursor} end as cursor_sealed,
      case
        when ${carries} or ${takes} and not (${succeeded}) then p.pending
        when not ${settles} and not ${takes} then s.pending
      end as pending,
      ${carried('t.id', 's.announced_by')} as announced_by,
      ${of === 'p' ? `${carried('p.number', 's.announced_part')} as announced_part,` : ''}
      ${carried('t.data_key_id', 's.announced_data_key_id')} as announced_data_key_id,
      ${carried('p.announced_sealed', 's.announced_sealed')} as announced_sealed,
      case when ${isOwn} and ${readsAgain} then t.id end as keys_salt,
      case when ${succeeded} and not (${nothing}) and ${of}.shape is distinct from s.shape then ${of}.shape end as shape,
      ${settles} and coalesce(s.announced_by, s.pending::text) is not null as is_settled`
}

/**
 * Columns that a transfer needs only until it has ended. Its key is kept if rejected records, or parts that can be retried, are sealed
 * under it.
 */
const withoutProgress = (keepsKey: string) => `
    finished_time = now(), plan_sealed = null, data_key_id = case when ${keepsKey} then data_key_id end`
/** The same of parts. */
const withoutStanding = `
    heartbeat_time = null, pending = null, announced_sealed = null, checkpoint_sealed = null, cursor_sealed = null, key_sealed = null`

const isNothing = `:status = 'succeeded' and ${nothingAccepted}`

/**
 * Ends a transfer with its only part, or when all its parts have ended. Stores with its connection where the next one continues, and drops
 * its delivery states, which serve only to resume it. Answers its identifier, unless it is another worker's by now.
 */
export const endTransfer = statement<
  Fence & {
    status: 'succeeded' | 'failed' | 'cancelled'
    /** With `succeeded`: why the transfer is only partial. */
    code: TransferErrorCode | null
    message: string | null
    side: Role | null
    /** Of several parts: where the connection continues. */
    cursor: Buffer | null
  },
  { id: string }
>(`
  with ended as (
    update transfers t set
      status = case
        when ${isNothing} then 'failed'
        when :status = 'succeeded' and (rejected > 0 or :code::text is not null) then 'partial'
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
      ${withoutProgress(`rejected > 0 or parts > 1 and (:status <> 'succeeded' or :code is not null)`)}
    where id = :id and attempt = :attempt and status = 'running'
    returning id, :status = 'succeeded' as succeeded
  ),
  part as (
    update transfer_parts p set status = :status, finished_time = now(), ${withoutStanding}
    from ended e where p.transfer_id = e.id and p.status = 'running'
  ),
  stored_cursor as (
    ${takeCursors('e.succeeded', { from: 'ended e join transfers t on t.id = e.id' }, 'coalesce(:cursor::bytea, p.cursor_sealed)')}
  ),
  dropped as (
    update ledger set delivery_state_sealed = null
    where transfer_id = (select id from ended) and delivery_state_sealed is not null
  )
  select id from ended
`)

/** The announced records of the parts of a transfer that are not confirmed. */
export const recordsInDoubt = statement<{ id: string }, { records: number }>(`
  select coalesce(sum(pending), 0)::int as records from transfer_parts where transfer_id = :id
`)

// After a restore (restored.ts)

/** As `endTransfer` does for one transfer. */
export const saveCursorsOfActive = statement(
  takeCursors('false', { from: 'transfers t', where: `t.status in ('queued', 'running')` }),
)
export const saveTablesOfActive = statement(takeCursorsOfTables('false', `p.status in ('queued', 'running')`))
export const dropDeliveryStatesOfActive = statement(`
  update ledger set delivery_state_sealed = null
  where delivery_state_sealed is not null
    and transfer_id in (select id from transfers where status in ('queued', 'running'))
`)
export const failActive = statement<{ code: TransferErrorCode; message: string }>(`
  with parts as (
    update transfer_parts set status = 'skipped', finished_time = now(), ${withoutStanding}
    where status in ('queued', 'running')
  ),
  standings as (
    update transfer_parts set checkpoint_sealed = null, cursor_sealed = null, announced_sealed = null
    where status not in ('queued', 'running') and coalesce(checkpoint_sealed, cursor_sealed, announced_sealed) is not null
  )
  update transfers set
    status = 'failed', error_code = :code, error_message = :message, error_side = null, ${withoutProgress('rejected > 0')}
  where status in ('queued', 'running')
`)
