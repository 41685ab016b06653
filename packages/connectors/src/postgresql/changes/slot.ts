import { ConnectorError } from '@penstock/connector'
import pg from 'pg'
import type { PostgresSession } from '../session.ts'
import { nameOf } from '../table.ts'
import { lsnIn, lsnText } from './snapshot.ts'

const { escapeIdentifier } = pg

/** The table of the settings, and the slot and the publication through which its changes come. */
export type ChangesPlace = {
  readonly schema: string
  readonly table: string
  readonly slot: string
  readonly publication: string
}

/** Up to where the slot gave its changes away: what was committed before is not read again. */
export type Slot = { readonly confirmedLsn: bigint }

/**
 * Asserts that the server and the publication give the changes of the table, whole enough to find each row again.
 * @param keys the columns that identify a row
 * Throws a `ConnectorError` with the setting to change, and the statement for it.
 */
export async function checkPublication(
  session: PostgresSession,
  { schema, table, publication }: ChangesPlace,
  keys: readonly string[],
): Promise<void> {
  const [server] = await session.rows(
    `select pg_is_in_recovery() as standby, current_setting('wal_level') as level, current_setting('server_version_num')::int as version`,
    { standby: 'boolean', level: 'text', version: 'integer' },
  )
  if (server?.standby) throw problem('not_supported', 'This server is a standby. Connect to the primary server.')
  if (server?.level !== 'logical') {
    throw problem(
      'not_supported',
      `The server does not keep what changes need: wal_level is ${server?.level}. Set wal_level = logical, and restart it.`,
    )
  }
  const name = nameOf({ schema, table })
  const [found] = await session.rows(
    `select relkind = 'p' as partitioned, relkind in ('r', 'p') as "isTable", relreplident as identity,
            (select coalesce(json_agg(attname), '[]') from pg_index join pg_attribute on attrelid = indrelid and attnum = any(indkey::int2[])
              where indrelid = pg_class.oid and (case relreplident when 'i' then indisreplident else indisprimary end))::text as columns
       from pg_class where oid = to_regclass($1)`,
    { partitioned: 'boolean', isTable: 'boolean', identity: 'text', columns: 'json' },
    [name],
  )
  if (!found) throw problem('table_not_found', `There is no table ${schema}.${table}; check the settings.`)
  if (!found.isTable) {
    throw problem(
      'not_supported',
      `${schema}.${table} is no table: only tables have changes. Read all rows of it instead.`,
    )
  }
  const identity = Array.isArray(found.columns) ? found.columns : []
  const unsent = found.identity === 'f' ? [] : keys.filter((key) => !identity.includes(key))
  if (keys.length === 0 || unsent.length > 0) {
    throw problem(
      'invalid_key',
      keys.length === 0
        ? `${schema}.${table} has no primary key, so a changed row could not be found again. Give it one, or set key columns and run: alter table ${name} replica identity full`
        : `PostgreSQL does not send ${unsent.join(', ')} of a removed row. Select the columns of the replica identity as key columns, or run: alter table ${name} replica identity full`,
    )
  }
  const [published] = await session.rows(
    `select pubviaroot as "viaRoot", exists (
              select from pg_publication_tables t
               where t.pubname = p.pubname and t.schemaname = $2 and t.tablename = $3) as here
       from pg_publication p where pubname = $1`,
    { viaRoot: 'boolean', here: 'boolean' },
    [publication, schema, table],
  )
  const root = found.partitioned ? ' with (publish_via_partition_root = true)' : ''
  if (!published) {
    throw problem(
      'object_not_found',
      `There is no publication ${publication}. Run: create publication ${escapeIdentifier(publication)} for table ${name}${root}`,
    )
  }
  if (found.partitioned && !published.viaRoot) {
    throw problem(
      'invalid_setting',
      `The table has partitions. Run: alter publication ${escapeIdentifier(publication)} set (publish_via_partition_root = true)`,
    )
  }
  if (!published.here) {
    throw problem(
      'object_not_found',
      `The publication ${publication} does not have the table. Run: alter publication ${escapeIdentifier(publication)} add table ${name}`,
    )
  }
}

