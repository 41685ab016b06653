import type { UserRole } from '@penstock/wire'
import { statement } from '../../db/statement.ts'

/** Statements about people whom an identity provider manages by SCIM. */

export type ProvisionedRow = {
  id: string
  organizationId: string
  email: string
  name: string | null
  givenName: string | null
  familyName: string | null
  externalId: string | null
  role: UserRole
  createdTime: Date
  joinedTime: Date | null
  deactivatedTime: Date | null
}
const columns = `
  id, organization_id, email, name, given_name, family_name, external_id, role, created_time, joined_time,
  deactivated_time`

/** Filter of a list. Null fields do not filter. */
export type PeopleFilter = {
  organizationId: string
  id: string | null
  email: string | null
  externalId: string | null
  name: string | null
}
const filtered = `
  organization_id = :organizationId and (:id::text is null or id = :id)
  and (:email::text is null or lower(email) = lower(:email))
  and (:externalId::text is null or external_id = :externalId)
  and (:name::text is null or lower(name) = lower(:name))`

export const listProvisioned = statement<PeopleFilter & { limit: number; offset: number }, ProvisionedRow>(`
  select ${columns} from users where ${filtered} order by created_time, id limit :limit offset :offset
`)
export const countProvisioned = statement<PeopleFilter, { total: number }>(
  `select count(*) as total from users where ${filtered}`,
)
export const findProvisioned = statement<{ organizationId: string; id: string }, ProvisionedRow>(`
  select ${columns} from users where organization_id = :organizationId and id = :id
`)
export const lockProvisioned = statement<{ organizationId: string; id: string }, ProvisionedRow>(`
  select ${columns} from users where organization_id = :organizationId and id = :id for no key update
`)
/**
 * A password belongs to the address that it was set for, since digests of an address share their salt. A changed address has no
 * password.
 */
export const updateProvisioned = statement<{
  id: string
  email: string
  name: string | null
  givenName: string | null
  familyName: string | null
  externalId: string | null
  active: boolean
}>(`
  update users set
    password_digest = case when lower(email) = lower(:email) then password_digest end,
    email = :email, name = :name, given_name = :givenName, family_name = :familyName, external_id = :externalId,
    deactivated_time = case when :active then null else coalesce(deactivated_time, now()) end
  where id = :id
`)
