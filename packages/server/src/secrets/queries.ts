import { notify } from '../db/notices.ts'
import { statement } from '../db/statement.ts'

/** Of which configuration a secret is. */
export type SecretOwner = { accountId: string; connectorId: string; configurationId: string }
/** One of its secrets. */
export type SecretKey = SecretOwner & { name: string }
export type SecretRow = SecretKey & { keyId: string; sealed: Buffer }
/** A secret as it is stored. A reference to a secret manager is sealed as any value, and shown, too. */
export type StoredSecret = SecretRow & { reference: string | null }
export type DataKeyRow = { id: string; keyId: string; sealed: Buffer }
export type OAuthAppRow = { env: string; slug: string; clientId: string; keyId: string; sealed: Buffer }
export type MasterKeyRow = { keyId: string; current: boolean; sealedKey: Buffer | null }

const ofConfiguration =
  'account_id = :accountId and connector_id = :connectorId and configuration_id = :configurationId'
const ofSecret = `${ofConfiguration} and name = :name`

/** The current key, and beside it those of rotations that were interrupted. */
export const masterKeyRows = statement<Record<never, never>, MasterKeyRow>(`
  select key_id, current, sealed_key from master_keys order by created_time
`)

/**
 * Keeps the current key current until the transaction ends: a rotation waits for transactions that seal values. One that
 * waited for a rotation finds nothing, since the key that it waited for is no longer the current one, and asks again.
 */
export const holdCurrentMasterKey = statement<Record<never, never>, { keyId: string }>(`
  select key_id from master_keys where current for share
`)

/** Does nothing where a key is known already, or values are sealed under another one: that key was lost, not never there. */
export const insertFirstMasterKey = statement<{ keyId: string }>(`
  insert into master_keys (key_id, current) select :keyId, true
  where not exists (select from master_keys)
    and not exists (select from secrets where key_id <> :keyId)
    and not exists (select from data_keys where key_id <> :keyId)
    and not exists (select from oauth_apps where key_id <> :keyId)
    and not exists (select from audit_keys where key_id <> :keyId)
  on conflict do nothing
`)

/** Whether the tables of sealed values are there at all; before the first migration they are not. */
export const sealedTables = statement<Record<never, never>, { exist: boolean }>(`
  select to_regclass('master_keys') is not null and to_regclass('secrets') is not null as exist
`)

/** The key that this database's values are sealed under, or one of them. */
export const anyKeyId = statement<Record<never, never>, { keyId: string }>(`
  select key_id from (
    (select key_id, 1 as rank from master_keys where current limit 1)
    union all (select key_id, 2 from secrets limit 1)
  ) known order by rank limit 1
`)

export const retireMasterKeys = statement(`update master_keys set current = false where current`)

export const insertNextMasterKey = statement<{ keyId: string; sealedKey: Buffer }>(`
  insert into master_keys (key_id, current, sealed_key) values (:keyId, true, :sealedKey)
  on conflict (key_id) do update set current = true, sealed_key = excluded.sealed_key
`)

export const deleteRetiredMasterKeys = statement(`delete from master_keys where not current`)

export const dropSealedMasterKey = statement(`update master_keys set sealed_key = null where current`)

export const announceMasterKey = statement<{ topic: string; value: string }>(notify)

export const secretsUnderOtherKeys = statement<{ keyId: string; limit: number }, SecretRow>(`
  select account_id, connector_id, configuration_id, name, key_id, sealed
  from secrets where key_id <> :keyId
  order by account_id, connector_id, configuration_id, name limit :limit for update
`)

export const resealSecret = statement<SecretRow>(`
  update secrets set key_id = :keyId, sealed = :sealed
  where ${ofSecret}
`)

/** Saves a value, which ends the right to replace the one before. */
export const putSecret = statement<StoredSecret>(`
  insert into secrets (account_id, connector_id, configuration_id, name, key_id, sealed, reference)
  values (:accountId, :connectorId, :configurationId, :name, :keyId, :sealed, :reference)
  on conflict (account_id, connector_id, configuration_id, name) do update set
    key_id = excluded.key_id, sealed = excluded.sealed, reference = excluded.reference, lease_id = null, lease_until = null
`)

/** Takes the right to replace a secret if no one has it; no row where someone has, or the secret is not there or a reference. */
export const takeSecretLease = statement<
  SecretKey & { leaseId: string; seconds: number },
  { keyId: string; sealed: Buffer }
>(`
  update secrets set lease_id = :leaseId, lease_until = now() + make_interval(secs => :seconds)
  where ${ofSecret} and reference is null
    and (lease_until is null or lease_until < now())
  returning key_id, sealed
`)

export const dropSecretLease = statement<SecretKey & { leaseId: string }>(`
  update secrets set lease_id = null, lease_until = null
  where ${ofSecret} and lease_id = :leaseId
`)

export const lockSecret = statement<SecretKey, { keyId: string; sealed: Buffer }>(`
  select key_id, sealed from secrets
  where ${ofSecret} and reference is null for update
`)

export const deleteSecret = statement<SecretKey>(`
  delete from secrets where ${ofSecret}
`)

export const secretNames = statement<SecretOwner, { name: string; reference: string | null }>(`
  select name, reference from secrets where ${ofConfiguration}
`)

export const secretsOfConfiguration = statement<SecretOwner, StoredSecret>(`
  select account_id, connector_id, configuration_id, name, key_id, sealed, reference
  from secrets where ${ofConfiguration}
`)

/** Whose configuration it is, and its name of the secrets. */
export const tenantOf = statement<SecretOwner, { organizationId: string; secretName: string }>(`
  select a.organization_id, c.secret_name from configurations c join accounts a on a.id = c.account_id
  where c.account_id = :accountId and c.connector_id = :connectorId and c.id = :configurationId
`)

