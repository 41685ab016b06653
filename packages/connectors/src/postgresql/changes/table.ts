import { ConnectorError } from '@penstock/connector'
import type { PostgresSession } from '../session.ts'

/** The table of the settings as the catalogue shows it. */
export type SourceTable = {
  readonly oid: number
  /** By which name the server shows it. */
  readonly shown: string
  readonly isPartitioned: boolean
  /** The names of its columns, with their types as PostgreSQL writes them, in their order. */
  readonly columns: readonly { readonly name: string; readonly type: string }[]
  /** The columns of the primary key, in its order. */
  readonly primaryKey: readonly string[]
  /** The table on top of the partitions, if the table is a partition. */
  readonly root: string | undefined
  /** Whether row-level security applies to this user. */
  readonly hidesRows: boolean
  /** Whether other tables inherit from it without being partitions. */
  readonly isInherited: boolean
  /** The tables that store its rows: itself, or its partitions, by their OID. */
  readonly leaves: readonly Leaf[]
}

export type Leaf = {
  readonly oid: number
  readonly name: string
  /** `r` of a table, `f` of a foreign table. */
  readonly kind: string
  /** `p` of a table that is in the log. */
  readonly persistence: string
  /** The number of the file of its rows. A truncation, and everything that writes the table anew, changes it. */
  readonly file: number
  /** By which transactions the leaf, and what it is a part of, became partitions: the sum of their numbers. */
  readonly attached: number
  /** `d`, `i`, `f` or `n`. */
  readonly identity: string
  /** The columns that PostgreSQL sends of a removed row, unless it sends all of them. */
  readonly identityColumns: readonly string[]
}

const tree = `with recursive tree as (
  select $1::oid as oid, coalesce((select sum(xmin::text::int8) from pg_inherits
    where inhrelid in (select relid from pg_partition_ancestors($1::oid))), 0)::int8 as attached
  union all
  select i.inhrelid, tree.attached + i.xmin::text::int8
    from tree join pg_class c on c.oid = tree.oid and c.relkind = 'p' join pg_inherits i on i.inhparent = c.oid)`

/** Looks the table up. Throws a `ConnectorError` if it does not exist, or is a view. */
export async function findTable(
  session: PostgresSession,
  { schema, table }: { readonly schema: string; readonly table: string },
): Promise<SourceTable> {
  const [found] = await session.rows(
    `select c.oid, c.relkind = 'p' as partitioned, c.relkind in ('r', 'p') as "isTable", row_security_active(c.oid) as hides,
            c.relkind <> 'p' and exists (select from pg_inherits where inhparent = c.oid) as inherited,
            case when c.relispartition then pg_partition_root(c.oid)::regclass::text end as root,
            (select coalesce(json_agg(json_build_array(attname, format_type(atttypid, atttypmod)) order by attnum), '[]')
               from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped)::text as columns,
            (select coalesce(json_agg(attname order by place), '[]')
               from pg_index join lateral unnest(indkey::int2[]) with ordinality as part (attnum, place) on place <= indnkeyatts
               join pg_attribute using (attnum)
              where indrelid = c.oid and attrelid = c.oid and indisprimary)::text as key
       from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1 and c.relname = $2`,
    {
      ...({ oid: 'integer', partitioned: 'boolean', isTable: 'boolean', hides: 'boolean' } as const),
      ...({ inherited: 'boolean', root: 'text?', columns: 'json', key: 'json' } as const),
    },
    [schema, table],
  )
  const shown = `${schema}.${table}`
  if (!found) throw new ConnectorError('table_not_found', `There is no table ${shown}; check the settings.`)
  if (!found.isTable) {
    throw new ConnectorError(
      'not_supported',
      `${shown} is not a table: only tables have changes. Read all rows of it instead.`,
    )
  }
  const columns = listOf(found.columns).map((column) => listOf(column).map(String))
  return {
    oid: found.oid,
    shown,
    isPartitioned: found.partitioned,
    columns: columns.map(([name = '', type = '']) => ({ name, type })),
    primaryKey: listOf(found.key).map(String),
    root: found.root ?? undefined,
    hidesRows: found.hides,
    isInherited: found.inherited,
    leaves: await leavesOf(session, found.oid),
  }
}

async function leavesOf(session: PostgresSession, oid: number): Promise<Leaf[]> {
  const rows = await session.rows(
    `${tree} select c.oid, c.oid::regclass::text as name, c.relkind as kind, c.relpersistence as persistence,
            c.relfilenode as file, tree.attached, c.relreplident as identity,
            (select coalesce(json_agg(attname), '[]') from pg_index join pg_attribute on attrelid = indrelid
                and attnum = any((indkey::int2[])[0:indnkeyatts - 1])
              where indrelid = c.oid and indisunique and indimmediate and indisvalid
                and case c.relreplident when 'd' then indisprimary when 'i' then indisreplident else false end)::text as columns
       from tree join pg_class c using (oid) where c.relkind <> 'p' order by c.oid`,
    {
      ...({ oid: 'integer', name: 'text', kind: 'text', persistence: 'text', file: 'integer' } as const),
      ...({ attached: 'integer', identity: 'text', columns: 'json' } as const),
    },
    [oid],
  )
  return rows.map(({ columns, ...leaf }) => ({ ...leaf, identityColumns: listOf(columns).map(String) }))
}

/**
 * Whether no two rows can have the same key, not even within a transaction or a statement.
 * @param keys the columns that identify a row
 */
export async function isUniqueAtAnyTime(
  session: PostgresSession,
  { oid }: SourceTable,
  keys: readonly string[],
): Promise<boolean> {
  const [row] = await session.rows(
    `select exists (
       select from pg_index where indrelid = $1::oid and indisunique and indisvalid and indimmediate and indpred is null
          and 0 <> all(indkey::int2[])
          and (select bool_and(attname::text = any($2::text[])) from pg_attribute
                where attrelid = indrelid and attnum = any((indkey::int2[])[0:indnkeyatts - 1]))) as is`,
    { is: 'boolean' },
    [oid, keys],
  )
  return row?.is ?? false
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
