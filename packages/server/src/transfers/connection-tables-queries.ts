import type { ColumnChange, ConnectionTableStatus, Role } from '@penstock/wire'
import { statement } from '../db/statement.ts'

/** Statements of the tables of a connection that moves many tables (docs/decisions/tables.md). */

export type ConnectionTableRow = {
  table: string
  destination: string | null
  tableStatus: ConnectionTableStatus
  cursor: boolean
  resetTime: Date | null
  /** How its last transfer ended; null: none has moved it. */
  transferId: string | null
  status: 'succeeded' | 'failed' | 'cancelled' | null
  read: number
  accepted: number
  rejected: number
  errorCode: string | null
  errorMessage: string | null
  errorSide: Role | null
  finishedTime: Date | null
  changes: ColumnChange[] | null
  srcConnectorId: string
  destConnectorId: string
}

/** Whether the newest listing of the source contained the table `k`: each listing gives all its tables one time. */
const isListed = `k.listed_time = (select max(listed_time) from connection_tables where connection_id = k.connection_id)`
/** Whether changed columns stopped the table `k`, and are not accepted. */
export const isStoppedByColumns = `k.error_code = 'columns_changed' and k.column_changes is not null
    and k.found_shape is distinct from k.shape - '{accepted,adds}'::text[] and ${isListed}`

const tables = `
  select k.name as "table", k.destination,
    case when not ${isListed} then 'missing' when k.paused then 'paused' when k.status = 'failed' then 'failing' else 'active' end
      as table_status,
    k.cursor_sealed is not null as cursor, k.reset_time, k.transfer_id, k.status, k.read, k.accepted, k.rejected,
    k.error_code, k.error_message, k.error_side, k.finished_time,
    case when ${isStoppedByColumns} then k.column_changes end as changes, c.src_connector_id, c.dest_connector_id
  from connection_tables k join connections c on c.id = k.connection_id
  where k.connection_id = :connectionId`

type Filter = { connectionId: string; status: ConnectionTableStatus | null; like: string | null }
const filtered = `from (${tables}) t
  where (:status::text is null or table_status = :status)
    and (:like::text is null or "table" ilike :like or destination ilike :like)`

export const listTables = statement<Filter & { size: number; offset: number }, ConnectionTableRow>(`
  select * ${filtered} order by "table" limit :size offset :offset
`)
export const countTables = statement<Filter, { total: number }>(`select count(*)::int as total ${filtered}`)

/** Tables by their names. */
export const findTables = statement<{ connectionId: string; names: readonly string[] }, ConnectionTableRow>(`
  ${tables} and k.name = any(:names::text[]) order by k.name
`)

export const pauseTables = statement<{ connectionId: string; names: readonly string[]; paused: boolean }>(`
  update connection_tables set paused = :paused
  where connection_id = :connectionId and name = any(:names::text[]) and paused <> :paused
`)
