import { isKept } from '../../db/kept.ts'
import { statement } from '../../db/statement.ts'
import type { StartableRow } from './start-many.ts'

/** Statements that start the transfers of connections that run after others. */

const hasActive = (connection: string) => `exists (
  select from transfers t where t.connection_id = ${connection} and t.status in ('queued', 'running')
)`

/**
 * Connections with notes, held: no other worker looks at them, and none of them changes before its transfer is written. Notes of a
 * connection with an active transfer wait until it has ended.
 */
export const holdNoted = statement<{ limit: number }, StartableRow>(`
  select c.id as connection_id, c.organization_id, c.account_id, c.status, a.enabled as account_enabled,
    c.src_connector_id, c.dest_connector_id, c.account_deleted or not ${isKept('c')} as is_gone,
    (select r.blackout from connection_rules r where r.connection_id = c.id) as blackout, now() as now
  from connections c join accounts a on a.id = c.account_id
  where not exists (select from schedule_pauses) and c.id = any(array(
    select n.connection_id from dependent_checks n where not ${hasActive('n.connection_id')}
    group by n.connection_id order by min(n.number) limit :limit
  ))
  for no key update of c skip locked
`)

export type NoteRow = {
  connectionId: string
  afterConnectionId: string
  /** Null: it was removed permanently. */
  afterName: string | null
  /** How its transfer ended, or what it became. */
  status: string
  /** Whether every connection that is waited for has ended well since the last start. */
  isReady: boolean
}

/** Removes the notes of held connections, and says which of these are ready. Notes of a connection that has an active transfer stay. */
export const takeNotes = statement<{ connectionIds: readonly string[] }, NoteRow>(`
  with taken as (
    delete from dependent_checks n where n.connection_id = any(:connectionIds) and not ${hasActive('n.connection_id')}
    returning n.connection_id, n.after_connection_id, n.status, n.number
  )
  select n.connection_id, n.after_connection_id, u.name as after_name, n.status,
    coalesce((
      select bool_and(coalesce(
        last_success_time(d.after_connection_id) > coalesce(last_run_time(d.connection_id), '-infinity'), false
      ))
      from connection_dependencies d where d.connection_id = n.connection_id
    ), false) as is_ready
  from taken n left join connections u on u.id = n.after_connection_id
  order by n.number
`)

/** Adds to the history that a connection did not start, unless its newest event says it already. */
export const addFailure = statement<{ connectionId: string; status: string; name: string }>(`
  select add_connection_event(:connectionId, 'dependency_failed', :status::text, :name::text, null)
  where not exists (
    select from (
      select kind, was, became from connection_events where connection_id = :connectionId order by number desc limit 1
    ) newest
    where kind = 'dependency_failed' and was = :status and became = :name
  )
`)
