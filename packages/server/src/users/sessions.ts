import { hash, randomBytes } from 'node:crypto'
import { limits, type SignInMethod, type UserRole, userRoles } from '@penstock/wire'
import type { Actor } from '../call.ts'
import { createCache } from '../db/cache.ts'
import type { Database, Db, Transaction } from '../db/database.ts'
import type { Notices } from '../db/notices.ts'
import { newIdentifier } from '../identifiers.ts'
import * as queries from './queries.ts'

/** Sessions of people in browsers: 256 random bits in a cookie, stored only as a digest. */

/** What notices about people whose sessions ended or changed are called. */
const userTopic = 'user'
const cachedSessionsMax = 10_000
/** How long the last use that is stored may lag behind. */
const useLagMs = 5 * 60_000
const idleDays = limits.userSessionIdleDays
const idleMs = idleDays * 86_400_000
const userAgentLengthMax = 300

/** A session that has begun, for the cookie. */
export type BegunSession = { readonly token: string; readonly maxAgeSeconds: number }

/** From where a person signs in. */
export type SignInPlace = {
  readonly address: string
  readonly userAgent: string | null
  readonly requestId: string
}

/** The digest under which a session or the token of a link is stored. */
export const digestOf = (token: string): Buffer => hash('sha256', token, 'buffer')

/** A new random token; the prefix says what it is, for those who search for leaked secrets. */
export const newToken = (prefix: 'psu' | 'psi' | 'psr'): string => `${prefix}_${randomBytes(32).toString('base64url')}`

/** What a role may do, as an actor has it: an owner everything, with the scopes of later versions. */
export const scopesOf = (role: UserRole): Actor['scopes'] => (role === 'owner' ? null : userRoles[role])

/** Begins a session. Returns undefined where the person was removed meanwhile. */
export async function beginSession(
  tx: Transaction,
  userId: string,
  method: SignInMethod,
  { address, userAgent }: SignInPlace,
): Promise<BegunSession | undefined> {
  const token = newToken('psu')
  const daysMax = limits.userSessionDaysMax
  const begun = await queries.insertSession.first(tx, {
    ...{ id: newIdentifier(), digest: digestOf(token), userId, method, address, daysMax },
    userAgent: userAgent?.slice(0, userAgentLengthMax) ?? null,
  })
  const removed = await queries.deleteOldestSessions.run(tx, { userId, kept: limits.userSessionsMax })
  if (removed > 0) await announceUsers(tx)
  return begun && { token, maxAgeSeconds: daysMax * 86_400 }
}

/** Has every process look the sessions of people up again. */
export const announceUsers = (db: Db): Promise<number> =>
  queries.announceSessions.run(db, { topic: userTopic, value: '' })

/** Ends every session of a person. */
export async function endSessions(tx: Transaction, userId: string): Promise<void> {
  await queries.deleteSessions.run(tx, { userId })
  await announceUsers(tx)
}

type CachedSession = { readonly actor: Actor; readonly sessionId: string; readonly endsMs: number; lastUsedMs: number }

/** Finds the actor of a session; caches it until it ends, or people change. */
export function createSessionAuthenticator(database: Database, notices: Notices) {
  const cached = createCache<CachedSession>(notices, userTopic, cachedSessionsMax)
  const load = async (digest: Buffer): Promise<CachedSession | undefined> => {
    const row = await queries.findSession.first(database, { digest, idleDays })
    if (!row) return undefined
    const { sessionId, method, email, role, organizationId, name, accountIds } = row
    return {
      actor: {
        ...{ kind: 'user', id: row.userId, name, organizationId, accountIds, scopes: scopesOf(role) },
        person: { email, sessionId, method },
      },
      sessionId,
      endsMs: row.expiresTime.getTime(),
      lastUsedMs: row.lastUsedTime.getTime(),
    }
  }
  const isOver = ({ endsMs, lastUsedMs }: CachedSession) => Math.min(endsMs, lastUsedMs + idleMs) <= Date.now()

  return {
    async authenticate(token: string): Promise<Actor | undefined> {
      const digest = digestOf(token)
      const key = digest.toString('base64')
      let found = await cached.get(key, () => load(digest))
      if (found && isOver(found)) {
        // Another process may have used it since.
        cached.forget(key)
        found = await cached.get(key, () => load(digest))
      }
      if (!found || isOver(found)) return undefined
      if (Date.now() - found.lastUsedMs > useLagMs) {
        found.lastUsedMs = Date.now()
        await queries.saveSessionUse.run(database, { id: found.sessionId, idleDays })
      }
      return found.actor
    },
    /** This process knows at once, without waiting for its own notice. */
    forgetAll: cached.forgetAll,
  }
}
