import type { ChangeLog, ChangeLogContext, ChangeLogMeasure, ChangeLogStatus } from '@penstock/connector'
import { inSession } from '../../databases/sessions.ts'
import { placeOf } from '../../databases/settings.ts'
import { openSession } from '../session.ts'
import { placeOfChanges } from './slot.ts'
import { cursorIn, identityOf } from './stages.ts'

const open = (context: ChangeLogContext) => openSession(context, placeOf(context.secrets, 5432))

/** Measures the log that the server keeps for the slot. */
export async function measure(context: ChangeLogContext): Promise<ChangeLogMeasure> {
  const cursor = cursorIn(context.cursor, identityOf(placeOfChanges(context.settings)))
  return inSession(await open(context), async (session) => {
    const [row] = await session.rows(
      `select s.wal_status as status, s.confirmed_flush_lsn::text as confirmed,
        pg_wal_lsn_diff(pg_current_wal_lsn(), s.restart_lsn)::bigint::text as kept, s.safe_wal_size::text as safe,
        pg_wal_lsn_diff(pg_current_wal_lsn(), $2::pg_lsn)::bigint::text as behind,
        (select setting from pg_settings where name = 'max_slot_wal_keep_size') as mebibytes,
        (extract(epoch from statement_timestamp()) * 1000)::bigint as ms
      from (select 1) one left join pg_replication_slots s on s.slot_name = $1`,
      {
        status: 'text?',
        confirmed: 'text?',
        kept: 'text?',
        safe: 'text?',
        behind: 'text?',
        mebibytes: 'text?',
        ms: 'integer',
      },
      [context.slot, cursor?.lsn ?? null],
    )
    if (!row) throw session.unexpected('no row')
    const limit = bytesIn(row.mebibytes)
    return {
      status: isStatus(row.status) ? row.status : cursor && row.status === null ? 'lost' : null,
      keptBytes: bytesIn(row.kept),
      safeBytes: bytesIn(row.safe),
      limitBytes: limit === null ? null : limit * 1024 ** 2,
      behindBytes: bytesIn(row.behind),
      behindFiles: null,
      olderFiles: null,
      behindSeconds: cursor?.readMs === undefined ? null : Math.max(0, Math.round((row.ms - cursor.readMs) / 1000)),
      keptSeconds: null,
      confirmed: row.confirmed,
    }
  })
}

const statuses: readonly string[] = ['reserved', 'extended', 'unreserved', 'lost'] satisfies ChangeLogStatus[]
const isStatus = (status: string | null): status is ChangeLogStatus => status !== null && statuses.includes(status)

/** A size of the server; -1 is no limit, and the place of a slot can be ahead of what is written. */
function bytesIn(text: string | null): number | null {
  const bytes = text === null ? Number.NaN : Number(text)
  if (!Number.isFinite(bytes) || text === '-1') return null
  return Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, Math.trunc(bytes)))
}

/** Drops the slot, if it is one of this database that nothing else reads. */
export async function drop(
  context: Parameters<NonNullable<ChangeLog['release']>['drop']>[0],
): Promise<'dropped' | 'missing' | 'in_use'> {
  const { slot, confirmed } = context
  return inSession(await open(context), async (session) => {
    const [found] = await session.rows(
      `select coalesce(plugin, '') as plugin, coalesce(database = current_database(), false) as here, active,
        confirmed_flush_lsn::text as confirmed, coalesce(wal_status, '') as status
      from pg_replication_slots where slot_name = $1`,
      { plugin: 'text', here: 'boolean', active: 'boolean', confirmed: 'text?', status: 'text' },
      [slot],
    )
    if (!found) return 'missing'
    const isRead = confirmed !== undefined && found.confirmed !== confirmed && found.status !== 'lost'
    if (found.plugin !== 'pgoutput' || !found.here || found.active || isRead) return 'in_use'
    await session.rows(`select pg_drop_replication_slot($1)::text as dropped`, { dropped: 'text' }, [slot])
    return 'dropped'
  })
}
