import type pg from 'pg'

/** Prepares a digest of every row of every table except the audit log. Two digests are equal if nothing has changed. */
export async function prepareFingerprint(pool: pg.Pool): Promise<() => Promise<string>> {
  const tables = await pool.query<{ name: string }>(
    // Partitions come and go. Their tables have all rows.
    `select quote_ident(relname) as name from pg_class
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
       and relname not in ('audit_events', 'audit_heads', 'audit_keys', 'audit_queue') order by 1`,
  )
  const rows = tables.rows.map(({ name }) => `select md5(row::text) as digest from ${name} as row`).join(' union all ')
  const text = `select md5(coalesce(string_agg(digest, '' order by digest), '')) as digest from (${rows}) as digests`
  return async () => {
    const found = await pool.query<{ digest: string }>({ name: 'fingerprint', text })
    return found.rows[0]?.digest ?? ''
  }
}
