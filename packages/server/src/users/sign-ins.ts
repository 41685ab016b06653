import type { SignInMethod } from '@penstock/wire'
import type { Transaction } from '../db/database.ts'
import { refuse } from '../refusal.ts'
import type { UserDeps } from './deps.ts'
import * as queries from './queries.ts'
import { type BegunSession, beginSession, type SignInPlace } from './sessions.ts'

/** The one place where a sign-in succeeds, and the one where it fails, whatever the method. */

/**
 * A person has proven who they are: their session begins.
 * Refuses with `sign_in_failed` where they were removed meanwhile.
 */
export async function completeSignIn(
  tx: Transaction,
  { userId, method }: { userId: string; method: SignInMethod },
  place: SignInPlace,
): Promise<BegunSession> {
  const session = (await beginSession(tx, userId, method, place)) ?? refuse('sign_in_failed')
  await queries.saveSignIn.run(tx, { userId })
  return session
}

/** What is known about a sign-in that fails; the answer says nothing of it. */
export type FailedSignIn = {
  readonly method: SignInMethod
  /** As entered. */
  readonly email: string | undefined
  readonly organizationId: string | undefined
}

/** Counts a failure, so that nothing can be guessed, and refuses with `sign_in_failed` or `rate_limited`. */
export async function failSignIn(
  { email = '' }: FailedSignIn,
  { address }: SignInPlace,
  { attempts }: Pick<UserDeps, 'attempts'>,
): Promise<never> {
  await attempts.failed(attemptsKey(email), address)
  refuse('sign_in_failed')
}

/** What failures are counted for, together with the address. */
export const attemptsKey = (email: string): string => email.trim().toLowerCase()
