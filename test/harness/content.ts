import type { TestService } from './service.ts'

/** Tables whose rows callers make and change, besides clients and added connectors. */
const tables = [
  'accounts',
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
  'transfers',
  'ledger',
  'rejects',
  'schedules',
  'connection_states',
  'connection_events',
  'users',
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

/**
 * A digest of each table: its number of rows, and the sum of the transactions that wrote them. A write has a later transaction
 * than all earlier rows, so an insert, an update or a delete changes one of the two. Reading the rows themselves takes ten
 * times as long, and a test may compare thousands of rows a thousand times.
 */
const digestOf = (table: string) => `(select count(*) || ' rows, ' || sum(xmin::text::bigint) from ${table})`

/** A connector that is added again is written again, with the values that it has. */
const digestOfAdded = '(select sum(hash_record_extended(added_connectors, 0)) from added_connectors)'

/** A token that is issued updates when its client was last used: that is no change. */
const digestOfClients = `(select sum(hash_record_extended(row(id, organization_id, name, secret_digest, previous_secret_digest,
  previous_secret_until, scopes, account_ids, created_time, expires_time, revoked_time), 0)) from clients)`

/** The same of a session, which notes each minute that it is used. */
const digestOfSessions = `(select sum(hash_record_extended(row(id, digest, user_id, method, address, user_agent, created_time,
  expires_time), 0)) from user_sessions)`

/** Data of callers in the database, as one text: the same before and after means that nothing was written. */
export async function contentOf({ database }: Pick<TestService, 'database'>): Promise<string> {
  // Prepared, because planning it takes longer than running it.
  const text = `select ${[...tables.map(digestOf), digestOfAdded, digestOfClients, digestOfSessions].join(', ')}`
  const { rows } = await database.pool.query({ name: 'content', text, rowMode: 'array' })
  return JSON.stringify(rows[0])
}
