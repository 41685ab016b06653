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
export const joinBySingleSignOn = statement<{ id: string; name: string }>(`
  update users set name = coalesce(name, :name), joined_time = now() where id = :id and joined_time is null
`)
