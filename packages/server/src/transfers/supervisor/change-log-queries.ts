import type { Values } from '@penstock/connector'
import type { ConnectionStatus } from '@penstock/wire'
import { limits } from '@penstock/wire'
import { statement } from '../../db/statement.ts'
import type { Described } from '../described.ts'
import { savedSettings } from '../queries.ts'

/** Statements about the logs from which connections read changes, and the slots for which servers keep them. */

/** Identifies a log: a connection that was set up in another way leaves the one before. */
export type LogKey = {
  readonly connectionId: string
  readonly configurationId: string
  readonly slot: string
  readonly server: string
}
const isIt = (table: string) =>
  `${table}.connection_id = :connectionId and ${table}.configuration_id = :configurationId and ${table}.slot = :slot and ${table}.server = :server`

/** Notes a log before a transfer reads from it, or creates its slot. The transfer moves the slot on. */
export const noteLog = statement<LogKey & { organizationId: string; accountId: string; connectorId: string }>(`
  insert into change_logs (connection_id, configuration_id, slot, server, organization_id, account_id, connector_id, next_time)
  values (:connectionId, :configurationId, :slot, :server, :organizationId, :accountId, :connectorId, now() + interval '15 minutes')
  on conflict on constraint change_logs_pkey do update set confirmed = null, leaving_since = null, asked = false, stays = false
`)

/** Has the logs of a connection measured, because a transfer has ended. */
export const measureSoon = statement<{ connectionId: string }>(`
  update change_logs set next_time = now(), attempts = 0 where connection_id = :connectionId and not stays
`)

export type TakenLog = LogKey & {
  organizationId: string
  accountId: string
  connectorId: string
  confirmed: string | null
  leavingSeconds: number | null
  /** Whether a person asked to have the slot dropped. */
  asked: boolean
  stays: boolean
  /** Null with all of its columns: the connection was purged. */
  status: ConnectionStatus | null
  /** Whether the connection can be restored no more. */
  isExpired: boolean
  srcConnectorId: string | null
  srcConfigurationId: string | null
  srcConfig: Values | null
  /** The saved values of the configuration of the log; null: it was removed. */
  settings: Values | null
  describes: Described | null
  dataKeyId: string | null
  cursorSealed: Buffer | null
  isTransferring: boolean
  /** Whether another connection reads from the same slot. */
  isShared: boolean
}

/**
 * Takes logs that are due, each put off already, ever longer. None while schedules are paused since a backup was restored: the original
 * database may be in use, and its slots with it.
 */
export const takeLogs = statement<{ limit: number }, TakenLog>(`
  with due as materialized (
    select connection_id, configuration_id, slot, server from change_logs
    where next_time <= now() and not exists (select from schedule_pauses where reason = 'restore')
    order by next_time limit :limit for update skip locked
  ), taken as (
    update change_logs l set attempts = l.attempts + 1, next_time = now() + make_interval(secs => least(3600, 60 * 2 ^ least(l.attempts, 10)))
    from due d
    where l.connection_id = d.connection_id and l.configuration_id = d.configuration_id and l.slot = d.slot and l.server = d.server
    returning l.*
  )
  select l.connection_id, l.configuration_id, l.slot, l.server, l.organization_id, l.account_id, l.connector_id, l.confirmed,
    extract(epoch from now() - l.leaving_since)::float8 as leaving_seconds, l.asked, l.stays,
    c.status, coalesce(c.status = 'deleted' and c.deleted_time < now() - interval '${limits.restoreWindowDays} days', true) as is_expired,
    c.src_connector_id, c.src_configuration_id, c.src_config,
    ${savedSettings('l.account_id', 'l.connector_id', 'l.configuration_id')} as settings,
    s.describes, s.data_key_id, s.cursor_sealed,
    exists (
      select from transfers where connection_id = l.connection_id and status in ('queued', 'running')
    ) as is_transferring,
    l.slot <> '' and exists (
      select from change_logs o
      where o.server = l.server and o.slot = l.slot and o.connection_id <> l.connection_id and o.leaving_since is null
    ) as is_shared
  from taken l
  left join connections c on c.id = l.connection_id
  left join connection_states s on s.connection_id = l.connection_id
`)

export type Measured = LogKey & {
  status: string | null
  keptBytes: number | null
  safeBytes: number | null
  limitBytes: number | null
  behindBytes: number | null
  behindFiles: number | null
  olderFiles: number | null
  keptSeconds: number | null
  behindSeconds: number | null
  confirmed: string | null
  warns: boolean
}
/**
 * Stores what was measured; a trigger has alert rules look at it. Only the first place after a transfer is kept: if the slot is at another one
 * later, something else has read from it.
 */
export const storeMeasure = statement<Measured>(`
  update change_logs l set
    measured_time = now(), attempts = 0, next_time = now() + interval '15 minutes', status = :status,
    kept_bytes = :keptBytes, safe_bytes = :safeBytes, limit_bytes = :limitBytes, behind_bytes = :behindBytes,
    behind_files = :behindFiles, older_files = :olderFiles, kept_seconds = :keptSeconds,
    delivered_time = now() - make_interval(secs => :behindSeconds::float8), confirmed = coalesce(l.confirmed, :confirmed),
    problem = null, warns = :warns, leaving_since = null
  where ${isIt('l')}
`)

/** For the metrics: the logs of which servers keep most. */
export const largestLogs = statement<
  { limit: number },
  { connectionId: string; slot: string; keptBytes: number | null }
>(`
  select connection_id, slot, kept_bytes from change_logs where kept_bytes is not null order by kept_bytes desc limit :limit
`)

/** For the metrics: the connections that are furthest behind. */
export const latestLogs = statement<
  { limit: number },
  { connectionId: string; slot: string; behindSeconds: number | null }
>(`
  select connection_id, slot, extract(epoch from now() - delivered_time)::float8 as behind_seconds
  from change_logs where delivered_time is not null order by delivered_time limit :limit
`)

/** For the metrics: how many logs need attention. */
export const countWarnings = statement<Record<never, never>, { warnings: number }>(`
  select count(*) as warnings from change_logs where warns
`)

/** Stores why a log could not be measured, or a slot could not be dropped; it is tried again. */
export const storeProblem = statement<LogKey & { problem: string }>(`
  update change_logs l set problem = :problem where ${isIt('l')}
`)

/** Stores that the connection does not read the log any more. */
export const leaveLog = statement<LogKey>(`
  update change_logs l set leaving_since = coalesce(leaving_since, now()), warns = false, attempts = 0,
    next_time = now() + interval '1 minute'
  where ${isIt('l')}
`)

/** Stores that a slot stays at its server, which a person must drop. The note is removed after 30 days. */
export const staySlot = statement<LogKey & { problem: string }>(`
  update change_logs l set stays = true, problem = :problem, warns = false, next_time = now() + interval '30 days' where ${isIt('l')}
`)

export const forgetLog = statement<LogKey>(`delete from change_logs l where ${isIt('l')}`)

/** Has the slots of a connection dropped, because a person asked for it. */
export const leaveLogs = statement<{ connectionId: string }>(`
  update change_logs set leaving_since = now(), asked = true, warns = false, attempts = 0, next_time = now()
  where connection_id = :connectionId and slot <> '' and not stays
`)
