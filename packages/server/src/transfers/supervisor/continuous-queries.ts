import { statement } from '../../db/statement.ts'
import type { StartableRow } from './start-many.ts'

/** Statements that start transfers of connections with a continuous schedule. */

/**
 * Connections with a continuous schedule, no active transfer, and events that they have not delivered; held, so that none changes
 * before its transfer is written. A connection that has not begun reads once, which fixes its beginning. One whose last
 * transfer failed waits.
 * @param streams of which there are new events; null: all
 */
export const takeContinuous = statement<
  { streams: readonly string[] | null; limit: number; againSeconds: number },
  StartableRow
>(`
  select s.connection_id, c.organization_id, c.account_id, c.status, a.enabled as account_enabled,
    c.src_connector_id, c.dest_connector_id, c.account_deleted as is_gone,
    (select r.blackout from connection_rules r where r.connection_id = c.id) as blackout, now() as now
  from schedules s join connections c on c.id = s.connection_id join accounts a on a.id = c.account_id
    left join streams e on e.id = c.src_configuration_id
    left join connection_states r on r.connection_id = c.id and r.stream_of = c.src_configuration_id
  where s.enabled and s.cron = '@continuous' and c.status = 'active' and a.enabled and not c.account_deleted
    and (:streams::text[] is null or c.src_configuration_id = any(:streams))
    and (r.stream_read is null or e.last_number > r.stream_read)
    and not exists (select from schedule_pauses)
    and not exists (select from transfers t where t.connection_id = c.id and t.status in ('queued', 'running'))
    and not exists (
      select from transfers t
      where t.connection_id = c.id and t.latest and t.status in ('failed', 'cancelled')
        and t.finished_time > now() - make_interval(secs => :againSeconds)
    )
  limit :limit for update of s skip locked for no key update of c skip locked
`)

/** Notes when schedules started transfers. */
export const noteStarts = statement<{ connectionIds: readonly string[] }>(`
  update schedules set last_time = now() where connection_id = any(:connectionIds)
`)
