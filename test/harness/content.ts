import type { TestService } from './service.ts'

/** Tables whose rows callers make and change. */
const tables = [
  'accounts',
  'added_connectors',
  'configurations',
  'secrets',
  'uploads',
  'upload_chunks',
  'connections',
  'connection_counts',
  'idempotency_keys',
  'authorizations',
  'connect_links',
  'organization_branding',
  'clients',
  'transfers',
  'ledger',
  'rejects',
  'schedules',
  'connection_states',
  'connection_events',
  'users',
  'user_sessions',
  'user_links',
  'passkeys',
  'used_challenges',
  'single_sign_on',
  'user_identities',
  'webhooks',
  'events',
  'webhook_deliveries',
  'webhook_attempts',
  'alert_rules',
  'alert_incidents',
  'alert_deliveries',
  'mapping_templates',
]

/** A token that is issued says when its client was last used. */
const clientLine = "(to_jsonb(t) - 'last_used_time')::text"

/** Data of callers in the database, as one text: the same before and after means that nothing changed. */
export async function contentOf({ database }: Pick<TestService, 'database'>): Promise<string> {
  const digests = tables.map(
    (table) =>
      `(select sum(hashtextextended(${table === 'clients' ? clientLine : 't::text'}, 0)) || ' of ' || count(*) from ${table} t)`,
  )
  // Prepared: to plan it takes longer than to run it.
  const text = `select ${digests.join(', ')}`
  const { rows } = await database.pool.query({ name: 'content', text, rowMode: 'array' })
  return JSON.stringify(rows[0])
}