/** All secrets, a page at a time: those after the one named. */
export const secretsAfter = statement<SecretKey & { limit: number }, SecretRow>(`
  select account_id, connector_id, configuration_id, name, key_id, sealed from secrets
  where (account_id, connector_id, configuration_id, name) > (:accountId, :connectorId, :configurationId, :name)
  order by account_id, connector_id, configuration_id, name limit :limit
`)

export const dataKeysAfter = statement<{ id: string; limit: number }, DataKeyRow>(`
  select id, key_id, sealed from data_keys where id > :id order by id limit :limit
`)

export const insertDataKey = statement<DataKeyRow>(`
  insert into data_keys (id, key_id, sealed) values (:id, :keyId, :sealed)
`)
/**
 * Parts of a `with` that store a data key, `:dataKeyId`, while the master key that it is sealed under, `:keyId`, is the
 * current one; `made` has its identifier then. @param condition on which it is stored
 */
export const makingDataKey = (condition: string) => `
  master as (select key_id from master_keys where current and key_id = :keyId for share),
  made as (
    insert into data_keys (id, key_id, sealed) select :dataKeyId, key_id, :sealed from master where ${condition}
    returning id
  )`
export const findDataKey = statement<{ id: string }, DataKeyRow>(
  `select id, key_id, sealed from data_keys where id = :id`,
)
/** Data keys under which nothing is sealed any more. One is made in the transaction of what it is for. */
export const purgeDataKeys = statement<{ limit: number }>(`
  delete from data_keys where id in (
    select k.id from data_keys k
    where not exists (select from transfers t where t.data_key_id = k.id)
      and not exists (select from connection_states m where m.data_key_id = k.id)
      and not exists (select from connection_states a where a.announced_data_key_id = k.id)
      and not exists (select from connection_tables c where c.announced_data_key_id = k.id)
      and not exists (select from webhooks w where w.data_key_id = k.id)
      and not exists (select from alert_rules r where r.data_key_id = k.id)
      and not exists (select from uploads u where u.data_key_id = k.id)
      and not exists (select from triggers t where t.data_key_id = k.id)
      and not exists (select from streams s where s.data_key_id = k.id)
      and not exists (select from signing_keys s where s.data_key_id = k.id)
    limit :limit for update skip locked
  )
`)
/** Deletes the keys of what was deleted with them: no copy of it can be opened any more. */
export const deleteDataKeys = statement<{ ids: readonly string[] }>(`delete from data_keys where id = any(:ids)`)
export const dataKeysUnderOtherKeys = statement<{ keyId: string; limit: number }, DataKeyRow>(`
  select id, key_id, sealed from data_keys where key_id <> :keyId limit :limit for update
`)
/** How many secrets, data keys, apps and keys of the audit log are sealed under a key, found by their indexes. */
export const countUnderKey = statement<{ keyId: string }, { sealed: number }>(`
  select (select count(*) from secrets where key_id = :keyId) + (select count(*) from data_keys where key_id = :keyId)
    + (select count(*) from oauth_apps where key_id = :keyId) + (select count(*) from audit_keys where key_id = :keyId) as sealed
`)
export const resealDataKey = statement<DataKeyRow>(`
  update data_keys set key_id = :keyId, sealed = :sealed where id = :id
`)

export const putOAuthApp = statement<OAuthAppRow>(`
  insert into oauth_apps (env, slug, client_id, key_id, sealed) values (:env, :slug, :clientId, :keyId, :sealed)
  on conflict (env, slug) do update set
    client_id = excluded.client_id, key_id = excluded.key_id, sealed = excluded.sealed, saved_time = now()
`)

export const findOAuthApp = statement<{ env: string; slug: string }, OAuthAppRow>(`
  select env, slug, client_id, key_id, sealed from oauth_apps where env = :env and slug = :slug
`)

export type ListedOAuthApp = { slug: string; clientId: string; savedTime: Date }
export const selectOAuthApps = statement<{ env: string }, ListedOAuthApp>(`
  select slug, client_id, saved_time from oauth_apps where env = :env order by slug
`)

export const deleteOAuthApp = statement<{ env: string; slug: string }>(`
  delete from oauth_apps where env = :env and slug = :slug
`)

/** All apps; they are few. */
export const allOAuthApps = statement<Record<never, never>, OAuthAppRow>(`
  select env, slug, client_id, key_id, sealed from oauth_apps order by env, slug
`)

export const oauthAppsUnderOtherKeys = statement<{ keyId: string; limit: number }, OAuthAppRow>(`
  select env, slug, client_id, key_id, sealed from oauth_apps where key_id <> :keyId
  order by env, slug limit :limit for update
`)

export const resealOAuthApp = statement<{ env: string; slug: string; keyId: string; sealed: Buffer }>(`
  update oauth_apps set key_id = :keyId, sealed = :sealed where env = :env and slug = :slug
`)

/** The key of the audit log, itself sealed under a master key. */
export const findAuditKey = statement<Record<never, never>, { keyId: string; sealed: Buffer }>(
  `select key_id, sealed from audit_keys`,
)
export const insertAuditKey = statement<{ keyId: string; sealed: Buffer }>(
  `insert into audit_keys (key_id, sealed) values (:keyId, :sealed) on conflict do nothing`,
)

export const auditKeyUnderOtherKey = statement<{ keyId: string }, { keyId: string; sealed: Buffer }>(`
  select key_id, sealed from audit_keys where key_id <> :keyId for update
`)
export const resealAuditKey = statement<{ keyId: string; sealed: Buffer }>(`
  update audit_keys set key_id = :keyId, sealed = :sealed
`)
