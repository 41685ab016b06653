import { requireAllAccounts, requireUnlimited } from '../access.ts'
import type { Actor, Answer, Call } from '../call.ts'
import type { Transaction } from '../db/database.ts'
import { setSecondFactorRequired } from '../organizations/organizations.ts'
import { refuse } from '../refusal.ts'
import type { UserDeps } from './deps.ts'
import { lockOrganization } from './queries.ts'
import { announce, type UserSessions } from './sessions.ts'
import * as queries from './sign-in-rules-queries.ts'
import { redirectUriOf } from './single-sign-on.ts'

/** How the people of an organization can sign in: whether a password is enough without a second factor. */

export async function getSignInRules(
  { db, actor: { organizationId }, actor }: Call<'getSignInRules'>,
  { config }: UserDeps,
): Promise<Answer<'getSignInRules'>> {
  requireAllAccounts(actor)
  const row = await queries.isSecondFactorRequired.first(db, { organizationId })
  return {
    reply: { secondFactorRequired: row?.secondFactorRequired ?? false, redirectUri: redirectUriOf(config) },
  }
}

/** Refuses with `second_factor_missing` a change that could lock out the caller, or every owner. */
export async function setSignInRules(
  { db: tx, actor, body: { secondFactorRequired } }: Call<'setSignInRules'>,
  { config, userSessions }: UserDeps,
): Promise<Answer<'setSignInRules'>> {
  requireUnlimited(actor)
  if (secondFactorRequired) await requireOwnSecondFactor(tx, actor)
  const changed = await requireSecondFactorOf(tx, actor.organizationId, secondFactorRequired, userSessions)
  const reply = { secondFactorRequired, redirectUri: redirectUriOf(config) }
  const before = { ...reply, secondFactorRequired: changed ? !secondFactorRequired : secondFactorRequired }
  return { reply, audited: { before } }
}

async function requireOwnSecondFactor(tx: Transaction, { organizationId, person }: Actor): Promise<void> {
  const has = person
    ? person.method !== 'password'
    : (await queries.hasOwnerWithSecondFactor.first(tx, { organizationId }))?.exists
  if (!has) refuse('second_factor_missing')
}

/**
 * Sets whether a password is enough in an organization, without a second factor. If it is no longer enough, sessions that began
 * with a password end, in every process. If it is enough again, these sessions have the permissions of their person.
 * @returns whether that changed anything
 */
export async function requireSecondFactorOf(
  tx: Transaction,
  organizationId: string,
  required: boolean,
  sessions?: UserSessions,
): Promise<boolean> {
  await lockOrganization.first(tx, { organizationId })
  if (!(await setSecondFactorRequired(tx, organizationId, required))) return false
  await queries.lockPeople.all(tx, { organizationId })
  const concerned = required ? queries.deletePasswordSessions : queries.passwordSessionsOf
  await announce(tx, await concerned.all(tx, { organizationId }), sessions)
  return true
}
