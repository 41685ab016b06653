import { statement } from '../../db/statement.ts'

/** Statements for the upkeep in every worker: transfers whose worker died, and waiting transfers. */

/** The parts of the worker that looks: each with the attempt that is its own. */
type Supervised = { ids: readonly string[]; parts: readonly number[]; attempts: readonly number[] }

const own = 'unnest(:ids::text[], :parts::int[], :attempts::int[]) as own (id, part, attempt)'

/**
 * Queues parts again whose worker sent no heartbeat for too long, but for those of the worker that looks: it lives. A transfer waits with
 * its only part. Locked rows are skipped, so the order of the locks does not matter.
 */
export const requeueLost = statement<
  { heartbeatTimeoutSeconds: number } & Supervised,
  { id: string; part: number; parts: number }
>(`
  with dead as (
    select p.transfer_id, p.number, t.parts from transfer_parts p join transfers t on t.id = p.transfer_id
    where p.status = 'running' and p.heartbeat_time < now() - make_interval(secs => :heartbeatTimeoutSeconds)
      and not exists (
        select from ${own} where own.id = p.transfer_id and own.part = p.number and own.attempt = p.attempt
      )
    for no key update of p skip locked
  ),
  held as (
    select id from transfers where id in (select transfer_id from dead where parts = 1) and parts = 1 and status = 'running'
    for no key update skip locked
  ),
  waiting as (update transfers t set status = 'queued' from held h where t.id = h.id returning t.id)
  update transfer_parts p set status = 'queued', heartbeat_time = null from dead d
  where p.transfer_id = d.transfer_id and p.number = d.number and (d.parts > 1 or d.transfer_id in (select id from waiting))
  returning p.transfer_id as id, p.number as part, d.parts
`)

/** Sends the heartbeats of everything that a worker supervises. */
export const sendHeartbeats = statement<Supervised>(`
  update transfer_parts p set heartbeat_time = now() from ${own}
  where p.transfer_id = own.id and p.number = own.part and p.attempt = own.attempt and p.status = 'running'
`)

/** A part that waits, if one does. The order is that of an index, so only one row is read. */
export const someQueued = statement<Record<never, never>, { id: string }>(`
  select transfer_id as id from transfer_parts where status = 'queued' order by transfer_id, number limit 1
`)
