import type { Purpose } from '@penstock/wire'
import { statement } from '../db/statement.ts'

/** Statements of the consent purposes of sub-accounts. */

type PurposeScope = { organizationId: string; accountId: string | null; accountIds: readonly string[] | null }

/** A purpose without the facts that a list adds. */
export type StoredPurpose = Omit<Purpose, 'accountId' | 'connections'>

/** Locks the purposes of a sub-account: they are changed by one transaction at a time. */
export const lockPurposes = statement<{ accountId: string }>(`
  select pg_advisory_xact_lock(hashtext('penstock purposes'), hashtext(:accountId))
`)

const purposesOf = `
  from purposes p join accounts a on a.id = p.account_id
  where a.organization_id = :organizationId and a.deleted_time is null
    and (:accountId::text is null or p.account_id = :accountId)
    and (:accountIds::text[] is null or p.account_id = any(:accountIds))`

export const listPurposes = statement<PurposeScope & { size: number; offset: number }, Purpose>(`
  select p.account_id, p.name, p.signals, p.uses,
    (
      select count(*) from connections c
      where c.account_id = p.account_id and c.status <> 'deleted' and p.name = any(required_purposes(c.dest_config))
    ) as connections
  ${purposesOf} order by p.name, p.account_id limit :size offset :offset
`)

export const countPurposes = statement<PurposeScope, { total: number }>(`select count(*) as total ${purposesOf}`)

/** The names of the purposes of a sub-account, and of the purposes that a connection with these settings requires. */
export const findRequired = statement<
  { accountId: string; destConfig: string },
  { names: string[]; required: string[] }
>(`
  select
    coalesce((select array_agg(name order by name) from purposes where account_id = :accountId), '{}') as names,
    required_purposes(:destConfig::jsonb) as required
`)

export const deleteOtherPurposes = statement<{ accountId: string; names: readonly string[] }>(`
  delete from purposes where account_id = :accountId and name <> all(:names::text[])
`)

export const putPurposes = statement<{ accountId: string; purposes: string }>(`
  insert into purposes (account_id, name, signals, uses)
  select :accountId, p.name, p.signals, p.uses
  from jsonb_to_recordset(:purposes::jsonb) as p(name text, signals jsonb, uses text[])
  on conflict (account_id, name) do update set signals = excluded.signals, uses = excluded.uses
`)

/** The purposes that a preview uses. */
export const findPurposes = statement<{ accountId: string }, StoredPurpose>(`
  select name, signals, uses from purposes where account_id = :accountId order by name
`)
