import { notify } from '../db/notices.ts'
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

export const lockOrganizations = statement(`lock table organizations in share row exclusive mode`)

export const organizationExists = statement<{ id: string }, { id: string }>(
  `select id from organizations where id = :id`,
)

export const insertClient = statement<{
  id: string
  organizationId: string
  secretDigest: Buffer
  name: string | null
}>(`
  insert into clients (id, organization_id, secret_digest, name) values (:id, :organizationId, :secretDigest, :name)
`)

export const renameClient = statement<{ id: string; name: string }>(`update clients set name = :name where id = :id`)

export type ClientRow = {
  id: string
  name: string | null
  organizationId: string
  createdTime: Date
  revokedTime: Date | null
}
export const selectClients = statement<{ organizationId: string | null }, ClientRow>(`
  select id, name, organization_id, created_time, revoked_time from clients
  where :organizationId::text is null or organization_id = :organizationId
  order by created_time, id
`)

/** Whether these are the credentials of a client that is not revoked. */
export const clientWithSecret = statement<{ id: string; secretDigest: Buffer }, { id: string }>(`
  select id from clients where id = :id and secret_digest = :secretDigest and revoked_time is null
`)

export const revokeClient = statement<{ id: string }>(`
  update clients set revoked_time = now() where id = :id and revoked_time is null
`)

export const deleteTokensOfClient = statement<{ clientId: string }>(`delete from tokens where client_id = :clientId`)

export const announceRevocation = statement<{ topic: string; value: string }>(notify)
