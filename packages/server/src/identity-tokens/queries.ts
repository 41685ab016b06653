import { statement } from '../db/statement.ts'

/** A key that signs identity tokens, or did so lately. */
export type SigningKeyRow = {
  id: string
  dataKeyId: string
  /** The private key, PKCS #8. */
  sealed: Buffer
  publicKey: PublicKey
  /** Whether tokens can be signed with it: it has been published long enough. */
  signs: boolean
  /** Whether another key must follow, unless one does already. */
  isOld: boolean
  createdTime: Date
  signsFrom: Date
  publishedUntil: Date | null
}

/** An RSA key as a JSON Web Key (RFC 7517), without `kid`. */
export type PublicKey = { readonly kty: 'RSA'; readonly n: string; readonly e: string }

/** The keys that are published, the newest first. */
export const publishedKeys = statement<{ keptDays: number }, SigningKeyRow>(`
  select id, data_key_id, sealed, public_key, signs_from <= now() as signs,
    created_time < now() - make_interval(days => :keptDays) as is_old, created_time, signs_from, published_until
  from signing_keys where published_until is null or published_until > now()
  order by signs_from desc, id
`)

/** One transaction at a time adds a key. */
export const lockSigningKeys = statement(`
  select pg_advisory_xact_lock(hashtext('penstock signing keys'), 0)
`)

/** @param leadHours how long it is published before it signs */
export const insertSigningKey = statement<{
  id: string
  dataKeyId: string
  sealed: Buffer
  publicKey: string
  leadHours: number
}>(`
  insert into signing_keys (id, data_key_id, sealed, public_key, signs_from)
  values (:id, :dataKeyId, :sealed, :publicKey, now() + make_interval(hours => :leadHours))
`)

/** Has all other keys end once the new one signs, and tokens that they signed have expired. */
export const retireSigningKeys = statement<{ id: string; keptHours: number }>(`
  update signing_keys set published_until = now() + make_interval(hours => :keptHours)
  where id <> :id and (published_until is null or published_until > now() + make_interval(hours => :keptHours))
`)

export const deleteRetiredSigningKeys = statement(`
  delete from signing_keys where published_until <= now()
`)

/** The sub-account that tokens are about. */
export const findSubject = statement<{ accountId: string }, { organizationId: string; accountId: string }>(`
  select organization_id, id as account_id from accounts where id = :accountId
`)

/** Configurations whose connectors sign in by identity tokens. */
export const countKeyless = statement<Record<never, never>, { configurations: number }>(`
  select count(*)::int as configurations from configurations
  where settings ->> 'authType' in ('web-identity', 'workload-identity')
`)
