import { discoveryOf, type ListedTable, listingOf, lookedAtMax } from '../databases/many-tables.ts'
import { listIn } from '../platform-api/json.ts'
import { openSession, type PostgresSession } from './session.ts'
import { batchesTable } from './table.ts'

/** The tables of all schemas. A partition is part of its table. */
async function look(session: PostgresSession, cursor: string): Promise<ListedTable[]> {
  const rows = await session.rows(
    `select nspname as schema, relname as "table", relkind in ('v', 'm') as "isView",
            least(greatest(reltuples, -1), 1e15)::int8 as rows,
            (select coalesce(json_agg(attname order by place), '[]')::text
               from pg_index join lateral unnest(indkey::int2[]) with ordinality as part (attnum, place) on true
               join pg_attribute using (attnum)
              where indrelid = c.oid and attrelid = c.oid and indisprimary and place <= indnkeyatts) as keys,
            exists (select from pg_attribute where attrelid = c.oid and attname = $1 and attnum > 0 and not attisdropped)
              as "hasCursor"
       from pg_class c join pg_namespace n on n.oid = relnamespace
      where nspname !~ '^pg_' and nspname <> 'information_schema' and relname <> $2
        and relkind = any(array['r', 'p', 'f', 'v', 'm']::"char"[]) and not relispartition
      order by nspname, relname limit $3::int`,
    { schema: 'text', table: 'text', isView: 'boolean', rows: 'integer', keys: 'json', hasCursor: 'boolean' },
    [cursor, batchesTable, lookedAtMax + 1],
  )
  return rows.map(({ rows: estimate, keys, ...found }) => ({
    ...found,
    keys: listIn(keys).map(String),
    // A table that was never analysed has -1, a view 0.
    ...(estimate > 0 && { rows: estimate }),
  }))
}

const opens = { defaultPort: 5432, schemas: true, openSession, look }
export const listTables = listingOf(opens)
export const discoverTables = discoveryOf(opens)
