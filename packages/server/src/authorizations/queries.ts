import type { AuditActorKind } from '@penstock/wire'
import { statement } from '../db/statement.ts'
import type { SecretOwner } from '../secrets/queries.ts'

/** A link that was given out. Of what travels through browsers only digests are stored. */
export const insertAuthorization = statement<
  {
    linkDigest: Buffer
    accountId: string
    connectorId: string
    configurationId: string
    clientId: string
    actorKind: AuditActorKind
    actorId: string
    actorName: string | null
    minutes: number
  },
  { expiresTime: Date }
>(`
  insert into authorizations (link_digest, account_id, connector_id, configuration_id, client_id, actor_kind, actor_id,
    actor_name, expires_time)
  values (:linkDigest, :accountId, :connectorId, :configurationId, :clientId, :actorKind, :actorId, :actorName,
    now() + make_interval(mins => :minutes))
  returning expires_time
`)

const ofConfiguration =
  'account_id = :accountId and connector_id = :connectorId and configuration_id = :configurationId'

/** Deletes earlier authorizations of a configuration: the expired authorizations, and all but the newest. */
export const dropOldAuthorizations = statement<SecretOwner & { kept: number }>(`
  delete from authorizations where ${ofConfiguration} and (
    expires_time < now() or link_digest not in (
      select link_digest from authorizations where ${ofConfiguration}
      order by expires_time desc limit :kept
    )
  )
`)

/** The first caller opens the link. There is no row if it was opened before, or has expired. */
export const openAuthorization = statement<
  { linkDigest: Buffer; stateDigest: Buffer; browserDigest: Buffer },
  { connectorId: string; clientId: string }
>(`
  update authorizations set state_digest = :stateDigest, browser_digest = :browserDigest
  where link_digest = :linkDigest and state_digest is null and expires_time > now()
  returning connector_id, client_id
`)

export const findLink = statement<
  { linkDigest: Buffer },
  { connectorId: string; accountName: string; organizationName: string; opened: boolean; live: boolean }
>(`
  select a.connector_id, c.name as account_name, o.name as organization_name,
    a.state_digest is not null as opened, a.expires_time > now() as live
  from authorizations a join accounts c on c.id = a.account_id join organizations o on o.id = c.organization_id
  where a.link_digest = :linkDigest
`)

/**
 * Claims an authorization for the answer of the platform, in the browser that opened the link. The state is removed, so that no
 * other answer is accepted. The row stays, to show how the authorization ends.
 */
export const takeAuthorization = statement<
  { stateDigest: Buffer; browserDigest: Buffer },
  {
    linkDigest: Buffer
    accountId: string
    organizationId: string
    connectorId: string
    configurationId: string
    clientId: string
    live: boolean
    actorKind: AuditActorKind | null
    actorId: string | null
    actorName: string | null
  }
>(`
  update authorizations a set state_digest = sha256(a.state_digest), browser_digest = null from accounts c
  where a.state_digest = :stateDigest and a.browser_digest = :browserDigest and c.id = a.account_id
  returning a.link_digest, a.account_id, c.organization_id, a.connector_id, a.configuration_id, a.client_id,
    a.expires_time > now() as live, a.actor_kind, a.actor_id, a.actor_name
`)

/** Keeps that an authorization granted nothing. */
export const endAuthorization = statement<{ linkDigest: Buffer; outcome: 'declined' | 'failed' }>(`
  update authorizations set outcome = :outcome where link_digest = :linkDigest
`)

/** The grant is saved. Earlier authorizations that ended without a grant are no longer needed. */
export const deleteAuthorization = statement<{ linkDigest: Buffer }>(`
  delete from authorizations a using authorizations granted
  where granted.link_digest = :linkDigest
    and a.account_id = granted.account_id and a.connector_id = granted.connector_id
    and a.configuration_id = granted.configuration_id
    and (a.link_digest = granted.link_digest
      or a.outcome is not null and a.actor_kind = granted.actor_kind and a.actor_id = granted.actor_id)
`)

/** The last authorization of a configuration that someone has started and that granted nothing yet. */
export const findLastAuthorization = statement<
  SecretOwner & { actorKind: AuditActorKind; actorId: string },
  { outcome: 'declined' | 'failed' | null }
>(`
  select outcome from authorizations
  where ${ofConfiguration} and actor_kind = :actorKind and actor_id = :actorId
    and expires_time > now()
  order by expires_time desc limit 1
`)

export const findState = statement<{ stateDigest: Buffer }, { accountId: string }>(`
  select account_id from authorizations where state_digest = :stateDigest
`)

export const deleteExpiredAuthorizations = statement<{ limit: number }>(`
  delete from authorizations where link_digest in (
    select link_digest from authorizations where expires_time < now() limit :limit
  )
`)
