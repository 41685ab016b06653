import type { Db } from '../db/database.ts'
import { statement } from '../db/statement.ts'

/** Statements for `/metrics` about work that every worker looks for. The work waits if no worker does it. */

/** Limit when counting events of the audit log. A longer queue is reported as this long. */
const eventsCounted = 100_000

/**
 * How long the sweep of alerts, which a worker begins every minute, is overdue, and whether any worker has ever begun it. A new
 * database has the time that the first migration wrote. How many events of the audit log wait to be linked, and how long the
 * first of the queue has waited. Sweeps pause after a restore.
 */
const overdueWork = statement<
  { most: number },
  { workersOverdueSeconds: number; neverWorked: boolean; auditEvents: number; auditSeconds: number }
>(`
  select
    coalesce((
      select greatest(0, extract(epoch from clock_timestamp() - next_time)) from alert_sweeps
      where name = 'open and idle' and not exists (select from schedule_pauses where reason = 'restore')
    ), 0)::float8 as workers_overdue_seconds,
    exists (select from alert_sweeps where name = 'open and idle' and next_time = '2026-01-01') as never_worked,
    (select count(*) from (select from audit_queue limit :most) q) as audit_events,
    coalesce((
      select greatest(0, extract(epoch from clock_timestamp() - time)) from audit_queue order by id limit 1
    ), 0)::float8 as audit_seconds
`)

/** The last heartbeat of a running part of a transfer, and how many parts have had no heartbeat for longer than the limit. */
const heartbeats = statement<{ seconds: number }, { last: Date | null; stale: number }>(`
  select max(heartbeat_time) as last,
    count(*) filter (where heartbeat_time < clock_timestamp() - make_interval(secs => :seconds)) as stale
  from transfer_parts where status = 'running'
`)

/** Reads the heartbeats of running transfers. Rejects if the database does not answer. */
export const readHeartbeats = async (db: Db, seconds: number): Promise<{ last: Date | null; stale: number }> =>
  (await heartbeats.first(db, { seconds })) ?? { last: null, stale: 0 }

/** Reads the figures of work that waits, over all processes. Rejects if the database does not answer. */
export async function readOverdueWork(
  db: Db,
): Promise<{ workersOverdueSeconds: number; neverWorked: boolean; auditEvents: number; auditSeconds: number }> {
  const row = await overdueWork.first(db, { most: eventsCounted })
  return row ?? { workersOverdueSeconds: 0, neverWorked: false, auditEvents: 0, auditSeconds: 0 }
}
