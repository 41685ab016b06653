import type { UserRole } from '@penstock/wire'
import { statement } from '../db/statement.ts'

export type ProviderRow = {
  organizationId: string
  organizationName: string
  issuer: string
  clientId: string
  authorizationEndpoint: string
  emailDomains: string[] | null
  newUserRole: UserRole | null
  newUserAccountIds: string[] | null
  required: boolean
  savedTime: Date
}

export const findProvider = statement<{ organizationId: string }, ProviderRow>(`
  select s.organization_id, o.name as organization_name, s.issuer, s.client_id, s.authorization_endpoint,
    s.email_domains, s.new_user_role, s.new_user_account_ids, s.required, s.saved_time
  from single_sign_on s join organizations o on o.id = s.organization_id
  where s.organization_id = :organizationId
`)
/** Issuers of identity providers, some of them if there are many. */
export const issuersInUse = statement<Record<never, never>, { issuer: string }>(`
  select issuer from single_sign_on group by issuer order by count(*) desc, issuer limit 20
`)
export const lockProvider = statement<{ organizationId: string }, { issuer: string; clientId: string }>(`
  select issuer, client_id from single_sign_on where organization_id = :organizationId for no key update
`)
export const saveProvider = statement<{
  organizationId: string
  issuer: string
  clientId: string
  authorizationEndpoint: string
  emailDomains: readonly string[] | null
  newUserRole: UserRole | null
  newUserAccountIds: readonly string[] | null
  required: boolean
}>(`
  insert into single_sign_on (organization_id, issuer, client_id, authorization_endpoint, email_domains, new_user_role,
    new_user_account_ids, required)
  values (:organizationId, :issuer, :clientId, :authorizationEndpoint, :emailDomains, :newUserRole, :newUserAccountIds,
    :required)
  on conflict (organization_id) do update set
    issuer = excluded.issuer, client_id = excluded.client_id, authorization_endpoint = excluded.authorization_endpoint,
    email_domains = excluded.email_domains, new_user_role = excluded.new_user_role,
    new_user_account_ids = excluded.new_user_account_ids, required = excluded.required, saved_time = now()
`)
export const deleteProvider = statement<{ organizationId: string }>(`
  delete from single_sign_on where organization_id = :organizationId
`)

export const findIdentity = statement<
  { organizationId: string; issuer: string; subject: string },
  { userId: string; isDeactivated: boolean }
>(`
  select i.user_id, u.deactivated_time is not null as is_deactivated from user_identities i join users u on u.id = i.user_id
  where i.organization_id = :organizationId and i.issuer = :issuer and i.subject = :subject
    and u.organization_id = i.organization_id
`)
