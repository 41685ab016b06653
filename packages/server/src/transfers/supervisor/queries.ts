import type { ConnectionStatus, Role, TransferErrorCode } from '@penstock/wire'
import { statement } from '../../db/statement.ts'
import { makingDataKey } from '../../secrets/queries.ts'

/** Statements of a worker that runs a transfer. Each names the attempt: a worker that lost the transfer changes nothing. */

export type Fence = { id: string; attempt: number }
/** The batch that may be delivered before it is confirmed: how many records it covers, and the rest of its announcement, sealed. */
export type PendingParameters = { pending: number | null; announced: Buffer | null }
export type StandingRow = { status: ConnectionStatus; accountEnabled: boolean; cancelling: boolean; gone: boolean }

/** Sends a heartbeat, and asks whether the worker may continue (invariant 3). No row: the transfer is no longer its own. */
export const heartbeat = statement<Fence, StandingRow>(`
  update transfers t set heartbeat_time = now()
  from connections c join accounts a on a.id = c.account_id
  where t.id = :id and t.attempt = :attempt and t.status = 'running' and t.parts is null and c.id = t.connection_id
  returning c.status, a.enabled as account_enabled, t.cancelling, c.account_deleted as gone
`)

/** The same before each batch, and what the batch covers. */
export const beginBatch = statement<Fence & PendingParameters, StandingRow>(`
  update transfers t set heartbeat_time = now(), pending = :pending, announced_sealed = :announced
  from connections c join accounts a on a.id = c.account_id
  where t.id = :id and t.attempt = :attempt and t.status = 'running' and t.parts is null and c.id = t.connection_id
  returning c.status, a.enabled as account_enabled, t.cancelling, c.account_deleted as gone
`)

/**
 * The same before the first batch of a session, with the columns, and with a data key for a transfer that has none. The
 * key is kept only while the master key that it is sealed under is the current one.
 */
export const beginFirstBatch = statement<
  Fence &
    PendingParameters & {
      sourceColumns: string
      columns: string
      shape: string | null
      dataKeyId: string | null
      keyId: string | null
      sealed: Buffer | null
      planSealed: Buffer | null
    },
  StandingRow & { dataKeyId: string | null }
>(`
  with ${makingDataKey('exists (select from transfers where id = :id and data_key_id is null)')}
  update transfers t set
    heartbeat_time = now(), pending = :pending, announced_sealed = :announced, source_columns = :sourceColumns, columns = :columns, shape = :shape,
    data_key_id = coalesce(t.data_key_id, (select id from made)), plan_sealed = coalesce(t.plan_sealed, :planSealed)
  from connections c join accounts a on a.id = c.account_id
  where t.id = :id and t.attempt = :attempt and t.status = 'running' and t.parts is null and c.id = t.connection_id
  returning c.status, a.enabled as account_enabled, t.cancelling, c.account_deleted as gone, t.data_key_id
`)

/** Replaces what was sealed under a key that was not kept. */
export const keepSealed = statement<Fence & { planSealed: Buffer | null; announcedSealed: Buffer | null }>(`
  update transfers set plan_sealed = :planSealed, announced_sealed = :announcedSealed
  where id = :id and attempt = :attempt and status = 'running' and parts is null
`)

/** A transient error, while the transfer retries. */
export const recordRetry = statement<Fence & { code: TransferErrorCode; message: string; side: Role | null }>(`
  update transfers set error_code = :code, error_message = :message, error_side = :side
  where id = :id and attempt = :attempt and status = 'running' and parts is null
`)

/** The columns that changed since the last successful transfer. Locks the connection first: its history has them, too. */
export const recordColumns = statement<Fence & { connectionId: string; shape: string; changes: string }>(`
  with connection as (select id from connections where id = :connectionId for no key update)
  update transfers t set shape = :shape, column_changes = :changes from connection c
  where t.id = :id and t.attempt = :attempt and t.status = 'running' and t.parts is null and t.connection_id = c.id
`)

/** Gives a transfer back, so that another worker claims it at once. */
export const releaseTransfer = statement<Fence>(`
  update transfers set status = 'queued', heartbeat_time = null
  where id = :id and attempt = :attempt and status = 'running' and parts is null
`)

/** The runner of a transfer died: queues it again, unless that happened too often since a batch was last confirmed. */
export const requeueCrashed = statement<Fence & { crashesMax: number }>(`
  update transfers set status = 'queued', heartbeat_time = null, crashes = crashes + 1
  where id = :id and attempt = :attempt and status = 'running' and parts is null and crashes < :crashesMax
`)
