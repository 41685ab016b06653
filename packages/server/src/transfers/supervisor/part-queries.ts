import type { Role, TransferErrorCode } from '@penstock/wire'
import { statement } from '../../db/statement.ts'
import { type Fence, ownPart, type PartFence, type StandingRow } from './queries.ts'

/** Statements of transfers in several parts (docs/decisions/parts.md): dividing a transfer, and ending its parts. */

/** Divides a transfer, whose only part becomes the first one. */
export const divideTransfer = statement<
  Fence & { parts: number; sourceColumns: string | null; columns: string | null; shape: string | null },
  StandingRow
>(`
  update transfers t set parts = :parts, progress = 0, source_columns = :sourceColumns, columns = :columns, shape = :shape
  from connections c join accounts a on a.id = c.account_id
  where t.id = :id and t.attempt = :attempt and t.status = 'running' and t.parts = 1 and c.id = t.connection_id
  returning c.status, a.enabled as account_enabled, t.cancelling, c.account_deleted as gone
`)

/** Queues parts. The first one begins again: its worker names another number of parts from now on. @param keys sealed, in base64 */
export const insertParts = statement<{
  id: string
  after: number
  keys: readonly string[]
  shares: readonly number[]
  tables: readonly (string | null)[]
  statuses: readonly ('queued' | 'skipped' | 'failed')[]
  codes: readonly (TransferErrorCode | null)[]
  messages: readonly (string | null)[]
  sides: readonly (Role | null)[]
}>(`
  insert into transfer_parts as p
    (transfer_id, number, key_sealed, share, table_name, status, error_code, error_message, error_side, finished_time)
  select :id, :after::int + n, decode(key, 'base64'), share, name, status, code, message, side,
    case when status <> 'queued' then clock_timestamp() end
  from unnest(:keys::text[], :shares::float8[], :tables::text[], :statuses::text[], :codes::text[], :messages::text[], :sides::text[])
    with ordinality as part (key, share, name, status, code, message, side, n)
  on conflict (transfer_id, number) do update set
    key_sealed = excluded.key_sealed, share = excluded.share, status = 'queued', attempt = 0, crashes = 0, worker = null,
    progress = 0, heartbeat_time = null, started_time = null, pending = null, announced_sealed = null,
    error_code = null, error_message = null, error_side = null
`)

/** Locks the connection and then the transfer of a part, before the part ends. No row: the transfer has ended. */
export const holdTransferOfPart = statement<{ id: string; connectionId: string }, { attempt: number }>(`
  with connection as (select id from connections where id = :connectionId for no key update)
  select t.attempt from transfers t join connection c on c.id = t.connection_id
  where t.id = :id and t.status = 'running' for no key update of t
`)

/**
 * Ends a part of several, and drops what it needed to continue but its cursor. A part without success keeps it: its transfer can be
 * retried. If it had delivery states, the destination may have dropped what was confirmed, so that it cannot continue: it keeps no
 * checkpoint. No row: it is another worker's by now.
 */
export const endPart = statement<
  Omit<PartFence, 'parts'> & {
    after: number
    until: number
    /** `skipped`: a table that was paused before it began. */
    status: 'succeeded' | 'failed' | 'cancelled' | 'skipped'
    code: TransferErrorCode | null
    message: string | null
    side: Role | null
  },
  { number: number; read: number; accepted: number; rejected: number }
>(`
  with states as (
    select exists (
      select from ledger l
      where l.transfer_id = :id and l.number > :after and l.number <= :until and l.delivery_state_sealed is not null
    ) as kept
  )
  update transfer_parts p set
    status = :status, error_code = :code, error_message = :message, error_side = :side, finished_time = clock_timestamp(),
    progress = case when :status = 'succeeded' then 1 else progress end,
    heartbeat_time = null,
    pending = case when :status <> 'succeeded' then pending end,
    announced_sealed = case when :status <> 'succeeded' then announced_sealed end, key_sealed = case when :status <> 'succeeded' then key_sealed end,
    checkpoint_sealed = case when :status <> 'succeeded' and not s.kept then checkpoint_sealed end,
    cursor_sealed = case when :status = 'succeeded' or not s.kept then cursor_sealed end
  from states s where ${ownPart}
  returning number, read, accepted, rejected
`)

/** Leaves out the parts that no worker has begun, because another one ended in a way that they would, too. */
export const skipParts = statement<{ id: string }>(`
  update transfer_parts set status = 'skipped', finished_time = clock_timestamp()
  where transfer_id = :id and status = 'queued' and attempt = 0
`)

/** The part that ended first without success, if one did; no row while parts are active. If tables were cancelled, one of these. */
export const resultOfParts = statement<
  { id: string },
  {
    number: number | null
    table: string | null
    status: 'failed' | 'cancelled' | null
    code: TransferErrorCode | null
    message: string | null
    side: Role | null
  }
>(`
  select bad.number, bad.table_name as "table", bad.status, bad.error_code as code, bad.error_message as message, bad.error_side as side
  from (select) always
  left join lateral (
    select * from transfer_parts where transfer_id = :id and status in ('failed', 'cancelled')
    order by table_name is not null and status = 'cancelled' desc, finished_time, number limit 1
  ) bad on true
  where not exists (select from transfer_parts where transfer_id = :id and status in ('queued', 'running'))
`)

/** The cursors of the parts, in their order. */
export const cursorsOfParts = statement<{ id: string }, { cursorSealed: Buffer | null }>(`
  select cursor_sealed from transfer_parts where transfer_id = :id and cursor_sealed is not null order by number
`)

export const dropCursorsOfParts = statement<{ id: string }>(`
  update transfer_parts set cursor_sealed = null where transfer_id = :id and cursor_sealed is not null and status = 'succeeded'
`)

/** Adds a line to the log of the attempt that divided the transfer, while it has lines to spare. */
export const addLogLine = statement<{ id: string; attempt: number; line: string; linesMax: number }>(`
  update transfer_logs set lines = lines || :line::jsonb
  where transfer_id = :id and attempt = :attempt and jsonb_array_length(lines) < :linesMax::int
`)
