import { statement } from '../db/statement.ts'

/**
 * Writes an event and queues it for every webhook that subscribes to it, in the current transaction. If no webhook does, it
 * writes nothing and returns no identifier.
 */
export const emitEvent = statement<
  { type: string; organizationId: string; accountId: string | null; connectionId: string | null; data: string },
  { id: string | null }
>(`select emit_event(:type, :organizationId, :accountId, :connectionId, :data::json) as id`)

export const insertEvent = statement<{ id: string; organizationId: string; type: string; payload: string }>(`
  insert into events (id, organization_id, type, payload) values (:id, :organizationId, :type, :payload)
`)

/** Removes old events with their deliveries, whatever became of these. Found by their places: no event is ever changed. */
export const purgeEvents = statement<{ days: number; limit: number }>(`
  delete from events where ctid = any (array(
    select ctid from events where created_time < now() - make_interval(days => :days)
    order by created_time limit :limit
  ))
`)
