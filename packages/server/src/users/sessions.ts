import { hash, randomBytes } from 'node:crypto'
import { limits, type SignInMethod, type UserRole, userRoles } from '@penstock/wire'
import type { Actor } from '../call.ts'
import { createCache } from '../db/cache.ts'
import type { Database, Transaction } from '../db/database.ts'
import type { Notices } from '../db/notices.ts'
import { newIdentifier } from '../identifiers.ts'
import * as queries from './queries.ts'

/** Sessions of people in browsers: 256 random bits in a cookie, stored only as a digest. */

/** Topic of notices about people whose sessions ended or changed. */
const userTopic = 'user'
const cachedSessionsMax = 10_000
/** How far the stored time of the last use can lag behind. */
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

/** A new random token. The prefix identifies its kind, for scanners that search for leaked secrets. */
export const newToken = (prefix: 'psu' | 'psi' | 'psr'): string => `${prefix}_${randomBytes(32).toString('base64url')}`

/**
 * Permissions of a session: the scopes of the role, or for an owner everything, including scopes of later versions. Empty if a
 * passkey must be registered first. A person with another factor cannot have a session that began with a password
 * (`sign-ins.ts`).
 */
export function grantsOf(
  { role, secondFactorRequired }: { readonly role: UserRole; readonly secondFactorRequired: boolean },
  method: SignInMethod,
): { scopes: Actor['scopes']; mustRegisterPasskey: boolean } {
  const mustRegisterPasskey = secondFactorRequired && method === 'password'
  return { scopes: mustRegisterPasskey ? [] : role === 'owner' ? null : userRoles[role], mustRegisterPasskey }
}

/** A person with a proven identity, and the method of the proof. */
export type ProvenSignIn = {
  readonly userId: string
  readonly method: SignInMethod
  /** The digest that the password was compared with. It must still be the person's digest. */
  readonly passwordDigest?: string
}

/** Begins a session. Returns undefined where the person was removed, or their password changed, meanwhile. */
export async function beginSession(
  tx: Transaction,
  { userId, method, passwordDigest }: ProvenSignIn,
  { address, userAgent }: SignInPlace,
): Promise<BegunSession | undefined> {
  const token = newToken('psu')
  const daysMax = limits.userSessionDaysMax
  const begun = await queries.insertSession.first(tx, {
    id: newIdentifier(),
    digest: digestOf(token),
    userId,
    method,
    address,
    daysMax,
    passwordDigest: passwordDigest ?? null,
    userAgent: userAgent?.slice(0, userAgentLengthMax) ?? null,
  })
  await announce(tx, await queries.deleteOldestSessions.all(tx, { userId, kept: limits.userSessionsMax }))
  return begun && { token, maxAgeSeconds: daysMax * 86_400 }
}

/** Makes every process look up a changed person again, in each of their sessions. */
export const refreshSessions = async (tx: Transaction, userId: string, sessions?: UserSessions): Promise<void> =>
  announce(tx, await queries.digestsOf.all(tx, { userId }), sessions)

/** Ends every session of a person. */
export const endSessions = async (tx: Transaction, userId: string, sessions?: UserSessions): Promise<void> =>
  announce(tx, await queries.deleteSessions.all(tx, { userId }), sessions)

/** Ends a session of a person. Returns whether there was one. */
export async function endSession(
  tx: Transaction,
  session: { userId: string; id: string },
  sessions: UserSessions,
): Promise<boolean> {
  const ended = await queries.deleteSession.all(tx, session)
  await announce(tx, ended, sessions)
  return ended.length > 0
}

/**
 * Announces the sessions that changed or ended to every process. Sessions of other people stay cached. This process forgets
 * them immediately, without waiting for its own notice.
 */
export async function announce(
  tx: Transaction,
  changed: readonly { digest: Buffer }[],
  sessions?: UserSessions,
): Promise<void> {
  if (changed.length === 0) return
  const values = changed.map(({ digest }) => keyOf(digest))
  await queries.announceSessions.run(tx, { topic: userTopic, values })
  tx.afterCommit(() => {
    for (const value of values) sessions?.forget(value)
  })
}

/** Key of a session in the cache and in notices. */
const keyOf = (digest: Buffer): string => digest.toString('base64')

/** The sessions that this process has cached. */
export type UserSessions = {
  /** The actor of a session. Undefined if the session does not exist or no longer exists. */
  authenticate(token: string): Promise<Actor | undefined>
  forget(key: string): void
}

/** Times are from `performance.now()`, since the clocks of this process and the database can differ. */
type CachedSession = { readonly actor: Actor; readonly sessionId: string; readonly endsMs: number; lastUsedMs: number }

/** Finds the actor of a session, and caches it until the session ends or changes. */
export function createSessionAuthenticator(database: Database, notices: Notices): UserSessions {
  const cached = createCache<CachedSession>(notices, userTopic, cachedSessionsMax)
  const load = async (digest: Buffer): Promise<CachedSession | undefined> => {
    const askedMs = performance.now()
    const row = await queries.findSession.first(database, { digest, idleDays })
    if (!row) return undefined
    const { sessionId, method, email, organizationId, name, accountIds } = row
    const { scopes, mustRegisterPasskey } = grantsOf(row, method)
    return {
      actor: {
        kind: 'user',
        id: row.userId,
        name,
        organizationId,
        accountIds,
        scopes,
        person: { email, sessionId, method, mustRegisterPasskey },
      },
      sessionId,
      endsMs: askedMs + row.validMs,
      lastUsedMs: askedMs - row.unusedMs,
    }
  }
  const isOver = ({ endsMs, lastUsedMs }: CachedSession) => Math.min(endsMs, lastUsedMs + idleMs) <= performance.now()

  return {
    async authenticate(token) {
      const digest = digestOf(token)
      const key = keyOf(digest)
      let found = await cached.get(key, () => load(digest))
      if (found && isOver(found)) {
        // Another process may have used the session since.
        cached.forget(key)
        found = await cached.get(key, () => load(digest))
      }
      if (!found || isOver(found)) return undefined
      if (performance.now() - found.lastUsedMs > useLagMs) {
        found.lastUsedMs = performance.now()
        await queries.saveSessionUse.run(database, { id: found.sessionId, idleDays })
      }
      return found.actor
    },
    forget: cached.forget,
  }
}
