import type { SignInMethod, UserRole } from '@penstock/wire'
import { notifyAll } from '../db/notices.ts'
import { statement } from '../db/statement.ts'

/** Statements about people. */

export type UserRow = {
  id: string
  organizationId: string
  organizationName: string
  email: string
  name: string | null
  role: UserRole
  accountIds: string[] | null
  createdTime: Date
  joinedTime: Date | null
  /** Since when they cannot sign in. Null if they can. */
  deactivatedTime: Date | null
  lastSignedInTime: Date | null
  hasPassword: boolean
  /** Whether the organization requires a second factor in addition to a password. */
  secondFactorRequired: boolean
  /** Of the newest link that invites them and is valid. */
  invitationExpiresTime: Date | null
}
const userColumns = `
  u.id, u.organization_id, o.name as organization_name, u.email, u.name, u.role, u.account_ids, u.created_time,
  u.joined_time, u.deactivated_time, u.last_signed_in_time, u.password_digest is not null as has_password,
  o.second_factor_required,
  (select max(l.expires_time) from user_links l
   where l.user_id = u.id and l.purpose = 'invitation' and l.expires_time > now()) as invitation_expires_time`
const userTables = 'users u join organizations o on o.id = u.organization_id'

/** People whom the actor can see: people who are limited to sub-accounts that the actor can see. */
type Visible = { organizationId: string; accountIds: readonly string[] | null }
const isVisible = `
  u.organization_id = :organizationId and (:accountIds::text[] is null or u.account_ids <@ :accountIds)`
type Filter = Visible & { like: string | null }
const listed = `${isVisible} and (:like::text is null or u.email ilike :like or u.name ilike :like)`

export const listUsers = statement<Filter & { size: number; offset: number }, UserRow>(`
  select ${userColumns} from ${userTables} where ${listed}
  order by lower(u.email), u.id limit :size offset :offset
`)
export const countUsers = statement<Filter, { total: number }>(`select count(*) as total from users u where ${listed}`)
export const findUser = statement<Visible & { id: string }, UserRow>(`
  select ${userColumns} from ${userTables} where u.id = :id and ${isVisible}
`)
export const lockUser = statement<Visible & { id: string }, UserRow>(`
  select ${userColumns} from ${userTables} where u.id = :id and ${isVisible} for no key update of u
`)

export const findUserById = statement<{ id: string }, UserRow>(`
  select ${userColumns} from ${userTables} where u.id = :id
`)

/** People of an organization, or of all organizations, for the operator's command. */
export const selectUsers = statement<{ organizationId: string | null }, UserRow>(`
  select ${userColumns} from ${userTables}
  where :organizationId::text is null or u.organization_id = :organizationId
  order by u.organization_id, lower(u.email)
`)
/** The person with an address who joined first. There can be others, who are limited to separate sub-accounts. */
export const findUserByEmail = statement<{ organizationId: string; email: string }, UserRow>(`
  select ${userColumns} from ${userTables}
  where u.organization_id = :organizationId and lower(u.email) = lower(:email)
  order by u.joined_time nulls last, u.created_time, u.id limit 1 for no key update of u
`)
/** Whether the actor can see a person with the address, other than `exceptId`. */
export const findVisibleByEmail = statement<Visible & { email: string; exceptId: string }, { id: string }>(`
  select u.id from users u where lower(u.email) = lower(:email) and u.id <> :exceptId and ${isVisible} limit 1
`)
/** The people with an address who have accepted their invitation, and can sign in. */
export const joinedByEmail = statement<{ email: string; limit: number }, UserRow>(`
  select ${userColumns} from ${userTables}
  where lower(u.email) = lower(:email) and u.joined_time is not null and u.deactivated_time is null
  order by u.joined_time, u.id limit :limit
`)

export const insertUser = statement<{
  id: string
  organizationId: string
  email: string
  name: string | null
  role: UserRole
  accountIds: readonly string[] | null
}>(`
  insert into users (id, organization_id, email, name, role, account_ids)
  values (:id, :organizationId, :email, :name, :role, :accountIds)
`)
export const updateRole = statement<{ id: string; role: UserRole; accountIds: readonly string[] | null }>(`
  update users set role = :role, account_ids = :accountIds where id = :id
`)
export const updateName = statement<{ id: string; name: string }>(`update users set name = :name where id = :id`)
export const joinUser = statement<{ id: string; name: string; email: string; passwordDigest: string | null }>(`
  update users set name = :name, email = :email, password_digest = :passwordDigest, joined_time = now() where id = :id
`)
export const deleteUser = statement<{ id: string }>(`delete from users where id = :id`)

/** Removes people who were invited under this address and have not accepted. */
export const deleteInvited = statement<{ organizationId: string; email: string }>(`
  delete from users where organization_id = :organizationId and email = :email and joined_time is null
`)

