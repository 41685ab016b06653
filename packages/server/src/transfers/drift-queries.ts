import type { Shape } from '@penstock/engine'
import type { ColumnChange, DriftMode } from '@penstock/wire'
import { isKept } from '../db/kept.ts'
import { statement } from '../db/statement.ts'
import { isStoppedByColumns } from './connection-tables-queries.ts'

/** Statements of what a connection does if columns change. */

export type DriftRow = {
  connectionId: string
  drift: DriftMode
  /** Columns of the last successful transfer. */
  shape: Shape | null
  /** Changes that stopped the newest transfer, and the columns that it found; null once they are accepted. */
  changes: ColumnChange[] | null
  foundShape: Shape | null
}

export const findDrift = statement<{ accountId: string; connectionId: string }, DriftRow>(`
  select c.id as connection_id, coalesce(s.drift, 'ignore') as drift, s.shape, t.column_changes as changes,
    t.shape as found_shape
  from connections c
  left join connection_states s on s.connection_id = c.id
  left join transfers t on t.connection_id = c.id and t.latest and t.error_code = 'columns_changed'
    and t.shape is distinct from s.shape - '{accepted,adds}'::text[]
  where c.id = :connectionId and c.account_id = :accountId and not c.account_deleted and ${isKept('c')}
`)

/** @param shape the columns that are accepted; null: they stay */
export const putDrift = statement<{ connectionId: string; drift: DriftMode; shape: string | null }>(`
  insert into connection_states (connection_id, drift, shape) values (:connectionId, :drift, :shape)
  on conflict (connection_id) do update set
    drift = excluded.drift, shape = coalesce(excluded.shape, connection_states.shape)
`)

/** A table whose changed columns stopped it. */
export type TableDriftRow = {
  table: string
  /** Columns of its last successful transfer. */
  shape: Shape | null
  changes: ColumnChange[] | null
  foundShape: Shape | null
}

/** Tables that were stopped because of their columns, and whose changes are not accepted. @param only null: all tables */
export const findTableChanges = statement<
  { connectionId: string; only: readonly string[] | null; size: number },
  TableDriftRow
>(`
  select k.name as "table", k.shape, k.column_changes as changes, k.found_shape
  from connection_tables k
  where k.connection_id = :connectionId and ${isStoppedByColumns}
    and (:only::text[] is null or k.name = any(:only::text[]))
  order by k.name limit :size
`)

/** Stores the columns of tables that are accepted. */
export const putTableShapes = statement<{ connectionId: string; names: readonly string[]; shapes: readonly string[] }>(`
  update connection_tables k set shape = accepted.shape::jsonb
  from unnest(:names::text[], :shapes::text[]) as accepted (name, shape)
  where k.connection_id = :connectionId and k.name = accepted.name
`)
