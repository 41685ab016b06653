import type { TestService } from './service.ts'

/** Tables whose rows callers make and change. */
const tables = [
  ...[
    'accounts',
    'added_connectors',
    'secrets',
    'connections',
    'connection_counts',
    'idempotency_keys',
    'authorizations',
  ],
  ...['transfers', 'ledger', 'rejects', 'schedules', 'connection_memories', 'connection_events'],
]

/** What callers have put into the database, as one text: the same before and after means that nothing changed. */
export async function contentOf({ database }: Pick<TestService, 'database'>): Promise<string> {
  const digests = tables.map((table) => `(select md5(string_agg(t::text, ' ' order by t::text)) from ${table} t)`)
  const { rows } = await database.pool.query({ text: `select ${digests.join(', ')}`, rowMode: 'array' })
  return JSON.stringify(rows[0])
}
