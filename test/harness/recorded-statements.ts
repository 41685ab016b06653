import type pg from 'pg'

/** The text of each later statement on connections of the pool, except statements that link the audit log. */
export function recordStatements(pool: pg.Pool): string[] {
  const texts: string[] = []
  const watched = new WeakSet<pg.PoolClient>()
  pool.on('acquire', (client) => {
    if (watched.has(client)) return
    watched.add(client)
    let links = false
    const query = client.query.bind(client) as (...given: unknown[]) => unknown
    client.query = ((...given: unknown[]) => {
      const [what] = given
      const text = typeof what === 'string' ? what : (what as { text: string }).text
      // A look for what waits, or the transaction that links and seals it.
      links ||= /link_audit_events|from audit_heads where number > 0/.test(text)
      if (!links && !text.startsWith('select id from audit_queue')) texts.push(text)
      if (/^(?:commit|rollback)$/.test(text)) links = false
      return query(...given)
    }) as typeof client.query
  })
  return texts
}
