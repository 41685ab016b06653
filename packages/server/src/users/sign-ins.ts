import type { SignInMethod } from '@penstock/wire'
import { type FindNamed, recordSignIn } from '../audit/sign-ins.ts'
import type { Db, Transaction } from '../db/database.ts'
import { refuse } from '../refusal.ts'
import type { Keyring } from '../secrets/keyring.ts'
import { networkOf, type ProvenAddresses } from '../tokens/attempts.ts'
import type { UserDeps } from './deps.ts'
import * as queries from './queries.ts'
import { type BegunSession, beginSession, type ProvenSignIn, type SignInPlace } from './sessions.ts'
import { findSignInRules } from './sign-in-rules-queries.ts'
import { link } from './single-sign-on.ts'

/** Sign-ins of every method succeed and fail only here. */

/** Networks that are kept of a person. */
const networksMax = 10

/**
 * A person has proven who they are: their session begins, and the audit log records it. Refuses with `sign_in_failed` if the
 * person was removed, or their password changed, meanwhile, and with `single_sign_on_required` or `second_factor_required` if
 * their organization requires another method. A person who has a stronger method cannot register their first passkey with only
 * a password, since the password could be stolen.
 * @param confirming the token of a sign-in at the provider, which this sign-in confirms: the person has proven both, and they
 * are linked
 */
export async function completeSignIn(
  tx: Transaction,
  { action = 'signIn', ...proven }: ProvenSignIn & { readonly action?: string },
  place: SignInPlace,
  confirming?: { readonly keyring: Keyring; readonly token: string | undefined },
): Promise<BegunSession> {
  const { userId, method } = proven
  const confirmed = confirming?.token
  // Done before the person is locked, because a sign-in from the provider takes the locks in this order too.
  if (confirming && confirmed !== undefined) await link(tx, confirming.keyring, userId, confirmed)
  // First, so that a change of the rules waits for this session and ends it, or this session waits for the change.
  await queries.lockUserRow.first(tx, { userId })
  const rules = await findSignInRules.first(tx, { userId })
  if (method !== 'single sign-on' && confirmed === undefined && rules?.singleSignOnRequired)
    refuse('single_sign_on_required')
  if (method === 'password' && rules?.secondFactorRequired && rules.hasSecondFactor) refuse('second_factor_required')
  const begun = { ...proven, method: methodOf(method, confirmed) }
  const session = (await beginSession(tx, begun, place)) ?? refuse('sign_in_failed')
  const person = (await saveSignIn(tx, userId, place.address)) ?? refuse('sign_in_failed')
  const { organizationId, name } = person
  const { address, requestId } = place
  const actor = { kind: 'user', id: userId, name } as const
  recordSignIn(tx, {
    organizationId,
    actor,
    action,
    address,
    requestId,
    details: { method, ...(confirmed === undefined ? {} : { linked: true }) },
  })
  return session
}

const saveSignIn = (tx: Transaction, userId: string, address: string) =>
  queries.saveSignIn.first(tx, { userId, network: networkOf(address), networksMax })

/** How a session began, for a person who confirmed a sign-in at the provider too. */
export const methodOf = (method: SignInMethod, confirmed: string | undefined): SignInMethod =>
  confirmed === undefined ? method : 'single sign-on'

/** Facts about a failed sign-in. The response does not reveal them. */
export type SignInFailure = {
  readonly method: SignInMethod
  /** As entered. */
  readonly email: string | undefined
  readonly organizationId: string | undefined
}

/** Counts a failure, so that nothing can be guessed, leaves word of it for the audit log, and refuses with `sign_in_failed` or `rate_limited`. */
export async function failSignIn(
  { email = '' }: SignInFailure,
  place: SignInPlace,
  { attempts, failedSignIns }: Pick<UserDeps, 'attempts' | 'failedSignIns'>,
  proven?: ProvenAddresses,
): Promise<never> {
  const { address, requestId } = place
  failedSignIns.add({ kind: 'user', name: attemptsKey(email), action: 'signIn', address, requestId })
  await attempts.failed(attemptsKey(email), address, proven)
  refuse('sign_in_failed')
}

/** The addresses and networks from which an e-mail address signed in before: guesses from elsewhere do not lock these out. */
export const addressesOf =
  (db: Db, email: string): ProvenAddresses =>
  async () =>
    (await queries.addressesOfSignIns.all(db, { email })).map(({ address }) => address)

/** Key of the counter of failures, together with the address. */
export const attemptsKey = (email: string): string => email.trim().toLowerCase()

/** The people who have one of the e-mail addresses. An address can belong to several organizations. */
export const findUsersNamed: FindNamed = (db, emails) => queries.findByAddress.all(db, { emails })
