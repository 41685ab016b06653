import type pg from 'pg'

/**
 * Fills tables while they have no indexes and no foreign keys, in a third of the time. Foreign keys of and to these tables are
 * created again without a check, so the rows must not violate them.
 * @param kept indexes and keys that `fill` needs, by name
 */
export async function withoutIndexes(
  client: pg.Client,
  tables: readonly string[],
  fill: () => Promise<void>,
  kept: readonly string[] = [],
): Promise<void> {
  const constraints = await client.query<{ table: string; name: string; definition: string; kind: string }>(
    `select conrelid::regclass as table, quote_ident(conname) as name, pg_get_constraintdef(oid) as definition,
       contype as kind
     from pg_constraint
     where not conname = any($2) and (conrelid = any($1::regclass[]) and contype in ('p', 'u', 'f') or
       confrelid = any($1::regclass[]) and contype = 'f' and not exists (
         select from pg_class i where i.oid = conindid and i.relname = any($2)))
     order by contype`,
    [tables, kept],
  )
  const indexes = await client.query<{ name: string; definition: string }>(
    `select quote_ident(indexname) as name, indexdef as definition from pg_indexes
     where tablename = any($1) and not indexname = any($2) and indexname not in (select conname from pg_constraint)`,
    [tables, kept],
  )
  for (const { table, name } of constraints.rows) await client.query(`alter table ${table} drop constraint ${name}`)
  for (const { name } of indexes.rows) await client.query(`drop index ${name}`)
  await fill()
  await client.query(`set maintenance_work_mem = '512MB'`)
  for (const { definition } of indexes.rows) await client.query(definition)
  for (const { table, name, definition, kind } of constraints.rows.toReversed()) {
    const unchecked = kind === 'f' ? ' not valid' : ''
    await client.query(`alter table ${table} add constraint ${name} ${definition}${unchecked}`)
  }
  await client.query('reset maintenance_work_mem')
}
