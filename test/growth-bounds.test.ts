import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { schemaFile } from '../scripts/schema.ts'

/**
 * Tables that a tenant can make grow, and their bounds. A new table fails this test until it has an entry. schema.test.ts compares the file
 * of the schema with a migrated database.
 */

/**
 * How the rows of a table are bounded:
 * count     a change beyond a bound is refused, or removes the oldest rows
 * bytes     the same, in bytes
 * owner     as many as its owner has, by its key: a bounded number for each row of another table
 * age       no bound of the number: removed once they are so old; requests are limited for each minute
 * work      notes of work, which the workers remove as they do it
 * operator  no tenant adds a row
 */
type Bound = 'count' | 'bytes' | 'owner' | 'age' | 'work' | 'operator'
type Entry = readonly [bound: Bound, how: string, file: string, symbol: string]

const source = 'packages/server/src/'
const schema = 'packages/server/schema.sql'
const purge = `${source}worker/purge.ts`

const bounds: Readonly<Record<string, Entry>> = {
  penstock_migrations: ['operator', 'one for each migration', `${schema}`, 'penstock_migrations_pkey'],
  master_keys: ['operator', 'retired keys are removed', `${source}secrets/queries.ts`, 'deleteRetiredMasterKeys'],
  data_keys: ['owner', 'one for each row sealed under it; unused ones are purged', purge, 'purgeDataKeys'],
  signing_keys: [
    'operator',
    'withdrawn keys are removed with the next one',
    `${source}identity-tokens/queries.ts`,
    'deleteRetiredSigningKeys',
  ],
  oauth_apps: ['operator', 'one for each deployment and platform', schema, 'oauth_apps_pkey'],
  audit_events: ['age', '365 days, unless the operator keeps them for ever', purge, 'purgeAudit'],
  audit_heads: ['owner', 'one for each organization', schema, 'audit_heads_pkey'],
  environments: ['operator', 'one for each deployment', schema, 'environments_pkey'],
  organizations: ['operator', 'commands of the operator add them', `${source}cli/admin.ts`, 'organization'],
  clients: ['age', '1,000 that are not revoked; revoked ones for 90 days', purge, 'purgeClients'],
  mail_counts: ['age', 'an hour', purge, 'purgeMailCounts'],
  tokens: ['age', 'their lifetime, a day by default', purge, 'deleteExpiredTokens'],
  idempotency_keys: ['age', '24 hours', purge, 'deleteOldKeys'],
  organization_rows: ['age', '16 for each organization and month, at most 62 days', purge, 'purgeRowCounts'],
  accounts: [
    'count',
    'the quota; ten times it with deleted ones, which stay for 30 days',
    `${source}accounts/accounts.ts`,
    'limits.quotaFactorWithDeleted',
  ],
  users: ['count', 'people of an organization', `${source}users/users.ts`, 'limits.usersMax'],
  user_sessions: [
    'count',
    'the newest of a person; 30 days at most',
    `${source}users/sessions.ts`,
    'limits.userSessionsMax',
  ],
  user_links: ['age', '7 days for an invitation; of new passwords 5 in an hour', purge, 'deleteExpiredLinks'],
  passkeys: ['count', 'of a person', `${source}users/passkeys.ts`, 'limits.passkeysMax'],
  used_challenges: ['age', '5 minutes', purge, 'deleteExpiredChallenges'],
  user_identities: ['owner', 'one for each person and issuer', schema, 'user_identities_user'],
  user_groups: ['count', 'of an organization', `${source}users/scim/groups.ts`, 'limits.userGroupsMax'],
  user_group_members: [
    'count',
    'of an organization',
    `${source}users/scim/groups.ts`,
    'limits.userGroupMembershipsMax',
  ],
  single_sign_on: ['owner', 'one for each organization', schema, 'single_sign_on_pkey'],
  added_connectors: [
    'owner',
    'one for each sub-account and connector of the catalogue',
    schema,
    'added_connectors_pkey',
  ],
  configurations: [
    'count',
    'of an added connector',
    `${source}connectors/configurations.ts`,
    'limits.configurationsOfConnectorMax',
  ],
  secrets: ['owner', 'one for each secret field of a configuration', schema, 'secrets_pkey'],
  streams: ['owner', 'one for each configuration', schema, 'streams_pkey'],
  stream_keys: ['count', 'of a stream', `${source}streams/streams.ts`, 'limits.streamKeysMax'],
  stream_columns: ['count', 'of a stream', `${source}streams/seen-columns.ts`, 'eventBounds.columns'],
  stream_batches: [
    'bytes',
    'of a stream, a sub-account, an organization; days',
    `${source}streams/kept-bytes.ts`,
    'accountMb',
  ],
  stream_refusals: ['count', 'one for each reason', 'packages/wire/src/terms.ts', 'streamRefusals'],
  stream_notes: ['count', 'of a stream', `${source}streams/notes.ts`, 'notesOfStreamMax'],
  stream_volumes: [
    'age',
    '2 hours by minute, 8 days by hour',
    `${source}streams/volume-queries.ts`,
    'deleteOldVolumes',
  ],
  stream_messages: ['age', '76 hours; events a second are limited', `${source}streams/bounds.ts`, 'messageHours'],
  uploads: [
    'count',
    'files of a sub-account and of an organization; 24 hours by default',
    `${source}organizations/limits.ts`,
    'requireUploadCapacity',
  ],
  upload_chunks: ['bytes', 'files of an organization', `${source}organizations/limits.ts`, 'uploads-mb'],
  connections: [
    'count',
    'the quota; ten times it with deleted ones, which stay for 30 days',
    `${source}refusal.ts`,
    'limits.quotaFactorWithDeleted',
  ],
  connection_counts: ['owner', 'a fixed number for each sub-account', schema, 'connection_counts_pkey'],
  connector_counts: ['owner', 'a fixed number for each added connector', schema, 'connector_counts_pkey'],
  connection_events: ['count', 'the newest of a connection', schema, 'number <= next - 1000'],
  saved_filters: [
    'count',
    'of a person or an organization',
    `${source}connections/saved-filters.ts`,
    'limits.savedFiltersMax',
  ],
  transfers: ['age', '400 days by default, but for the newest of each connection', purge, 'removeOldTransfers'],
  ledger: [
    'age',
    '400 days by default; then one for each connection and day, until 30 days after its sub-account is deleted',
    purge,
    'sumOldEntries',
  ],
  transfer_logs: [
    'count',
    'attempts of a transfer, and lines of each',
    `${source}transfers/supervisor/transfer-log.ts`,
    'limits.transferLogAttemptsMax',
  ],
  rejects: [
    'bytes',
    'of a transfer and of an organization, with corrections; 30 days by default',
    `${source}transfers/supervisor/reject-bounds.ts`,
    'addKeptBytes',
  ],
  connection_states: ['owner', 'one for each connection', schema, 'connection_states_pkey'],
  connection_tables: ['count', 'of a connection', `${source}transfers/supervisor/table-queries.ts`, 'knownMax'],
  connection_digests: ['bytes', 'of an organization', `${source}organizations/limits.ts`, 'digests-mb'],
  schedules: ['owner', 'one for each connection; enabled ones have a quota', schema, 'schedules_pkey'],
  schedule_pauses: ['operator', 'one for each reason', schema, 'schedule_pauses_pkey'],
  transfer_totals: ['owner', 'one for each way that transfers end', schema, 'create table transfer_totals'],
  probes: ['owner', 'one for each connection', schema, 'probes_pkey'],
  audience_checks: ['owner', 'one for each connection', schema, 'audience_checks_pkey'],
  audience_measures: [
    'age',
    'one for each connection and day, for 90 days',
    `${source}transfers/supervisor/audience-queries.ts`,
    'storeMeasures',
  ],
  change_logs: [
    'age',
    'one that each connection reads; slots that it left, for at most 30 days',
    `${source}transfers/supervisor/change-log-queries.ts`,
    'staySlot',
  ],
  worker_versions: ['operator', 'one for each version', schema, 'create table worker_versions'],
  purges: ['operator', 'a fixed number', schema, 'create table purges'],
  authorizations: [
    'count',
    'the newest of a configuration; 10 minutes',
    `${source}authorizations/queries.ts`,
    'dropOldAuthorizations',
  ],
  events: ['age', '30 days', purge, 'limits.eventDays'],
  webhooks: ['count', 'of an organization', `${source}webhooks/webhooks.ts`, 'limits.webhooksMax'],
  webhook_deliveries: ['age', 'removed with their event, after 30 days', schema, 'webhook_deliveries_event'],
  webhook_attempts: [
    'count',
    'the newest of a delivery',
    `${source}webhooks/sending/saver.ts`,
    'limits.webhookAttemptsMax',
  ],
  webhook_totals: ['owner', 'one for each way that deliveries end', schema, 'create table webhook_totals'],
  connect_links: [
    'count',
    'those that can be used; 30 days longer in all',
    `${source}connect-links/links.ts`,
    'limits.connectLinksMax',
  ],
  organization_branding: ['owner', 'one for each organization', schema, 'organization_branding_pkey'],
  alert_rules: ['count', 'of an organization', `${source}alerts/rules.ts`, 'limits.alertRulesMax'],
  alert_incidents: [
    'age',
    '90 days once resolved; one of a rule and connection is open',
    purge,
    'limits.alertIncidentDays',
  ],
  alert_checks: ['work', 'of alerts', `${source}alerts/check-queries.ts`, 'delete from alert_checks'],
  alert_sweeps: ['owner', 'a fixed number, by name', schema, 'alert_sweeps_pkey'],
  alert_deliveries: ['age', '30 days', purge, 'limits.alertDeliveryDays'],
  alert_delivery_totals: ['owner', 'one for each way that messages end', schema, 'alert_delivery_totals_pkey'],
  samples: ['count', 'of an organization', `${source}samples/samples.ts`, 'limits.samplesPerOrganization'],
  mapping_templates: ['count', 'of an organization', `${source}connections/templates.ts`, 'limits.mappingTemplatesMax'],
  audit_keys: ['operator', 'one', schema, 'audit_keys_pkey'],
  audit_queue: ['work', 'of the audit log', schema, 'delete from audit_queue'],
  organization_counts: ['owner', 'a fixed number for each organization', schema, 'organization_counts_pkey'],
  active_transfers: [
    'owner',
    'one for each active transfer, of which a connection has one',
    schema,
    'delete from active_transfers',
  ],
  transfer_parts: ['count', 'of a transfer', `${source}transfers/supervisor/divide.ts`, 'partsMax'],
  connection_rules: ['owner', 'one for each connection', schema, 'connection_rules_pkey'],
  purposes: ['count', 'of a sub-account', `${source}connections/purposes.ts`, 'limits.purposesMax'],
  transfer_groups: ['count', 'of a sub-account', `${source}transfers/transfer-groups.ts`, 'limits.transferGroupsMax'],
  connection_groups: ['owner', 'one for each connection', schema, 'connection_groups_pkey'],
  connection_dependencies: [
    'count',
    'of a connection',
    'packages/wire/src/schemas/run-conditions.ts',
    'limits.runAfterMax',
  ],
  dependent_checks: [
    'work',
    'of transfers that run after others',
    `${source}transfers/supervisor/dependent-queries.ts`,
    'delete from dependent_checks',
  ],
  triggers: ['count', 'of a connection', `${source}transfers/triggers.ts`, 'limits.triggersMax'],
  rejecting_transfers: ['owner', 'removed with their transfer', schema, 'rejecting_transfers_transfer'],
  organization_limits: ['operator', 'one for each organization and limit', schema, 'organization_limits_pkey'],
  connector_definitions: ['operator', 'one for each added connector', schema, 'connector_definitions_pkey'],
}

const tablesOf = (text: string) => [...text.matchAll(/^create table (\w+) \(/gm)].map(([, name]) => name)

test('everything that a tenant can make grow has a bound or an age, and what enforces it is there', async () => {
  const tables = tablesOf(await readFile(schemaFile, 'utf8'))
  assert.deepEqual(Object.keys(bounds).sort(), tables.sort(), 'each table of the schema has an entry')
  const texts = new Map<string, string>()
  for (const [table, [bound, how, file, symbol]] of Object.entries(bounds)) {
    const text = texts.get(file) ?? (await readFile(new URL(`../${file}`, import.meta.url), 'utf8'))
    texts.set(file, text)
    assert(text.includes(symbol), `${table}: ${file} has no ${symbol}`)
    if (bound === 'age') assert.match(how, /day|hour|minute/, `${table}: how old its rows get`)
  }
})
