import type { Role, TransferErrorCode } from '@penstock/wire'
import { statement } from '../../db/statement.ts'
import type { Fence, PendingParameters, StandingRow } from './queries.ts'

/**
 * Statements of transfers in parts (docs/decisions/0057-parts.md). A worker names the part and its attempt: if it lost
 * the part, it changes nothing. Rows are locked in this order: account, connection, transfer, part.
 */

export type PartFence = Fence & { part: number }

const own = `p.transfer_id = :id and p.number = :part and p.attempt = :attempt and p.status = 'running'`
const ofTransfer = `
  from transfers t join connections c on c.id = t.connection_id join accounts a on a.id = c.account_id
  where ${own} and t.id = p.transfer_id and t.status = 'running'
  returning c.status, a.enabled as account_enabled, t.cancelling, c.account_deleted as gone`

/** Divides a transfer. It has no heartbeat from now on, so that neither this worker nor an older one can have it as a whole. */
export const divideTransfer = statement<
  Fence & { parts: number; sourceColumns: string; columns: string; shape: string | null },
  StandingRow
>(`
  update transfers t set
    parts = :parts, heartbeat_time = null, pending = null, announced_sealed = null, progress = 0, source_columns = :sourceColumns, columns = :columns,
    shape = :shape
  from connections c join accounts a on a.id = c.account_id
  where t.id = :id and t.attempt = :attempt and t.status = 'running' and t.parts is null and c.id = t.connection_id
  returning c.status, a.enabled as account_enabled, t.cancelling, c.account_deleted as gone
`)

/** Queues parts. @param keys sealed, in base64 */
export const insertParts = statement<{
  id: string
  after: number
  keys: readonly string[]
  shares: readonly number[]
}>(`
  insert into transfer_parts (transfer_id, number, key_sealed, share)
  select :id, :after::int + n, decode(key, 'base64'), share
  from unnest(:keys::text[], :shares::float8[]) with ordinality as part (key, share, n)
`)

export const heartbeatOfPart = statement<PartFence, StandingRow>(`
  update transfer_parts p set heartbeat_time = now() ${ofTransfer}
`)

export const beginBatchOfPart = statement<PartFence & PendingParameters, StandingRow>(`
  update transfer_parts p set heartbeat_time = now(), pending = :pending, announced_sealed = :announced ${ofTransfer}
`)

export const recordRetryOfPart = statement<
  PartFence & { code: TransferErrorCode; message: string; side: Role | null }
>(`
  update transfer_parts p set error_code = :code, error_message = :message, error_side = :side where ${own}
`)

/** Gives a part back, so that another worker claims it immediately. */
export const releasePart = statement<PartFence>(`
  update transfer_parts p set status = 'queued', heartbeat_time = null where ${own}
`)

/** The runner of a part died: queues it again, unless that happened too often since a batch was last confirmed. */
export const requeueCrashedPart = statement<PartFence & { crashesMax: number }>(`
  update transfer_parts p set status = 'queued', heartbeat_time = null, crashes = crashes + 1
  where ${own} and crashes < :crashesMax
`)

/** Locks the connection and then the transfer of a part, before the part ends. No row: the transfer has ended. */
export const holdTransferOfPart = statement<{ id: string; connectionId: string }, { attempt: number; parts: number }>(`
  with connection as (select id from connections where id = :connectionId for no key update)
  select t.attempt, coalesce(t.parts, 0) as parts from transfers t join connection c on c.id = t.connection_id
  where t.id = :id and t.status = 'running' for no key update of t
`)

/**
 * Ends a part, and drops what it needed to continue but its cursor. A part without success keeps it: its transfer can be retried. If it had
 * delivery states, the destination may have dropped what was confirmed, so that it cannot continue: it keeps no checkpoint. No row: it is
 * another worker's by now.
 */
export const endPart = statement<
  PartFence & {
    after: number
    until: number
    status: 'succeeded' | 'failed' | 'cancelled'
    code: TransferErrorCode | null
    message: string | null
    side: Role | null
  },
  { number: number; read: number; accepted: number; rejected: number }
>(`
  update transfer_parts p set
    status = :status, error_code = :code, error_message = :message, error_side = :side, finished_time = clock_timestamp(),
    progress = case when :status = 'succeeded' then 1 else progress end,
    heartbeat_time = null,
    pending = case when :status <> 'succeeded' then pending end,
    announced_sealed = case when :status <> 'succeeded' then announced_sealed end, key_sealed = case when :status <> 'succeeded' then key_sealed end,
    checkpoint_sealed = case
      when :status = 'succeeded' or not exists (
        select from ledger l
        where l.transfer_id = :id and l.number > :after and l.number <= :until and l.delivery_state_sealed is not null
      )
      then checkpoint_sealed
    end
  where ${own}
  returning number, read, accepted, rejected
`)

/** Leaves out the parts that no worker has begun, because another one ended in a way that they would, too. */
export const skipParts = statement<{ id: string }>(`
  update transfer_parts set status = 'skipped', finished_time = clock_timestamp()
  where transfer_id = :id and status = 'queued' and attempt = 0
`)

/** The part that ended first without success, if one did; no row while parts are active. */
export const resultOfParts = statement<
  { id: string },
  {
    number: number | null
    status: 'failed' | 'cancelled' | null
    code: TransferErrorCode | null
    message: string | null
    side: Role | null
  }
>(`
  select bad.number, bad.status, bad.error_code as code, bad.error_message as message, bad.error_side as side
  from (select) always
  left join lateral (
    select * from transfer_parts where transfer_id = :id and status in ('failed', 'cancelled')
    order by finished_time, number limit 1
  ) bad on true
  where not exists (select from transfer_parts where transfer_id = :id and status in ('queued', 'running'))
`)

/** Where each part stands that is kept, in their order, and the key of what outlives the transfer, as it is by now. */
export const standingsOfParts = statement<
  { id: string },
  { number: number; standingSealed: Buffer | null; connectionDataKeyId: string | null }
>(`
  select p.number, p.checkpoint_sealed as standing_sealed, s.data_key_id as connection_data_key_id
  from transfer_parts p join transfers t on t.id = p.transfer_id
  left join connection_states s on s.connection_id = t.connection_id
  where p.transfer_id = :id and p.checkpoint_sealed is not null order by p.number
`)

/** Stores the cursor of all parts, before the transfer ends. */
export const saveCursorOfParts = statement<{ id: string; cursor: Buffer }>(`
  update transfers set cursor_sealed = :cursor where id = :id and status = 'running' and parts is not null
`)

export const dropStandings = statement<{ id: string }>(`
  update transfer_parts set checkpoint_sealed = null where transfer_id = :id and checkpoint_sealed is not null
`)

/** Adds a line to the log of the attempt that divided the transfer, while it has lines to spare. */
export const addLogLine = statement<{ id: string; attempt: number; line: string; linesMax: number }>(`
  update transfer_logs set lines = lines || :line::jsonb
  where transfer_id = :id and attempt = :attempt and jsonb_array_length(lines) < :linesMax::int
`)
