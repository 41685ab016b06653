import { statement } from '../db/statement.ts'

/** Statements about passkeys. */

export type PasskeyRow = {
  id: string
  name: string
  backedUp: boolean
  createdTime: Date
  lastUsedTime: Date | null
}
const columns = 'id, name, backed_up, created_time, last_used_time'

export const listPasskeys = statement<{ userId: string }, PasskeyRow>(`
  select ${columns} from passkeys where user_id = :userId order by created_time, id
`)
export const listCredentials = statement<{ userId: string }, { credentialId: Buffer; transports: string[] }>(`
  select credential_id, transports from passkeys where user_id = :userId order by created_time, id
`)
/** Locks a person, so that their passkeys change one at a time. Returns whether a password is enough for them to sign in. */
export const lockPerson = statement<{ userId: string }, { signsInByPassword: boolean }>(`
  select u.password_digest is not null and not o.second_factor_required as signs_in_by_password
  from users u join organizations o on o.id = u.organization_id where u.id = :userId for no key update of u
`)
/** No row where the person has this credential already. */
export const insertPasskey = statement<
  {
    id: string
    userId: string
    credentialId: Buffer
    publicKey: Buffer
    counter: number
    transports: readonly string[]
    name: string
    backedUp: boolean
  },
  PasskeyRow
>(`
  insert into passkeys (id, user_id, credential_id, public_key, counter, transports, name, backed_up)
  values (:id, :userId, :credentialId, :publicKey, :counter, :transports, :name, :backedUp)
  on conflict (user_id, credential_id) do nothing
  returning ${columns}
`)
export const deletePasskey = statement<{ userId: string; id: string }, PasskeyRow>(`
  delete from passkeys where user_id = :userId and id = :id returning ${columns}
`)
export const deletePasskeys = statement<{ userId: string }>(`delete from passkeys where user_id = :userId`)

/** The passkey of a person who has accepted their invitation, and can sign in. */
export const findCredential = statement<
  { userId: string; credentialId: Buffer },
  { id: string; publicKey: Buffer; counter: number }
>(`
  select p.id, p.public_key, p.counter from passkeys p join users u on u.id = p.user_id
  where p.user_id = :userId and p.credential_id = :credentialId and u.joined_time is not null
    and u.deactivated_time is null
`)
/** Saves the use of a passkey. Returns no row if its counter went back, which means that a copy exists. */
export const saveUse = statement<{ id: string; counter: number; backedUp: boolean }>(`
  update passkeys set counter = :counter, backed_up = :backedUp, last_used_time = now()
  where id = :id and (counter < :counter or (counter = 0 and :counter = 0))
`)

/** Uses a challenge up. Returns no row if it was used before. */
export const useChallenge = statement<{ digest: Buffer; expiresTime: Date }>(`
  insert into used_challenges (digest, expires_time) values (:digest, :expiresTime) on conflict do nothing
`)
export const deleteExpiredChallenges = statement<{ limit: number }>(`
  delete from used_challenges where digest in (
    select digest from used_challenges where expires_time < now() limit :limit
  )
`)
