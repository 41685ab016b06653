import { statement } from '../../db/statement.ts'
import { hasCursor } from '../state-queries.ts'
import type { Fence } from './queries.ts'

/** Statements that bind the state of a connection to the settings of its transfers. */

/** Holds a transfer while the state of its connection is changed. No row: it is another worker's. */
export const holdState = statement<Fence & { connectionId: string }, { cursor: boolean }>(`
  select ${hasCursor(':connectionId')} as cursor
  from transfers where id = :id and attempt = :attempt and status = 'running' for no key update
`)

/**
 * Stores what the state describes from now on.
 * @param forgets whether it described something else: the cursor, and the batch after it that may have been delivered
 * @param isElsewhere whether the destination is another one: what it stored, and how much it had
 */
export const describe = statement<{
  connectionId: string
  describes: string
  forgets: boolean
  isElsewhere: boolean
}>(`
  with tables as (
    update connection_tables k set
      cursor_sealed = null, pending = null, shape = null, mapping = case when not :isElsewhere then k.mapping end
    where k.connection_id = :connectionId and :forgets::boolean
  )
  insert into connection_states as s (connection_id, describes) values (:connectionId, :describes::jsonb)
  on conflict (connection_id) do update set
    describes = excluded.describes,
    cursor_sealed = case when not :forgets::boolean then s.cursor_sealed end,
    pending = case when not :forgets then s.pending end,
    stream_read = case when not :forgets then s.stream_read end,
    state_sealed = case when not :isElsewhere::boolean then s.state_sealed end,
    replaced = case when not :isElsewhere then s.replaced end
`)
