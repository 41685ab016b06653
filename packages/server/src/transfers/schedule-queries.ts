import { isKept } from '../db/kept.ts'
import { statement } from '../db/statement.ts'

/** Statements of the schedules, and of what pauses all of them. */

export type ScheduleRow = {
  connectionId: string
  cron: string
  timezone: string
  enabled: boolean
  nextTime: Date | null
  lastTime: Date | null
  /** Whether all schedules are. */
  paused: boolean
}
const scheduleColumns = `s.connection_id, s.cron, s.timezone, s.enabled, s.next_time, s.last_time,
  exists (select from schedule_pauses) as paused`

export const findSchedule = statement<{ accountId: string; connectionId: string }, ScheduleRow>(`
  select ${scheduleColumns} from schedules s join connections c on c.id = s.connection_id
  where s.connection_id = :connectionId and c.account_id = :accountId and not c.account_deleted and ${isKept('c')}
`)
type Scope = {
  organizationId: string
  accountId: string | null
  accountIds: readonly string[] | null
  /** Null: of all connections. */
  connectionIds: readonly string[] | null
}
const listOf = (scope: string) => {
  const kept = `schedules s join connections c on c.id = s.connection_id
    where ${scope} and not c.account_deleted and c.status <> 'deleted'`
  return {
    list: statement<Scope & { size: number; offset: number }, ScheduleRow & { accountId: string }>(`
      select c.account_id, ${scheduleColumns} from ${kept}
      order by c.created_time desc, c.id desc limit :size offset :offset`),
    count: statement<Scope, { total: number }>(`select count(*) as total from ${kept}`),
  }
}
const lists = {
  account: listOf('c.organization_id = :organizationId and c.account_id = :accountId'),
  organization: listOf('c.organization_id = :organizationId'),
  accounts: listOf('c.organization_id = :organizationId and c.account_id = any(:accountIds)'),
  asked: listOf(`s.connection_id = any(:connectionIds) and c.organization_id = :organizationId
    and (:accountId::text is null or c.account_id = :accountId)
    and (:accountIds::text[] is null or c.account_id = any(:accountIds))`),
}
/** Schedules of many connections, and how many there are. */
export const scheduleList = ({ accountId, accountIds, connectionIds }: Scope) =>
  lists[
    connectionIds !== null
      ? 'asked'
      : accountId !== null
        ? 'account'
        : accountIds !== null
          ? 'accounts'
          : 'organization'
  ]

export const putSchedule = statement<
  { connectionId: string; cron: string; timezone: string; enabled: boolean; nextTime: Date | null },
  ScheduleRow
>(`
  insert into schedules as s (connection_id, cron, timezone, enabled, next_time)
  values (:connectionId, :cron, :timezone, :enabled, :nextTime)
  on conflict (connection_id) do update set
    cron = excluded.cron, timezone = excluded.timezone, enabled = excluded.enabled, next_time = excluded.next_time
  returning ${scheduleColumns}
`)
/** Locks the organization, so that its schedules are enabled one at a time; rows that refer to it need not wait. */
export const lockOrganization = statement<{ organizationId: string }, { id: string }>(`
  select id from organizations where id = :organizationId for no key update
`)
/** The enabled schedules of an organization whose connections are not deleted. */
export const countEnabledSchedules = statement<{ organizationId: string }, { live: number }>(`
  select count(*) as live from schedules s join connections c on c.id = s.connection_id
  where s.organization_id = :organizationId and s.enabled and c.status <> 'deleted'
`)
/** Removes the schedule of a connection, if it has one. */
export const deleteSchedule = statement<{ connectionId: string }, ScheduleRow>(`
  delete from schedules s where s.connection_id = :connectionId returning ${scheduleColumns}
`)

export const pauseSchedules = statement<{ reason: string }>(`
  insert into schedule_pauses (reason) values (:reason) on conflict (reason) do nothing
`)
export const resumeSchedules = statement(`delete from schedule_pauses`)
export const findPause = statement<Record<never, never>, { reason: string; createdTime: Date }>(`
  select reason, created_time from schedule_pauses order by created_time limit 1
`)
