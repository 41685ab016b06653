import type { Values } from '@penstock/connector'
import { isKept } from '../db/kept.ts'
import { statement } from '../db/statement.ts'
import type { ChangeLogRow } from './change-log-view.ts'
import type { Described } from './described.ts'
import { savedSettings } from './queries.ts'

/** Statements of the state that a connection keeps from one transfer to the next. */

export type ConnectionStateRow = {
  connectionId: string
  cursor: boolean
  rows: number
  since: Date | null
  mirrored: boolean
  removed: number
  /** The settings that the state describes; null: that is not known. */
  describes: Described | null
  srcConnectorId: string
  destConnectorId: string
  srcConfigurationId: string
  destConfigurationId: string
  srcConfig: Values
  destConfig: Values
  srcSettings: Values
  destSettings: Values
}

/** Whether a connection, or one of its tables, has a cursor. */
export const hasCursor = (connectionId: string) => `(
    exists (select from connection_states where connection_id = ${connectionId} and cursor_sealed is not null)
    or exists (select from connection_tables where connection_id = ${connectionId} and cursor_sealed is not null)
  )`

export const findState = statement<{ accountId: string; connectionId: string }, ConnectionStateRow>(`
  select c.id as connection_id, ${hasCursor('c.id')} as cursor, s.digests_since as since,
    greatest(0, coalesce((
      select sum(d.kept) from connection_digests d
      where d.connection_id = c.id and d.generation = s.digests_generation
    ), 0))::bigint as rows,
    exists (
      select from connection_digests d
      where d.connection_id = c.id and d.generation = s.digests_generation and d.keys_sealed is not null
    ) as mirrored,
    coalesce((select t.removed from transfers t where t.connection_id = c.id and t.latest), 0)::bigint as removed,
    s.describes, c.src_connector_id, c.dest_connector_id, c.src_configuration_id, c.dest_configuration_id, c.src_config, c.dest_config,
    coalesce(${savedSettings('c.account_id', 'c.src_connector_id', 'c.src_configuration_id')}, '{}') as src_settings,
    coalesce(${savedSettings('c.account_id', 'c.dest_connector_id', 'c.dest_configuration_id')}, '{}') as dest_settings
  from connections c left join connection_states s on s.connection_id = c.id
  where c.id = :connectionId and c.account_id = :accountId and not c.account_deleted and ${isKept('c')}
`)

/** The logs of a connection; those first from which it reads. */
export const findLogs = statement<{ connectionId: string }, ChangeLogRow>(`
  select slot, server, measured_time, status, kept_bytes, safe_bytes, limit_bytes, behind_bytes, behind_files, older_files,
    kept_seconds, delivered_time, problem, warns, leaving_since, stays
  from change_logs where connection_id = :connectionId
  order by leaving_since desc nulls first, slot, server
`)

/** Whether the audiences of a connection are measured, and the key that the measures are sealed under. */
export const findAudienceCheck = statement<
  { connectionId: string },
  { measuredTime: Date | null; problem: string | null; dataKeyId: string | null }
>(`
  select a.measured_time, a.problem, s.data_key_id
  from audience_checks a left join connection_states s on s.connection_id = a.connection_id
  where a.connection_id = :connectionId
`)
/** @param firstDay null: all days */
export const listAudienceMeasures = statement<
  { connectionId: string; firstDay: string | null },
  { day: string; sealed: Buffer }
>(`
  select to_char(day, 'YYYY-MM-DD') as day, sealed from audience_measures
  where connection_id = :connectionId and (:firstDay::date is null or day >= :firstDay::date) order by day
`)

/** The next transfer reads everything. @param salt makes its batches others than all before */
export const forgetCursor = statement<{ connectionId: string; salt: string }>(`
  with tables as (
    update connection_tables set cursor_sealed = null, pending = null, keys_salt = :salt, reset_time = now()
    where connection_id = :connectionId
  )
  update connection_states set cursor_sealed = null, pending = null, stream_read = null, keys_salt = :salt
  where connection_id = :connectionId
`)

/** The next transfer reads everything of these tables, and does not repeat the batches of them that may have been delivered. */
export const forgetTables = statement<{ connectionId: string; names: readonly string[]; salt: string }>(`
  update connection_tables set
    cursor_sealed = null, pending = null, keys_salt = :salt, reset_time = now(),
    announced_by = null, announced_part = null, announced_data_key_id = null, announced_sealed = null
  where connection_id = :connectionId and name = any(:names::text[])
`)

/** The next transfer does not repeat the batches that may have been delivered. */
export const forgetAnnounced = statement<{ connectionId: string }>(`
  with tables as (
    update connection_tables set announced_by = null, announced_data_key_id = null, announced_sealed = null, pending = null
    where connection_id = :connectionId
  )
  update connection_states set announced_by = null, announced_data_key_id = null, announced_sealed = null, pending = null
  where connection_id = :connectionId
`)

/** Adds the reset to the history of the connection. @param what the names of the parts that were forgotten */
export const recordReset = statement<{ connectionId: string; what: string }>(`
  select add_connection_event(:connectionId, 'state', null, :what, null)
`)

/** Adds to the history of the connection what happened to a slot or to tables. @param what such as `slot dropped` or `tables paused` */
export const recordState = statement<{ connectionId: string; of: string; what: string }>(`
  select add_connection_event(:connectionId, 'state', :of, :what, null)
`)

/**
 * Whether transfers sent rows, and the next one reads the source from its beginning. A test does not count.
 * @param forgets whether the cursor does not count
 */
export const sentBefore = statement<
  { connectionId: string; forgets: boolean },
  { sent: boolean; lastTime: Date | null }
>(`
  select exists (select from transfers where connection_id = :connectionId and accepted > 0 and test_rows is null)
    and (:forgets::boolean or not ${hasCursor(':connectionId')}) as sent,
    (
      select finished_time from transfers
      where connection_id = :connectionId and status in ('succeeded', 'partial') and test_rows is null
      order by created_time desc, id desc limit 1
    ) as last_time
`)
