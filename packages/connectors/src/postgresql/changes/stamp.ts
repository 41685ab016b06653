import { createHash } from 'node:crypto'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { ConnectorError, type Json } from '@penstock/connector'
import type { Deletes } from '../../databases/row-changes.ts'
import { isObject } from '../../platform-api/json.ts'
import type { PostgresSession } from '../session.ts'
import type { Publication } from './publication.ts'
import type { Leaf, SourceTable } from './table.ts'

/**
 * The table and the server of a place in the log. The stamp is stored with the place, and compared when reading continues there: changes of another
 * server, of another table with the same name, or of rows that the publication did not publish for a while are not in the slot.
 */
export type Stamp = {
  /** The identifier of the cluster, and its timeline, which a restore or a failover changes. */
  readonly server: string
  readonly oid: number
  /** A digest of the columns. */
  readonly shape: string
  /** A digest of what the publication publishes. */
  readonly publication: string
  /** All transactions with lower numbers were over. */
  readonly horizon: string
  /** The leaves of the table; packed, because a cursor is bounded. */
  readonly leaves: string
}

type StoredLeaf = Pick<Leaf, 'oid' | 'file' | 'attached'>

const leavesLengthMax = 5_000

/** The stamp of the present. In the transaction in which the table and the publication were looked up. */
export async function stampOf(
  session: PostgresSession,
  { oid, shown, columns, leaves }: SourceTable,
  { version }: Publication,
): Promise<Stamp> {
  const [now] = await session.rows(
    `select substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) as timeline,
            pg_snapshot_xmin(pg_current_snapshot())::text as horizon,
            has_function_privilege('pg_control_system()', 'execute') as known`,
    { timeline: 'text', horizon: 'text', known: 'boolean' },
  )
  if (!now || !/^\d{1,18}$/.test(now.horizon)) throw session.unexpected('a snapshot that is not valid')
  const [system] = now.known
    ? await session.rows('select system_identifier::text as id from pg_control_system()', { id: 'text' })
    : []
  const packed = packLeaves(leaves)
  if (packed.length > leavesLengthMax) {
    throw new ConnectorError(
      'not_supported',
      `${shown} has ${leaves.length} partitions, too many to notice when one is replaced. Read its partitions with separate connections.`,
    )
  }
  return {
    server: `${system?.id ?? ''}/${now.timeline}`,
    oid,
    shape: digestOf(JSON.stringify(columns)),
    publication: digestOf(version),
    horizon: now.horizon,
    leaves: packed,
  }
}

const digestOf = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 16)

/** Reads a stamp of a cursor or a checkpoint; `undefined` if it contains no stamp. */
export function stampIn(stored: Json | undefined): Stamp | undefined {
  if (!isObject(stored)) return undefined
  const { server, oid, shape, publication, horizon, leaves } = stored
  if (typeof oid !== 'number' || typeof server !== 'string' || typeof shape !== 'string') return undefined
  if (typeof publication !== 'string' || typeof horizon !== 'string' || typeof leaves !== 'string') return undefined
  // It becomes a part of a statement.
  if (!/^\d{1,18}$/.test(horizon)) return undefined
  try {
    unpackLeaves(leaves)
  } catch {
    return undefined
  }
  return { server, oid, shape, publication, horizon, leaves }
}

/** Differences to the leaf before, which are mostly small. */
export function packLeaves(leaves: readonly StoredLeaf[]): string {
  let [oid, attached] = [0, 0]
  const parts = leaves.map((leaf) => {
    const part = [leaf.oid - oid, leaf.file - leaf.oid, leaf.attached - attached].map((each) => each.toString(36))
    oid = leaf.oid
    attached = leaf.attached
    return part.join()
  })
  return deflateRawSync(parts.join(';')).toString('base64url')
}

export function unpackLeaves(packed: string): StoredLeaf[] {
  const text = inflateRawSync(Buffer.from(packed, 'base64url'), { maxOutputLength: 1024 * 1024 }).toString('latin1')
  let [oid, attached] = [0, 0]
  return text === ''
    ? []
    : text.split(';').map((part) => {
        const [first = 0, second = 0, third = 0] = part.split(',').map((each) => Number.parseInt(each, 36))
        oid += first
        attached += third
        return { oid, file: second + oid, attached }
      })
}

/**
 * Asserts that the slot has the changes of all rows since a stamp was made. Throws `changes_lost`, with what happened.
 * @param now the stamp of the present
 */