/** Locks the organization, so that its owners change one at a time. Rows that refer to it need not wait. */
export const lockOrganization = statement<{ organizationId: string }, { name: string }>(`
  select name from organizations where id = :organizationId for no key update
`)
export const findOrganization = statement<{ organizationId: string }, { name: string }>(`
  select name from organizations where id = :organizationId
`)
/** Number of people, and the highest number of people who are limited to one of these sub-accounts, with or without others. */
export const countForQuota = statement<
  { organizationId: string; accountIds: readonly string[] },
  { total: number; ofAccount: number }
>(`
  select count(*) as total, coalesce((
    select max(of_account) from (
      select count(*) as of_account from users l cross join unnest(l.account_ids) as account
      where l.organization_id = :organizationId and l.account_ids && :accountIds and account = any (:accountIds)
      group by account
    ) counted
  ), 0) as of_account
  from users where organization_id = :organizationId
`)
/** Owners who can sign in, apart from one person. */
export const countOtherOwners = statement<{ organizationId: string; id: string }, { total: number }>(`
  select count(*) as total from users
  where organization_id = :organizationId and id <> :id and role = 'owner' and joined_time is not null
    and deactivated_time is null
`)
export const findJoinedUser = statement<Record<never, never>, { id: string }>(`
  select id from users where joined_time is not null limit 1
`)

/** Rows that a sign-in with a password is checked against: everyone with the address, in one organization or in any. */
export const findPasswords = statement<
  { email: string; organizationId: string | null },
  { id: string; organizationId: string; organizationName: string; passwordDigest: string | null }
>(`
  select u.id, u.organization_id, o.name as organization_name, u.password_digest from ${userTables}
  where lower(u.email) = lower(:email) and (:organizationId::text is null or u.organization_id = :organizationId)
    and u.joined_time is not null and u.password_digest is not null and u.deactivated_time is null
  order by u.joined_time, u.id limit 100
`)
export const findPassword = statement<{ id: string }, { passwordDigest: string | null }>(`
  select password_digest from users where id = :id
`)
/** Setting passwords of one address waits for each other, so that all of them get the same salt. */
export const lockAddress = statement<{ email: string }>(`
  select pg_advisory_xact_lock(hashtextextended('penstock user ' || lower(:email), 0))
`)
export const findDigestOfAddress = statement<{ email: string }, { passwordDigest: string | null }>(`
  select password_digest from users where lower(email) = lower(:email) and password_digest is not null limit 1
`)
export const savePassword = statement<{ id: string; passwordDigest: string }>(`
  update users set password_digest = :passwordDigest where id = :id
`)
/** Saves the same password with other parameters, unless it was changed meanwhile. */
export const replaceDigest = statement<{ id: string; before: string; passwordDigest: string }>(`
  update users set password_digest = :passwordDigest where id = :id and password_digest = :before
`)

const isCurrent = `
  s.expires_time > now() and s.last_used_time > now() - make_interval(days => :idleDays)`
/**
 * The session is for the present state of the person. It waits for concurrent changes of the person, and is not created if the
 * person was removed or deactivated, or if their password was changed, meanwhile.
 */
export const insertSession = statement<
  {
    id: string
    digest: Buffer
    userId: string
    method: SignInMethod
    address: string
    userAgent: string | null
    daysMax: number
    passwordDigest: string | null
  },
  { id: string }
>(`
  insert into user_sessions (id, digest, user_id, method, address, user_agent, expires_time)
  select :id, :digest, id, :method, :address, :userAgent, now() + make_interval(days => :daysMax)
  from users
  where id = :userId and joined_time is not null and deactivated_time is null
    and (:passwordDigest::text is null or password_digest = :passwordDigest)
  for no key update
  returning id
`)
/** @param networksMax networks that are kept: the latest come first */
export const saveSignIn = statement<
  { userId: string; network: string; networksMax: number },
  { organizationId: string; name: string | null }
>(`
  update users set
    last_signed_in_time = now(),
    known_networks = trim_array(n.all_networks, greatest(0, cardinality(n.all_networks) - :networksMax))
  from (
    select array_prepend(:network, array_remove(known_networks, :network)) as all_networks from users where id = :userId
  ) n
  where id = :userId returning organization_id, name
`)

export const findByAddress = statement<
  { emails: readonly string[] },
  { given: string; organizationId: string; id: string; name: string | null }
>(`
  select given, organization_id, id, name
  from unnest(:emails::text[]) as asked (given) join users on lower(email) = given
`)

