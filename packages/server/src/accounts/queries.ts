import { notify } from '../db/notices.ts'
import { statement } from '../db/statement.ts'

export type AccountRow = {
  id: string
  organizationId: string
  name: string
  enabled: boolean
  env: string
  envId: string
  envHost: string
  /** The creator. For client credentials, the owner of the organization. */
  userId: string
  userEmail: string
  connections: number
  volume: number
  version: number
  createdTime: Date
  updatedTime: Date
}

const accountColumns = `
  a.id, a.organization_id, a.name, a.enabled, a.env, e.id as env_id, e.host as env_host,
  coalesce(a.creator_id, o.owner_id) as user_id, coalesce(a.creator_email, o.owner_email) as user_email, k.connections,
  a.volume, a.version, a.created_time, a.updated_time`

/** The key already implies the limit of one row. With the limit, every plan looks the counts up instead of reading them all. */
const accountTables = `
  join organizations o on o.id = a.organization_id
  join environments e on e.name = a.env
  join lateral (
    select in_progress + active + disabled + broken + offline as connections
    from connection_counts where account_id = a.id limit 1
  ) k on true`

export const findAccount = statement<{ organizationId: string; id: string }, AccountRow>(`
  select ${accountColumns} from accounts a ${accountTables}
  where a.id = :id and a.organization_id = :organizationId and a.deleted_time is null
`)

/** The account in the transaction that deletes it. */
export const findDeletedAccount = statement<{ id: string }, AccountRow>(`
  select ${accountColumns} from accounts a ${accountTables} where a.id = :id
`)

const ownAccount = `
  select name, enabled, env, version from accounts
  where id = :id and organization_id = :organizationId and deleted_time is null`
export type OwnAccountRow = Pick<AccountRow, 'name' | 'enabled' | 'env' | 'version'>

/** Locks the sub-account for a change of the sub-account itself. Writes inside the sub-account need not wait. */
export const lockAccount = statement<{ organizationId: string; id: string }, OwnAccountRow>(
  `${ownAccount} for no key update`,
)

/**
 * Locks the sub-account for its deletion. Waits for transactions that write in the sub-account. Later transactions no longer
 * find it.
 */
export const lockAccountForDeletion = statement<{ organizationId: string; id: string }, OwnAccountRow>(
  `${ownAccount} for update`,
)

type ActingAccountRow = { id: string; organizationId: string; env: string }
const actingAccount = `
  select id, organization_id, env from accounts
  where id = :id and organization_id = :organizationId and deleted_time is null`

export const findActingAccount = statement<{ organizationId: string; id: string }, ActingAccountRow>(actingAccount)

/** Protects the sub-account against deletion while something is written in it. Such writers do not wait for each other. */
export const holdActingAccount = statement<{ organizationId: string; id: string }, ActingAccountRow>(
  `${actingAccount} for key share`,
)

/** Filter of a list. `accountIds` are the sub-accounts that the actor is limited to. */
type Filter = { organizationId: string; accountIds: readonly string[] | null; like: string | null }

/** The page is picked first, so that only its accounts are joined. */
const listOf = (limit: string) => {
  const listed = `
    organization_id = :organizationId ${limit} and deleted_time is null and (:like::text is null or name ilike :like)`
  return {
    list: statement<Filter & { size: number; offset: number }, AccountRow>(`
      select ${accountColumns}
      from (
        select * from accounts where ${listed}
        order by created_time desc, id desc limit :size offset :offset
      ) a ${accountTables}
      order by a.created_time desc, a.id desc
    `),
    count: statement<Filter, { total: number }>(
      limit === ''
        ? `
          select case when :like::text is null
            then (select coalesce(sum(accounts), 0)::bigint from organization_counts where organization_id = :organizationId)
            else (select count(*) from accounts where ${listed})
          end as total`
        : `select count(*) as total from accounts where ${listed}`,
    ),
  }
}
const lists = { all: listOf(''), limited: listOf('and id = any(:accountIds)') }

/** Picks the statements of a list: one plan would not fit both. */
export const accountList = ({ accountIds }: Filter) => lists[accountIds === null ? 'all' : 'limited']

/**
 * Counts the organization's live sub-accounts, and all of its sub-accounts that are not yet purged. Near `most` and `mostKept`,
 * creations wait here for one another, so that each counts the earlier ones.
 */
export const countForQuota = statement<
  { organizationId: string; most: number; mostKept: number },
  { live: number; kept: number }
>(`select live, kept from accounts_for_quota(:organizationId, :most, :mostKept)`)

export const insertAccount = statement<
  {
    id: string
    organizationId: string
    name: string
    enabled: boolean
    env: string
    creatorId: string | null
    creatorEmail: string | null
  },
  AccountRow
>(`
  with a as (
    insert into accounts (id, organization_id, name, enabled, env, creator_id, creator_email)
    values (:id, :organizationId, :name, :enabled, :env, :creatorId, :creatorEmail)
    returning *
  ),
  -- The trigger makes the row of counts after this statement.
  k as (select 0 as connections)
  select ${accountColumns} from a
  join organizations o on o.id = a.organization_id
  join environments e on e.name = a.env
  cross join k
`)

export const updateAccount = statement<{ id: string; name: string | null; enabled: boolean | null }>(`
  update accounts set
    name = coalesce(:name, name), enabled = coalesce(:enabled, enabled), version = version + 1, updated_time = now()
  where id = :id and (name, enabled) is distinct from (coalesce(:name, name), coalesce(:enabled, enabled))
`)

export const deleteAccount = statement<{ id: string }>(`
  update accounts set deleted_time = now(), updated_time = now(), version = version + 1 where id = :id
`)

/** Locks a deleted sub-account that can still be restored. */
export const lockDeletedAccount = statement<
  { id: string; windowDays: number },
  { organizationId: string; name: string }
>(`
  select organization_id, name from accounts where id = :id and deleted_time > now() - make_interval(days => :windowDays)
  for no key update
`)

export const restoreAccount = statement<{ id: string }>(`
  update accounts set deleted_time = null, updated_time = now(), version = version + 1 where id = :id
`)

type OperatorRow = { id: string; name: string; organizationId: string; enabled: boolean; createdTime: Date }
const ofOperator = 'id, name, organization_id, enabled, created_time'
const ofOrganization = '(:organizationId::text is null or organization_id = :organizationId)'

/** Accounts of an organization, or of all. */
export const selectAccounts = statement<{ organizationId: string | null }, OperatorRow>(`
  select ${ofOperator} from accounts where deleted_time is null and ${ofOrganization} order by created_time, id
`)

/** Deleted accounts that can still be restored, with when that ends. */
export const selectDeletedAccounts = statement<
  { organizationId: string | null; windowDays: number },
  OperatorRow & { deletedTime: Date; restorableUntil: Date }
>(`
  select ${ofOperator}, deleted_time, deleted_time + make_interval(days => :windowDays) as restorable_until
  from accounts
  where deleted_time > now() - make_interval(days => :windowDays) and ${ofOrganization} order by deleted_time, id
`)

export const purgeAccounts = statement<
  { windowDays: number; limit: number },
  { id: string; organizationId: string; name: string }
>(`
  delete from accounts where id in (
    select id from accounts
    where deleted_time < now() - make_interval(days => :windowDays)
      -- Its secrets are needed to drop these, which is tried for a few days.
      and not exists (select from change_logs where account_id = accounts.id and slot <> '' and not stays)
    limit :limit for update skip locked
  )
  returning id, organization_id, name
`)

export const announceAccount = statement<{ topic: string; value: string }>(notify)
