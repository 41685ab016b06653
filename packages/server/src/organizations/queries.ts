import { statement } from '../db/statement.ts'

export const putEnvironment = statement<{ name: string; id: string; host: string }>(`
  insert into environments (name, id, host) values (:name, :id, :host)
  on conflict (name) do update set id = excluded.id, host = excluded.host
  where (environments.id, environments.host) is distinct from (excluded.id, excluded.host)
`)

export const insertOrganization = statement<{ id: string; name: string; ownerId: string; ownerEmail: string }>(`
  insert into organizations (id, name, owner_id, owner_email) values (:id, :name, :ownerId, :ownerEmail)
`)

export type OrganizationRow = { id: string; name: string; ownerId: string; ownerEmail: string; createdTime: Date }
export const selectOrganizations = statement<Record<never, never>, OrganizationRow>(`
  select id, name, owner_id, owner_email, created_time from organizations order by created_time, id
`)

export const saveSecondFactorRequired = statement<{ id: string; required: boolean }>(`
  update organizations set second_factor_required = :required where id = :id and second_factor_required <> :required
`)

export const lockOrganizations = statement(`lock table organizations in share row exclusive mode`)

export const organizationExists = statement<{ id: string }, { id: string }>(
  `select id from organizations where id = :id`,
)
