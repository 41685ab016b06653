import { statement } from '../db/statement.ts'

export const findClient = statement<{ id: string }, { secretDigest: Buffer }>(`
  select secret_digest from clients where id = :id and revoked_time is null
`)

/** Stores a token unless its client was revoked just before. */
export const insertToken = statement<{ digest: Buffer; clientId: string; lifetimeSeconds: number }>(`
  insert into tokens (digest, client_id, expires_time)
  select :digest, id, now() + make_interval(secs => :lifetimeSeconds)
  from clients where id = :clientId and revoked_time is null
  for share
`)

export const findToken = statement<
  { digest: Buffer },
  { clientId: string; organizationId: string; expiresTime: Date }
>(`
  select t.client_id, c.organization_id, t.expires_time
  from tokens t join clients c on c.id = t.client_id
  where t.digest = :digest and t.expires_time > now() and c.revoked_time is null
`)

export const deleteExpiredTokens = statement<{ limit: number }>(`
  delete from tokens where digest in (select digest from tokens where expires_time < now() limit :limit)
`)
