import { statement } from '../../db/statement.ts'

/** Statements for the upkeep in every worker: transfers whose worker died, and waiting transfers. */

/** The transfers and parts of the worker that looks: each with its part, 0 for a whole transfer, and the attempt that is its own. */
type Supervised = { ids: readonly string[]; parts: readonly number[]; attempts: readonly number[] }

const own = 'unnest(:ids::text[], :parts::int[], :attempts::int[]) as own (id, part, attempt)'

/**
 * Queues transfers and parts again whose worker sent no heartbeat for too long, but for those of the worker that looks: it lives. A
 * transfer in parts has no heartbeat of its own.
 */
export const requeueLost = statement<{ heartbeatTimeoutSeconds: number } & Supervised, { id: string; part: number }>(`
  with transfers_of_dead as (
    update transfers set status = 'queued', heartbeat_time = null
    where id in (
      select t.id from transfers t
      where t.status = 'running' and t.heartbeat_time < now() - make_interval(secs => :heartbeatTimeoutSeconds)
        and not exists (select from ${own} where own.id = t.id and own.part = 0 and own.attempt = t.attempt)
      for update of t skip locked
    )
    returning id
  ),
  parts_of_dead as (
    update transfer_parts set status = 'queued', heartbeat_time = null
    where (transfer_id, number) in (
      select p.transfer_id, p.number from transfer_parts p
      where p.status = 'running' and p.heartbeat_time < now() - make_interval(secs => :heartbeatTimeoutSeconds)
        and not exists (
          select from ${own} where own.id = p.transfer_id and own.part = p.number and own.attempt = p.attempt
        )
      for update of p skip locked
    )
    returning transfer_id, number
  )
  select id, 0 as part from transfers_of_dead
  union all
  select transfer_id, number from parts_of_dead
`)

/** Sends the heartbeats of everything that a worker supervises. */
export const sendHeartbeats = statement<Supervised>(`
  with sent as (
    update transfers t set heartbeat_time = now() from ${own}
    where own.part = 0 and t.id = own.id and t.attempt = own.attempt and t.status = 'running' and t.parts is null
  )
  update transfer_parts p set heartbeat_time = now() from ${own}
  where p.transfer_id = own.id and p.number = own.part and p.attempt = own.attempt and p.status = 'running'
`)

/** Some transfer that waits, if one does, or has parts that wait; in the order of indexes, so that they alone are read. */
export const someQueued = statement<Record<never, never>, { id: string }>(`
  (select id from transfers where status = 'queued' order by account_id, created_time limit 1)
  union all
  (
    select t.id from transfers t
    where t.status = 'running' and t.parts is not null
      and exists (select from transfer_parts where transfer_id = t.id and status = 'queued')
    limit 1
  )
`)
