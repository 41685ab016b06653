import { statement } from '../db/statement.ts'

/** Statements about how the people of an organization can sign in. */

/** A person's account at the provider that their organization has now. */
const isLinked = `
  select from user_identities i join single_sign_on p on p.organization_id = i.organization_id and p.issuer = i.issuer
  where i.user_id = u.id`
const hasSecondFactor = `(exists (select from passkeys k where k.user_id = u.id) or exists (${isLinked}))`

/** Single sign-on is required of people other than owners, who have a way back. */
export const findSignInRules = statement<
  { userId: string },
  { singleSignOnRequired: boolean; secondFactorRequired: boolean; hasSecondFactor: boolean }
>(`
  select u.role <> 'owner' and exists (
      select from single_sign_on s where s.organization_id = u.organization_id and s.required
    ) as single_sign_on_required,
    o.second_factor_required, ${hasSecondFactor} as has_second_factor
  from users u join organizations o on o.id = u.organization_id where u.id = :userId
`)
export const isSecondFactorRequired = statement<{ organizationId: string }, { secondFactorRequired: boolean }>(`
  select second_factor_required from organizations where id = :organizationId
`)
/** Whether an owner who can sign in has more than a password. */
export const hasOwnerWithSecondFactor = statement<{ organizationId: string }, { exists: boolean }>(`
  select exists (
    select from users u where u.organization_id = :organizationId and u.role = 'owner' and u.joined_time is not null
      and u.deactivated_time is null
      and ${hasSecondFactor}
  ) as exists
`)
/** Locks all people, so that no session begins under the earlier rules. */
export const lockPeople = statement<{ organizationId: string }, { id: string }>(`
  select id from users where organization_id = :organizationId order by id for no key update
`)
export const deletePasswordSessions = statement<{ organizationId: string }, { digest: Buffer }>(`
  delete from user_sessions s using users u
  where u.id = s.user_id and u.organization_id = :organizationId and s.method = 'password' returning s.digest
`)
export const passwordSessionsOf = statement<{ organizationId: string }, { digest: Buffer }>(`
  select s.digest from user_sessions s join users u on u.id = s.user_id
  where u.organization_id = :organizationId and s.method = 'password'
`)