export async function assertSame(
  session: PostgresSession,
  { stored, now }: { readonly stored: Stamp; readonly now: Stamp },
  table: SourceTable,
  { isOfMany, deletes }: { readonly isOfMany: boolean; readonly deletes: Deletes },
): Promise<void> {
  const { shown, leaves } = table
  const [id, timeline] = stored.server.split('/')
  const [idNow, timelineNow] = now.server.split('/')
  // An identifier that the user may not read is empty.
  if (id && idNow && id !== idNow) throw lost(`${session.place.host} is another server than in the last transfer`)
  if (timeline !== timelineNow) throw lost(`The server ${session.place.host} was restored or has failed over`)
  if (stored.oid !== now.oid) {
    throw lost(`${shown} is another table than in the last transfer: it was dropped and created again, or renamed`)
  }
  if (stored.publication !== now.publication) {
    throw lost(
      `The publication was altered or created again, or ${shown} was not in it for a while: its changes since the last transfer may be missing`,
    )
  }
  const before = new Map(unpackLeaves(stored.leaves).map((leaf) => [leaf.oid, leaf]))
  const present = new Set(leaves.map(({ oid }) => oid))
  const gone = [...before.keys()].find((oid) => !present.has(oid))
  // Rows that leave the table stay at the destination if removed rows are skipped.
  if (gone !== undefined && deletes !== 'skip') {
    const [left] = await session.rows(`select $1::oid::regclass::text as name`, { name: 'text' }, [gone])
    throw lost(`A partition of ${shown} was detached or dropped: ${left?.name}`)
  }
  for (const leaf of leaves) {
    const known = before.get(leaf.oid)
    if (known && known.attached !== leaf.attached) {
      throw lost(`The partition ${leaf.name} of ${shown} was detached and attached again`)
    }
    if (!known && (await hasRows(session, table, leaf, beforeAttachment))) {
      throw lost(`The partition ${leaf.name} was attached to ${shown} with rows, which are not in its changes`)
    }
  }
  // A truncation of a partition is not sent; neither are changes of a table that was unlogged for a while.
  if (!table.isPartitioned && !isOfMany) return
  const rewritten = leaves.filter(({ oid, file }) => (before.get(oid)?.file ?? file) !== file)
  // A row says that the whole table was truncated.
  if (deletes === 'add' && rewritten.length === before.size) return
  // A statement that writes a table anew for other columns is a change of its columns.
  if (stored.shape !== now.shape) return
  for (const leaf of rewritten) {
    // VACUUM FULL and CLUSTER keep the rows.
    if (await hasRows(session, table, leaf, olderThan(stored.horizon))) continue
    throw lost(`${leaf.name} was truncated or written anew since the last transfer`)
  }
}

/** Rows of transactions before a number of 64 bits. A row has 32 of them. */
const olderThan = (horizon: string): string =>
  `((${horizon} - t.xmin::text::int8) & 4294967295) between 1 and 2147483647`

/** Rows that were in a leaf before it, or what it is a part of, became a partition. */
const beforeAttachment = `exists (select from pg_inherits i
  where i.inhrelid in (select relid from pg_partition_ancestors(t.tableoid::regclass))
    and (((i.xmin::text::int8 - t.xmin::text::int8) & 4294967295) between 1 and 2147483647
         or i.xmin = t.xmin and t.cmin::text::int8 < i.cmin::text::int8))`

/** Whether the leaf has rows for which a condition is true. */
async function hasRows(session: PostgresSession, table: SourceTable, leaf: Leaf, condition: string): Promise<boolean> {
  const [own] = await session.rows(
    `select has_table_privilege($1::oid, 'select') as may, $2::oid::regclass::text as table`,
    { may: 'boolean', table: 'text' },
    [leaf.oid, table.oid],
  )
  // A user who can only read the table above finds the rows there.
  const from = own?.may ? `${leaf.name} as t where` : `${own?.table} as t where t.tableoid = ${leaf.oid} and`
  const [row] = await session.rows(`select exists (select from ${from} ${condition}) as has`, { has: 'boolean' })
  return row?.has ?? false
}

const lost = (what: string): ConnectorError =>
  new ConnectorError(
    'changes_lost',
    `${what}. Rows of the destination may be old. Remove the rows there, then reset the state of the connection: the next transfer copies the table again.`,
  )
