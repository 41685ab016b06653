import { statement } from '../db/statement.ts'

/** Statements about people whose organization has an identity provider. */

/** Whether a person's organization has a provider. */
export const hasSingleSignOn = statement<{ userId: string }, { exists: boolean }>(`
  select exists (
    select from users u join single_sign_on s on s.organization_id = u.organization_id where u.id = :userId
  ) as exists
`)
/** The sessions, other than of owners, that began in another way. */
export const deleteOtherSessions = statement<{ organizationId: string }, { digest: Buffer }>(`
  delete from user_sessions s using users u
  where u.id = s.user_id and u.organization_id = :organizationId and u.role <> 'owner' and s.method <> 'single sign-on'
  returning s.digest
`)
/** The sessions that began at the provider. */
export const deleteProviderSessions = statement<{ organizationId: string }, { digest: Buffer }>(`
  delete from user_sessions s using users u
  where u.id = s.user_id and u.organization_id = :organizationId and s.method = 'single sign-on'
  returning s.digest
`)
/** The provider of a person's organization. It does not change until the transaction ends. */
export const lockProviderOf = statement<{ userId: string }, { organizationId: string; issuer: string }>(`
  select s.organization_id, s.issuer from single_sign_on s
  where s.organization_id = (select organization_id from users where id = :userId) for no key update
`)
/** Other sign-in methods of a person, and whether another account of the provider is linked to them. */
export const findWaysIn = statement<
  { userId: string; issuer: string },
  { hasPassword: boolean; hasPasskey: boolean; isLinked: boolean }
>(`
  select u.password_digest is not null as has_password,
    exists (select from passkeys k where k.user_id = u.id) as has_passkey,
    exists (select from user_identities i where i.user_id = u.id and i.issuer = :issuer) as is_linked
  from users u where u.id = :userId
`)
/** No row where the person, or the subject, is linked already. */
export const insertIdentity = statement<
  { organizationId: string; issuer: string; subject: string; userId: string },
  { userId: string }
>(`
  insert into user_identities (organization_id, issuer, subject, user_id)
  values (:organizationId, :issuer, :subject, :userId)
  on conflict do nothing returning user_id
`)
export const joinBySingleSignOn = statement<{ id: string; name: string }>(`
  update users set name = coalesce(name, :name), joined_time = now() where id = :id and joined_time is null
`)
export const deleteIdentities = statement<{ organizationId: string }>(`
  delete from user_identities where organization_id = :organizationId
`)
