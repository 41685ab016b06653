import type { Scope } from '@penstock/wire'
import { queueSignInOfClient } from '../audit/sign-ins.ts'
import { statement } from '../db/statement.ts'

const isCurrent = 'revoked_time is null and (expires_time is null or expires_time > now())'

/**
 * The valid secrets of a client: the present one and, for a while after a rotation, the one before. For an unknown client,
 * returns the row `none` of the same size, so that the response time does not reveal whether a client exists.
 */
export const findClient = statement<
  { id: string; none: Buffer },
  { secretDigest: Buffer; previousSecretDigest: Buffer }
>(`
  select coalesce(c.secret_digest, :none) as secret_digest,
    coalesce(case when c.previous_secret_until > now() then c.previous_secret_digest end, :none)
      as previous_secret_digest
  from (select) one left join clients c on c.id = :id and ${isCurrent}
`)

/**
 * Stores a token and the event of the sign-in. Returns no row if the client was revoked or its secret replaced just before. A
 * token lives no longer than its client. A token of a secret before the last rotation lives no longer than that secret. It is
 * one statement, since two messages to PostgreSQL cost twice as much as one. If the client does not have each of the scopes,
 * nothing is stored, and there is no lifetime.
 */
export const insertToken = statement<
  {
    digest: Buffer
    clientId: string
    secretDigest: Buffer
    scopes: readonly Scope[] | null
    lifetimeSeconds: number
    action: string
    address: string
    requestId: string
  },
  { lifetimeSeconds: number | null; lastUseIsOld: boolean; scopes: Scope[] | null }
>(`
  with client as (
    select id, organization_id, name, scopes, last_used_time, expires_time, case when secret_digest <> :secretDigest then previous_secret_until end as secret_until
    from clients
    where id = :clientId and ${isCurrent}
      and (secret_digest = :secretDigest or previous_secret_digest = :secretDigest and previous_secret_until > now())
    for share
  ), token as (
    insert into tokens (digest, client_id, scopes, expires_time)
    select :digest, id, :scopes, least(now() + make_interval(secs => :lifetimeSeconds), expires_time, secret_until)
    from client
    where :scopes::text[] is null or scopes is null or :scopes::text[] <@ scopes
    returning ceil(extract(epoch from expires_time - now()))::integer as lifetime_seconds
  ), event as (${queueSignInOfClient})
  select (select lifetime_seconds from token) as lifetime_seconds, scopes,
    coalesce(last_used_time < now() - interval '1 minute', true) as last_use_is_old
  from client
`)

/**
 * A client by one of the secrets that are accepted, for a request that brings the secret itself.
 */
export const findClientBySecret = statement<
  { id: string; secretDigest: Buffer },
  {
    name: string | null
    organizationId: string
    scopes: Scope[] | null
    accountIds: string[] | null
    lastUseIsOld: boolean
  }
>(`
  select name, organization_id, scopes, account_ids,
    coalesce(last_used_time < now() - interval '1 minute', true) as last_use_is_old
  from clients
  where id = :id and ${isCurrent}
    and (secret_digest = :secretDigest or previous_secret_digest = :secretDigest and previous_secret_until > now())
`)

/** Stores the token of a session, which lives no longer than the client that makes it. */
export const insertSession = statement<
  {
    digest: Buffer
    clientId: string
    sessionId: string
    scopes: readonly Scope[]
    accountIds: readonly string[]
    lifetimeSeconds: number
  },
  { lifetimeSeconds: number }
>(`
  insert into tokens (digest, client_id, session_id, scopes, account_ids, expires_time)
  select :digest, id, :sessionId, :scopes, :accountIds,
    least(now() + make_interval(secs => :lifetimeSeconds), expires_time)
  from clients where id = :clientId and ${isCurrent}
  for share
  returning ceil(extract(epoch from expires_time - now()))::integer as lifetime_seconds
`)

export const findToken = statement<
  { digest: Buffer },
  {
    clientId: string
    sessionId: string | null
    name: string | null
    organizationId: string
    scopes: Scope[] | null
    accountIds: string[] | null
    /** How long it is valid from now on. */
    validMs: number
  }
>(`
  select t.client_id, t.session_id, c.name, c.organization_id, coalesce(t.scopes, c.scopes) as scopes,
    coalesce(t.account_ids, c.account_ids) as account_ids,
    extract(epoch from least(t.expires_time, c.expires_time) - now())::float8 * 1000 as valid_ms
  from tokens t join clients c on c.id = t.client_id
  where t.digest = :digest and t.expires_time > now()
    and c.revoked_time is null and (c.expires_time is null or c.expires_time > now())
`)

export const deleteExpiredTokens = statement<{ limit: number }>(`
  delete from tokens where digest in (select digest from tokens where expires_time < now() limit :limit)
`)
