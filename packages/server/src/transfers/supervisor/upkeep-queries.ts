import { statement } from '../../db/statement.ts'

/** Statements of what every worker looks after: lost transfers, schedules that are due, probes of offline connections. */

export const requeueLost = statement<{ heartbeatTimeoutSeconds: number }, { id: string }>(`
  update transfers set status = 'queued', heartbeat_time = null
  where id in (
    select id from transfers
    where status = 'running' and heartbeat_time < now() - make_interval(secs => :heartbeatTimeoutSeconds)
    for update skip locked
  )
  returning id
`)

/** Some transfer that waits, if one does; in the order of the index, so that it alone is read. */
export const someQueued = statement<Record<never, never>, { id: string }>(`
  select id from transfers where status = 'queued' order by account_id, created_time limit 1
`)

/** A schedule that is due, taken: no other worker starts it. */
export const takeDue = statement<
  Record<never, never>,
  { connectionId: string; accountId: string; cron: string; timezone: string }
>(`
  select s.connection_id, c.account_id, s.cron, s.timezone
  from schedules s join connections c on c.id = s.connection_id
  where s.enabled and s.next_time <= now() and not exists (select from schedule_pauses)
  order by s.next_time limit 1 for update of s skip locked
`)
export const moveSchedule = statement<{ connectionId: string; nextTime: Date | null }>(`
  update schedules set next_time = :nextTime, last_time = now() where connection_id = :connectionId
`)

export const scheduleProbe = statement<{ connectionId: string; inSeconds: number }>(`
  insert into probes (connection_id, next_time) values (:connectionId, now() + make_interval(secs => :inSeconds))
  on conflict (connection_id) do update set attempts = 0, next_time = excluded.next_time
`)

/** Probes that are due, each put off already, ever longer: a worker that dies while it probes is no hindrance. */
export const takeProbes = statement<
  { limit: number; mostSeconds: number },
  { connectionId: string; accountId: string; srcConnectorId: string; destConnectorId: string }
>(`
  update probes p set
    attempts = attempts + 1, next_time = now() + make_interval(secs => least(:mostSeconds::int, 60 * 2 ^ least(attempts, 10)))
  from connections c
  where c.id = p.connection_id and p.connection_id in (
    select d.connection_id from probes d join connections o on o.id = d.connection_id
    where d.next_time <= now() and o.status = 'offline'
    order by d.next_time limit :limit for update of d skip locked
  )
  returning p.connection_id, c.account_id, c.src_connector_id, c.dest_connector_id
`)
export const dropProbe = statement<{ connectionId: string }>(`delete from probes where connection_id = :connectionId`)
