import type { ConnectionStatus, Role, TransferErrorCode } from '@penstock/wire'
import { statement } from '../../db/statement.ts'
import { makingDataKey } from '../../secrets/queries.ts'

/**
 * Statements of a worker that runs a part of a transfer. Most transfers have one part (docs/decisions/parts.md). Each statement names the
 * attempt: a worker that lost its part changes nothing. Rows are locked in this order: account, connection, transfer, part.
 */

/** A transfer of one part. It has the attempts of the part. */
export type Fence = { id: string; attempt: number }
/** The part that a worker claimed, and how many parts its transfer had then. */
export type PartFence = Fence & { part: number; parts: number }
/** The batch that may be delivered before it is confirmed: how many records it covers, and the rest of its announcement, sealed. */
export type PendingParameters = { pending: number | null; announced: Buffer | null }
export type StandingRow = { status: ConnectionStatus; accountEnabled: boolean; cancelling: boolean; gone: boolean }

/** The fence of a claimed part. */
export const fenceOf = ({ id, attempt, part, parts }: PartFence): PartFence => ({ id, attempt, part, parts })

/** The name of a part for connectors: each of several is a transfer to them, so that their batches and files have different names. */
export const nameOfPart = ({ id, part, parts }: Pick<PartFence, 'id' | 'part' | 'parts'>): string =>
  parts === 1 ? id : `${id}-${part}`

/** The part `p` of a worker. */
export const ownPart = `p.transfer_id = :id and p.number = :part and p.attempt = :attempt and p.status = 'running'`
const ofRunning = `t.id = :id and t.parts = :parts and t.status = 'running'`
const ofTransfer = `
  from transfers t join connections c on c.id = t.connection_id join accounts a on a.id = c.account_id
  where ${ownPart} and ${ofRunning}
  returning c.status, a.enabled as account_enabled, t.cancelling, c.account_deleted as gone`
/** The transfer `t` of a worker, as long as it has one part. */
const ofWhole = `t.id = :id and t.attempt = :attempt and t.status = 'running' and t.parts = 1`

/** Sends a heartbeat, and asks whether the worker may continue (invariant 3). No row: the part is no longer its own. */
export const heartbeat = statement<PartFence, StandingRow>(`
  update transfer_parts p set heartbeat_time = now() ${ofTransfer}
`)

/** The same before each batch, and what the batch covers. */
export const beginBatch = statement<PartFence & PendingParameters, StandingRow>(`
  update transfer_parts p set heartbeat_time = now(), pending = :pending, announced_sealed = :announced ${ofTransfer}
`)

/**
 * The same before the first batch of a session, with the columns, and with a data key for a transfer that has none. The
 * key is kept only while the master key that it is sealed under is the current one. Transfers in parts have both from the start.
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
  with ${makingDataKey('exists (select from transfers where id = :id and data_key_id is null)')},
  transfer as (
    update transfers t set
      source_columns = :sourceColumns, columns = :columns, shape = :shape,
      data_key_id = coalesce(t.data_key_id, (select id from made)), plan_sealed = coalesce(t.plan_sealed, :planSealed)
    from connections c join accounts a on a.id = c.account_id
    where ${ofWhole} and c.id = t.connection_id
    returning t.id, c.status, a.enabled as account_enabled, t.cancelling, c.account_deleted as gone, t.data_key_id
  )
  update transfer_parts p set heartbeat_time = now(), pending = :pending, announced_sealed = :announced
  from transfer t where p.transfer_id = t.id
  returning t.status, t.account_enabled, t.cancelling, t.gone, t.data_key_id
`)

/** The same before the first batch of a session of a table, which has its own columns. */
export const beginTable = statement<
  PartFence & PendingParameters & { sourceColumns: string; columns: string; shape: string | null },
  StandingRow
>(`
  update transfer_parts p set heartbeat_time = now(), pending = :pending, announced_sealed = :announced,
    source_columns = :sourceColumns, columns = :columns, shape = :shape ${ofTransfer}
`)

/** Replaces what was sealed under a key that was not kept. */
export const keepSealed = statement<Fence & { planSealed: Buffer | null; announcedSealed: Buffer | null }>(`
  with transfer as (update transfers t set plan_sealed = :planSealed where ${ofWhole} returning t.id)
  update transfer_parts p set announced_sealed = :announcedSealed from transfer t where p.transfer_id = t.id
`)

/** A transient error, while the part retries. That of the only part is the error of its transfer, too, which is locked first. */
export const recordRetry = statement<
  Omit<PartFence, 'parts'> & { code: TransferErrorCode; message: string; side: Role | null }
>(`
  with transfer as (
    update transfers t set error_code = :code, error_message = :message, error_side = :side where ${ofWhole} returning t.id
  )
  update transfer_parts p set error_code = :code, error_message = :message, error_side = :side
  where ${ownPart} and (select count(*) from transfer) >= 0
`)

/** The columns that changed since the last successful transfer. Locks the connection first: its history has them, too. */
export const recordColumns = statement<Fence & { connectionId: string; shape: string; changes: string }>(`
  with connection as (select id from connections where id = :connectionId for no key update)
  update transfers t set shape = :shape, column_changes = :changes from connection c
  where ${ofWhole} and t.connection_id = c.id
`)

/** Queues a part again. A transfer waits with its only part. */
const requeue = (set = '', condition = '') => `
  with held as (select t.id, t.parts from transfers t where ${ofRunning} for no key update),
  part as (
    update transfer_parts p set status = 'queued', heartbeat_time = null ${set} from held h
    where ${ownPart} and p.transfer_id = h.id ${condition}
    returning h.id, h.parts
  ),
  transfer as (update transfers t set status = 'queued' from part p where t.id = p.id and p.parts = 1)
  select id from part`

/** Gives a part back, so that another worker claims it immediately. */
export const releasePart = statement<PartFence, { id: string }>(requeue())

/** The runner of a part died: queues it again, unless that happened too often since a batch was last confirmed. */
export const requeueCrashed = statement<PartFence & { crashesMax: number }, { id: string }>(
  requeue(', crashes = crashes + 1', 'and p.crashes < :crashesMax'),
)
