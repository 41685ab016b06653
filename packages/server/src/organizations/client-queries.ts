import type { Scope } from '@penstock/wire'
import { notify } from '../db/notices.ts'
import { statement } from '../db/statement.ts'

/** Statements about client credentials. */

/** Permissions of a client. Null means everything, or all sub-accounts. */
type ClientGrants = { scopes: readonly Scope[] | null; accountIds: readonly string[] | null; expiresTime: Date | null }

export const insertClient = statement<
  ClientGrants & { id: string; organizationId: string; secretDigest: Buffer; name: string | null }
>(`
  insert into clients (id, organization_id, secret_digest, name, scopes, account_ids, expires_time)
  values (:id, :organizationId, :secretDigest, :name, :scopes, :accountIds, :expiresTime)
`)

export const renameClient = statement<{ id: string; name: string }>(`update clients set name = :name where id = :id`)

export type ClientRow = {
  id: string
  name: string | null
  organizationId: string
  scopes: Scope[] | null
  accountIds: string[] | null
  createdTime: Date
  expiresTime: Date | null
  lastUsedTime: Date | null
  /** Until when the previous secret is accepted. Null if it is no longer accepted. */
  previousSecretUntil: Date | null
  revokedTime: Date | null
}
const clientColumns = `
  id, name, organization_id, scopes, account_ids, created_time, expires_time, last_used_time,
  case when previous_secret_until > now() then previous_secret_until end as previous_secret_until, revoked_time`

export const selectClients = statement<{ organizationId: string | null }, ClientRow>(`
  select ${clientColumns} from clients
  where :organizationId::text is null or organization_id = :organizationId
  order by created_time, id
`)

/** Replaces the secret of a client. The replaced secret stays valid for a while, an older one does not. */
export const rotateSecret = statement<{ id: string; secretDigest: Buffer; overlapHours: number }>(`
  update clients set
    previous_secret_digest = secret_digest, previous_secret_until = now() + make_interval(hours => :overlapHours),
    secret_digest = :secretDigest
  where id = :id and revoked_time is null
`)

/** Whether these are the credentials of a client that is not revoked, with its present secret. */
export const clientWithSecret = statement<{ id: string; secretDigest: Buffer }, { id: string }>(`
  select id from clients where id = :id and secret_digest = :secretDigest and revoked_time is null
`)

export const revokeClient = statement<{ id: string }>(`
  update clients set revoked_time = now() where id = :id and revoked_time is null
`)

/** Removes clients that were revoked so long ago. */
export const purgeClients = statement<{ days: number; limit: number }>(`
  delete from clients where id in (
    select id from clients c
    where revoked_time < now() - make_interval(days => :days) and not exists (select from tokens t where t.client_id = c.id)
    limit :limit for update skip locked
  )
`)

/**
 * Stores when a client was last used. Of concurrent requests only one writes, so no request for a token waits for
 * another one.
 */
export const saveUse = statement<{ id: string }>(`
  update clients set last_used_time = now()
  where id in (select id from clients where id = :id for no key update skip locked)
`)

export const deleteTokensOfClient = statement<{ clientId: string }>(`delete from tokens where client_id = :clientId`)

export const announceRevocation = statement<{ topic: string; value: string }>(notify)

/** Clients that the actor can see: clients that are limited to sub-accounts that the actor can see. */
type Visible = { organizationId: string; accountIds: readonly string[] | null }
const isVisible = `
  organization_id = :organizationId and (:accountIds::text[] is null or account_ids <@ :accountIds)`

type Filter = Visible & { like: string | null }
const listed = `${isVisible} and revoked_time is null and (:like::text is null or name ilike :like)`

export const listClients = statement<Filter & { size: number; offset: number }, ClientRow>(`
  select ${clientColumns} from clients where ${listed}
  order by created_time desc, id desc limit :size offset :offset
`)
export const countClients = statement<Filter, { total: number }>(
  `select count(*) as total from clients where ${listed}`,
)

export const findClient = statement<Visible & { id: string }, ClientRow>(`
  select ${clientColumns} from clients where id = :id and ${isVisible}
`)
export const lockClient = statement<Visible & { id: string }, ClientRow>(`
  select ${clientColumns} from clients where id = :id and ${isVisible} for no key update
`)

export const findClientsById = statement<
  { ids: readonly string[] },
  { id: string; organizationId: string; name: string | null }
>(`select id, organization_id, name from clients where id = any(:ids)`)

/** Locks the organization, so that its clients are created one at a time. Rows that refer to it need not wait. */
export const lockOrganization = statement<{ organizationId: string }, { id: string }>(`
  select id from organizations where id = :organizationId for no key update
`)
/**
 * Number of clients that are not revoked, and the highest number of clients that are limited to one of these sub-accounts, with
 * or without others.
 */
export const countForQuota = statement<
  { organizationId: string; accountIds: readonly string[] },
  { total: number; ofAccount: number }
>(`
  select count(*) as total, coalesce((
    select max(of_account) from (
      select count(*) as of_account from clients l cross join unnest(l.account_ids) as account
      where l.organization_id = :organizationId and l.revoked_time is null and l.account_ids && :accountIds and account = any (:accountIds)
      group by account
    ) counted
  ), 0) as of_account
  from clients where organization_id = :organizationId and revoked_time is null
`)

/** The accounts of a list that exist in the organization. */
export const findAccounts = statement<{ organizationId: string; ids: readonly string[] }, { id: string }>(`
  select id from accounts where organization_id = :organizationId and id = any(:ids) and deleted_time is null
`)
