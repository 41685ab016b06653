import type pg from 'pg'

/** The rows of a database as they were when the watch began. */
export type WatchedRows = {
  /** The tables in which something has changed since then, or since the last `restore`. */
  changed(): Promise<readonly string[]>
  /** Makes all rows what they were in these tables. */
  restore(tables: readonly string[]): Promise<void>
}

/** Tables that every request writes to, refused or not. */
const unwatched = ['audit_events', 'audit_heads', 'audit_keys', 'audit_queue']

/**
 * Watches every row of every table except the audit log. Triggers note changes in the same transaction, so that a rolled-back
 * change is not noted. So asking costs the same with many rows as with few.
 */
export async function watchRows(pool: pg.Pool): Promise<WatchedRows> {
  const { rows: tables } = await pool.query<{ name: string; columns: string }>(
    `select quote_ident(t.table_name) as name, string_agg(quote_ident(c.column_name), ', ' order by c.ordinal_position) as columns
     from information_schema.tables t join information_schema.columns c using (table_schema, table_name)
     where t.table_schema = 'public' and t.table_type = 'BASE TABLE' and c.is_generated = 'NEVER'
       and t.table_name <> all ($1)
       -- Rows are in the partitions.
       and not exists (select from pg_partitioned_table p where p.partrelid = quote_ident(t.table_name)::regclass)
     group by 1`,
    [unwatched],
  )
  await pool.query(`
    create schema watched;
    create schema saved;
    create table watched.changes (name text not null);
    create function watched.note() returns trigger language plpgsql as $$
      begin
        -- Byte by byte, as there are types without an equality. When something was last used is written now and then.
        if tg_op <> 'UPDATE' or new *<> old
          and to_jsonb(new) - 'last_used_time' <> to_jsonb(old) - 'last_used_time' then
          insert into watched.changes values (quote_ident(tg_table_name));
        end if;
        return null;
      end $$;
    ${tables
      .map(
        ({ name, columns }) => `
    create table saved.${name} as select ${columns} from ${name};
    create trigger watched after insert or update or delete on ${name} for each row execute function watched.note();
    create trigger watched_truncate after truncate on ${name} execute function watched.note();`,
      )
      .join('')}`)
  return {
    changed: async () => {
      const text = 'select distinct name from watched.changes'
      return (await pool.query<{ name: string }>({ name: 'changed rows', text })).rows.map(({ name }) => name)
    },
    restore: async (names) => {
      const restored = tables.filter(({ name }) => names.includes(name))
      // As a replica, so that no trigger does with these rows what it has done with them before, and no key is checked.
      await pool.query(
        `begin; set local session_replication_role = replica;
         ${restored
           .map(
             ({ name, columns }) => `delete from ${name};
         insert into ${name} (${columns}) overriding system value select ${columns} from saved.${name};`,
           )
           .join('\n')}
         delete from watched.changes; commit`,
      )
    },
  }
}