/**
 * Looks the slot up. Throws `invalid_setting` if it is another kind of slot, or of another database.
 * @returns `undefined` if it is not there, `lost` if the server has thrown away changes that it has not given
 */
export async function findSlot(session: PostgresSession, slot: string): Promise<Slot | 'lost' | undefined> {
  const [found] = await session.rows(
    `select coalesce(plugin, '') as plugin, coalesce(database = current_database(), false) as here, coalesce(wal_status, '') as status,
            confirmed_flush_lsn::text as confirmed
       from pg_replication_slots where slot_name = $1`,
    { plugin: 'text', here: 'boolean', status: 'text', confirmed: 'text?' },
    [slot],
  )
  if (!found) return undefined
  if (found.plugin !== 'pgoutput' || !found.here) {
    throw problem(
      'invalid_setting',
      `The replication slot ${slot} is not one of pgoutput in this database. Name another one.`,
    )
  }
  const confirmedLsn = lsnIn(found.confirmed)
  return found.status === 'lost' || confirmedLsn === undefined ? 'lost' : { confirmedLsn }
}

/** The slot, for a first transfer: made if it is missing, and made again if it is lost. Throws a `ConnectorError`. */
export async function ensureSlot(session: PostgresSession, slot: string): Promise<Slot> {
  const found = await findSlot(session, slot)
  if (found && found !== 'lost') return found
  if (found) await session.rows(`select pg_drop_replication_slot($1)::text as dropped`, { dropped: 'text' }, [slot])
  const [made] = await session.rows(
    `select lsn::text as lsn from pg_create_logical_replication_slot($1, 'pgoutput')`,
    { lsn: 'text' },
    [slot],
  )
  const confirmedLsn = lsnIn(made?.lsn)
  if (confirmedLsn === undefined) throw session.unexpected('a replication slot without a place')
  return { confirmedLsn }
}

/** Asserts that a slot has all changes since a place. Throws `changes_lost` if it does not. */
export async function requireChanges(session: PostgresSession, slot: string, lsn: bigint): Promise<Slot> {
  const found = await findSlot(session, slot)
  if (found === undefined) throw gone(slot, 'was dropped')
  if (found === 'lost') throw gone(slot, 'was lost: the server had to keep more than max_slot_wal_keep_size for it')
  if (found.confirmedLsn <= lsn) return found
  throw gone(slot, 'was read by something else, another connection perhaps: use a slot for each')
}

/** Reports to the server that what was committed before a place is confirmed. Throws `changes_lost` if changes since then are gone. */
export async function confirmChanges(session: PostgresSession, slot: string, lsn: bigint): Promise<void> {
  const { confirmedLsn } = await requireChanges(session, slot, lsn)
  if (confirmedLsn === lsn) return
  await session.rows(`select end_lsn::text as lsn from pg_replication_slot_advance($1, $2::pg_lsn)`, { lsn: 'text' }, [
    slot,
    lsnText(lsn),
  ])
}

/** Up to where the server has written what was committed. */
export async function currentLsn(session: PostgresSession): Promise<bigint> {
  const [row] = await session.rows(`select pg_current_wal_flush_lsn()::text as lsn`, { lsn: 'text' })
  const lsn = lsnIn(row?.lsn)
  if (lsn === undefined) throw session.unexpected('a place in its log that is none')
  return lsn
}

/** How many bytes of its log the server keeps for the slot; 0 if there is no slot. */
export async function keptBytes(session: PostgresSession, slot: string): Promise<number> {
  const [row] = await session.rows(
    `select coalesce(max(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)), 0)::bigint as bytes
       from pg_replication_slots where slot_name = $1`,
    { bytes: 'integer' },
    [slot],
  )
  return row?.bytes ?? 0
}

const gone = (slot: string, how: string): ConnectorError =>
  problem(
    'changes_lost',
    `The replication slot ${slot} ${how}. Changes since the last transfer cannot be read any more. Reset the state of the connection: the next transfer then copies the whole table again.`,
  )

const problem = (code: ConstructorParameters<typeof ConnectorError>[0], message: string) =>
  new ConnectorError(code, message)