export type SessionOwnerRow = {
  sessionId: string
  method: SignInMethod
  /** How long ago it was used last. */
  unusedMs: number
  /** How long it is valid from now on, if it is used. */
  validMs: number
  userId: string
  organizationId: string
  email: string
  name: string | null
  role: UserRole
  accountIds: string[] | null
  secondFactorRequired: boolean
}
export const findSession = statement<{ digest: Buffer; idleDays: number }, SessionOwnerRow>(`
  select s.id as session_id, s.method, extract(epoch from now() - s.last_used_time)::float8 * 1000 as unused_ms,
    extract(epoch from s.expires_time - now())::float8 * 1000 as valid_ms, u.id as user_id, u.organization_id, u.email, u.name, u.role, u.account_ids, o.second_factor_required
  from user_sessions s join users u on u.id = s.user_id join organizations o on o.id = u.organization_id
  where s.digest = :digest and u.deactivated_time is null and ${isCurrent}
`)
/** Of concurrent requests, one writes, and the others do not wait for it. */
export const saveSessionUse = statement<{ id: string; idleDays: number }>(`
  update user_sessions set last_used_time = now()
  where id in (select s.id from user_sessions s where s.id = :id and ${isCurrent} for no key update skip locked)
`)

export type SessionRow = {
  id: string
  method: SignInMethod
  address: string
  userAgent: string | null
  createdTime: Date
  lastUsedTime: Date
  expiresTime: Date
}
export const listSessions = statement<{ userId: string; idleDays: number }, SessionRow>(`
  select s.id, s.method, s.address, s.user_agent, s.created_time, s.last_used_time, s.expires_time
  from user_sessions s where s.user_id = :userId and ${isCurrent}
  order by s.last_used_time desc, s.id
`)
/** The networks and addresses from which the people with an e-mail address signed in. */
export const addressesOfSignIns = statement<{ email: string }, { address: string }>(`
  select s.address from user_sessions s join users u on u.id = s.user_id where lower(u.email) = lower(:email)
  union
  select unnest(known_networks) from users where lower(email) = lower(:email)
`)
export const deleteSession = statement<{ userId: string; id: string }, { digest: Buffer }>(`
  delete from user_sessions where user_id = :userId and id = :id returning digest
`)
export const deleteSessions = statement<{ userId: string }, { digest: Buffer }>(`
  delete from user_sessions where user_id = :userId returning digest
`)
/** The sessions of a person. If the transaction has changed or locked the person before, no session begins until it ends. */
export const digestsOf = statement<{ userId: string }, { digest: Buffer }>(`
  select digest from user_sessions where user_id = :userId
`)
/** Deletes all sessions of a person except the newest. */
export const deleteOldestSessions = statement<{ userId: string; kept: number }, { digest: Buffer }>(`
  delete from user_sessions where id in (
    select id from user_sessions where user_id = :userId order by created_time desc, id offset :kept
  ) returning digest
`)
export const announceSessions = statement<{ topic: string; values: readonly string[] }>(notifyAll)

export type LinkPurpose = 'invitation' | 'password reset'
export const insertLink = statement<{ digest: Buffer; userId: string; purpose: LinkPurpose; minutes: number }>(`
  insert into user_links (digest, user_id, purpose, expires_time)
  values (:digest, :userId, :purpose, now() + make_interval(mins => :minutes))
`)
/** Locks a person, so that their links are created one at a time. */
export const lockUserRow = statement<{ userId: string }, { id: string }>(`
  select id from users where id = :userId for no key update
`)
export const countLinks = statement<{ userId: string; purpose: LinkPurpose }, { total: number }>(`
  select count(*) as total from user_links where user_id = :userId and purpose = :purpose and expires_time > now()
`)
export const deleteLinks = statement<{ userId: string }>(`delete from user_links where user_id = :userId`)
export const findLink = statement<{ digest: Buffer; purpose: LinkPurpose }, UserRow & { expiresTime: Date }>(`
  select ${userColumns}, k.expires_time from ${userTables} join user_links k on k.user_id = u.id
  where k.digest = :digest and k.purpose = :purpose and k.expires_time > now() and u.deactivated_time is null
`)
/** Uses a link up. Of two concurrent uses, one succeeds. */
export const takeLink = statement<{ digest: Buffer; purpose: LinkPurpose }, { userId: string }>(`
  delete from user_links where digest = :digest and purpose = :purpose and expires_time > now() returning user_id
`)

export const deleteExpiredSessions = statement<{ idleDays: number; limit: number }>(`
  delete from user_sessions where id in (
    select id from user_sessions
    where expires_time < now() or last_used_time < now() - make_interval(days => :idleDays) limit :limit
  )
`)
export const deleteExpiredLinks = statement<{ limit: number }>(`
  delete from user_links where digest in (select digest from user_links where expires_time < now() limit :limit)
`)
