import { ConnectorError, type Values } from '@penstock/connector'
import { noValue } from '../../kit/names.ts'
import type { PostgresSession } from '../session.ts'
import { lsnIn, lsnText } from './snapshot.ts'

/** The table of the settings, and the slot and the publication through which its changes come. */
export type ChangesPlace = {
  readonly schema: string
  readonly table: string
  readonly slot: string
  readonly publication: string
}

/** Reads the settings of a source of changes. Throws `invalid_setting`. */
export function placeOfChanges(settings: Values): ChangesPlace {
  const text = (key: string, otherwise?: string): string => {
    const value = settings[key] ?? otherwise
    if (typeof value === 'string' && value !== '') return value
    throw noValue(key)
  }
  const slot = text('slot')
  if (!/^[a-z0-9_]{1,63}$/.test(slot)) {
    throw new ConnectorError(
      'invalid_setting',
      'The name of a replication slot has at most 63 lower case letters, digits and _; change the setting slot.',
    )
  }
  return { schema: text('schema', 'public'), table: text('table'), slot, publication: text('publication') }
}

/** Up to where the slot gave its changes away: what was committed before is not read again. */
export type Slot = { readonly confirmedLsn: bigint }

/**
 * Looks the slot up. Throws `invalid_setting` if it is another kind of slot, or of another database.
 * @returns `undefined` if it is not there, `lost` if the server has thrown away changes that it has not given
 */
async function findSlot(session: PostgresSession, slot: string): Promise<Slot | 'lost' | undefined> {
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
  if (lsn > (await presentOf(session)).lsn) throw gone(slot, 'is of a server that was restored to an earlier time')
  await session.rows(`select end_lsn::text as lsn from pg_replication_slot_advance($1, $2::pg_lsn)`, { lsn: 'text' }, [
    slot,
    lsnText(lsn),
  ])
}

/** Up to where the server has written what was committed, and its time before that, Unix time in milliseconds. */
export type Present = { readonly lsn: bigint; readonly ms: number }

export async function presentOf(session: PostgresSession): Promise<Present> {
  const [row] = await session.rows(
    `select pg_current_wal_flush_lsn()::text as lsn, (extract(epoch from statement_timestamp()) * 1000)::bigint as ms`,
    { lsn: 'text', ms: 'integer' },
  )
  const lsn = lsnIn(row?.lsn)
  if (!row || lsn === undefined) throw session.unexpected('an invalid place in its log')
  return { lsn, ms: row.ms }
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
