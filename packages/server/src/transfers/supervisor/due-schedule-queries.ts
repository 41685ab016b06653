import { isKept } from '../../db/kept.ts'
import { statement } from '../../db/statement.ts'
import type { StartableRow } from './start-many.ts'

/** Statements that start the transfers of schedules that are due, many at once. */

export type DueScheduleRow = StartableRow & { cron: string; timezone: string }
/**
 * Schedules that are due, taken together with their connections: no other worker starts them, and none of the
 * connections changes before its transfer is written. Rows that another transaction has locked stay due, and are taken
 * the next time, and so does one whose connection has an active test, which would keep its transfer out.
 */
export const takeDue = statement<{ limit: number }, DueScheduleRow>(`
  select s.connection_id, c.organization_id, c.account_id, s.cron, s.timezone, c.status, a.enabled as account_enabled,
    c.src_connector_id, c.dest_connector_id, c.account_deleted or not ${isKept('c')} as is_gone,
    (select r.blackout from connection_rules r where r.connection_id = c.id) as blackout, now() as now
  from schedules s join connections c on c.id = s.connection_id join accounts a on a.id = c.account_id
  where s.enabled and s.next_time <= now() and not exists (select from schedule_pauses)
    and not exists (
      select from transfers t
      where t.connection_id = c.id and t.status in ('queued', 'running')
        and (t.test_rows is not null or t.backfill is not null)
    )
  order by s.next_time limit :limit
  for update of s skip locked for no key update of c skip locked
`)

/** Moves schedules to their next times, as texts in the order of both lists; one without does not come again. */
export const moveSchedules = statement<{ connectionIds: readonly string[]; nextTimes: readonly (string | null)[] }>(`
  update schedules s set next_time = moved.next_time::timestamptz, last_time = now()
  from unnest(:connectionIds::text[], :nextTimes::text[]) as moved (connection_id, next_time)
  where s.connection_id = moved.connection_id
`)

/** Moves schedules to the ends of blackouts, in the order of both lists. */
export const postponeSchedules = statement<{ connectionIds: readonly string[]; ends: readonly string[] }>(`
  update schedules s set next_time = postponed.until::timestamptz
  from unnest(:connectionIds::text[], :ends::text[]) as postponed (connection_id, until)
  where s.connection_id = postponed.connection_id
`)
