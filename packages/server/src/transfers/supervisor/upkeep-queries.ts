import { statement } from '../../db/statement.ts'

/** Statements for the upkeep in every worker: transfers whose worker died, and waiting transfers. */

/**
 * Queues transfers again whose worker sent no heartbeat for too long, but for those of the worker that looks: it lives.
 * @param ids what it supervises, each with the attempt that is its own
 */
export const requeueLost = statement<
  { heartbeatTimeoutSeconds: number; ids: readonly string[]; attempts: readonly number[] },
  { id: string }
>(`
  update transfers set status = 'queued', heartbeat_time = null
  where id in (
    select t.id from transfers t
    where t.status = 'running' and t.heartbeat_time < now() - make_interval(secs => :heartbeatTimeoutSeconds)
      and not exists (
        select from unnest(:ids::text[], :attempts::int[]) as own (id, attempt)
        where own.id = t.id and own.attempt = t.attempt
      )
    for update of t skip locked
  )
  returning id
`)

/** Sends the heartbeats of everything that a worker supervises. */
export const sendHeartbeats = statement<{ ids: readonly string[]; attempts: readonly number[] }>(`
  update transfers t set heartbeat_time = now()
  from unnest(:ids::text[], :attempts::int[]) as own (id, attempt)
  where t.id = own.id and t.attempt = own.attempt and t.status = 'running'
`)

/** Some transfer that waits, if one does; in the order of the index, so that it alone is read. */
export const someQueued = statement<Record<never, never>, { id: string }>(`
  select id from transfers where status = 'queued' order by account_id, created_time limit 1
`)
