import { statement } from './statement.ts'

/** Statements that compare a replica with its primary. */

/** Everything that was committed before is in the log of this server, of this timeline, up to the position. */
export type LogPosition = { position: string; timeline: string; system: string; name: string }

/** The present position of the primary. */
export const loggedPosition = statement<Record<never, never>, LogPosition>(`
  select l.position::text as position, left(pg_walfile_name(l.position), 8) as timeline,
    s.system_identifier::text as system, current_database()::text as name
  from pg_current_wal_flush_lsn() l (position), pg_control_system() s
`)

/**
 * On a replica: whether it shows everything up to a position. After a failover, a replica that follows another timeline can
 * have passed the position, and one that was promoted shows what the primary does not.
 */
export const hasReplayed = statement<LogPosition, { reached: boolean }>(`
  select pg_is_in_recovery() and pg_last_wal_replay_lsn() >= :position::text::pg_lsn
    and upper(lpad(to_hex(c.timeline_id), 8, '0')) = :timeline
    and s.system_identifier::text = :system and current_database()::text = :name as reached
  from pg_control_checkpoint() c, pg_control_system() s
`)

/** Whether a server is a standby, of the same database, and how far it is behind a position of the primary. */
export const replicaState = statement<
  LogPosition,
  { isStandby: boolean; isSame: boolean; bytesBehind: number | null; secondsBehind: number | null }
>(`
  select pg_is_in_recovery() as is_standby,
    s.system_identifier::text = :system and current_database()::text = :name and :timeline::text <> '' as is_same,
    greatest(0, pg_wal_lsn_diff(:position::text::pg_lsn, pg_last_wal_replay_lsn()))::float8 as bytes_behind,
    extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp())::float8 as seconds_behind
  from pg_control_system() s
`)
