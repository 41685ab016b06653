import { isKept } from '../db/kept.ts'
import { statement } from '../db/statement.ts'

/** Statements of the state that a connection keeps from one transfer to the next. */

export type ConnectionStateRow = {
  connectionId: string
  cursor: boolean
  rows: number
  since: Date | null
  mirrored: boolean
  removed: number
}

export const findState = statement<{ accountId: string; connectionId: string }, ConnectionStateRow>(`
  select c.id as connection_id, s.cursor_sealed is not null as cursor, s.digests_since as since,
    greatest(0, coalesce((
      select sum(d.kept) from connection_digests d
      where d.connection_id = c.id and d.generation = s.digests_generation
    ), 0))::bigint as rows,
    exists (
      select from connection_digests d
      where d.connection_id = c.id and d.generation = s.digests_generation and d.keys_sealed is not null
    ) as mirrored,
    coalesce((select t.removed from transfers t where t.connection_id = c.id and t.latest), 0)::bigint as removed
  from connections c left join connection_states s on s.connection_id = c.id
  where c.id = :connectionId and c.account_id = :accountId and not c.account_deleted and ${isKept('c')}
`)

/** The next transfer reads everything. */
export const forgetCursor = statement<{ connectionId: string }>(`
  update connection_states set cursor_sealed = null, pending = null where connection_id = :connectionId
`)

/** Adds the reset to the history of the connection. @param what the names of the parts that were forgotten */
export const recordReset = statement<{ connectionId: string; what: string }>(`
  select add_connection_event(:connectionId, 'state', null, :what, null)
`)

/** Whether transfers sent rows, and the next one reads the source from its beginning. A test does not count. */
export const sentBefore = statement<{ connectionId: string }, { sent: boolean }>(`
  select exists (select from transfers where connection_id = :connectionId and accepted > 0 and test_rows is null)
    and not exists (
      select from connection_states where connection_id = :connectionId and cursor_sealed is not null
    ) as sent
`)
