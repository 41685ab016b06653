import { limits, type UserRole } from '@penstock/wire'
import type { Config } from '../config.ts'
import type { Db, Transaction } from '../db/database.ts'
import { refuse } from '../refusal.ts'
import type { Keyring } from '../secrets/keyring.ts'
import { newChallenge, openChallenge } from './challenges.ts'
import * as queries from './queries.ts'
import { announce, type UserSessions } from './sessions.ts'
import { lockPeople } from './sign-in-rules-queries.ts'
import * as ssoQueries from './single-sign-on-queries.ts'
import { addUser } from './users.ts'

/** People who come from the identity provider of their organization. */

/** The address that providers send browsers back to. */
export const redirectUriOf = ({ publicUrl }: Pick<Config, 'publicUrl'>): string => `${publicUrl}/sso/callback`

/** Ends every session that began in another way, except sessions of owners. */
export const endSessionsBefore = async (
  tx: Transaction,
  organizationId: string,
  sessions: UserSessions,
): Promise<void> => {
  await lockPeople.all(tx, { organizationId })
  await announce(tx, await ssoQueries.deleteOtherSessions.all(tx, { organizationId }), sessions)
}

/**
 * Ends every session that began at the provider, including sessions of owners, because the provider's identities are no longer
 * valid.
 */
export const endProviderSessions = async (
  tx: Transaction,
  organizationId: string,
  sessions: UserSessions,
): Promise<void> => announce(tx, await ssoQueries.deleteProviderSessions.all(tx, { organizationId }), sessions)

/** Forgets what the provider calls people. */
export const forgetIdentities = async (tx: Transaction, organizationId: string): Promise<void> =>
  void (await ssoQueries.deleteIdentities.run(tx, { organizationId }))

/** Identity of a person at the provider of an organization. */
export type Identity = { readonly organizationId: string; readonly issuer: string; readonly subject: string }

/** The person with an e-mail address that the provider has verified, and whether the address suffices. */
export type FoundByEmail =
  | { readonly userId: string; readonly next: 'signed in' }
  /** The person exists, and must confirm with the sign-in that they used before. */
  | { readonly userId: string; readonly next: 'confirm' }
  | { readonly next: 'not allowed' | 'invited as an owner' | 'another account' | 'deactivated' }

/**
 * Finds or adds the person of an organization with an e-mail address that the provider has verified, and links them. If the
 * person was invited, this accepts the invitation. An address without confirmation is not enough for owners, nor for people
 * with a password or a passkey. Otherwise whoever sets the provider could sign in as all of them.
 * @param confirmedId the person who has proven who they are in another way, in the same browser
 */
export async function linkByEmail(
  tx: Transaction,
  identity: Identity,
  { email, name }: { email: string; name: string },
  newUser: { role: UserRole; accountIds: readonly string[] | null } | undefined,
  confirmedId: string | undefined,
): Promise<FoundByEmail> {
  const { organizationId, issuer } = identity
  const found = await queries.findUserByEmail.first(tx, { organizationId, email })
  const id = found?.id ?? (newUser && (await addUser(tx, organizationId, { email, name, ...newUser })))
  if (id === undefined) return { next: 'not allowed' }
  if (found && found.deactivatedTime !== null) return { next: 'deactivated' }
  const ways = await ssoQueries.findWaysIn.first(tx, { userId: id, issuer })
  if (ways?.isLinked) return { next: 'another account' }
  if (found && found.joinedTime === null && found.role === 'owner') return { next: 'invited as an owner' }
  const mustConfirm = found?.role === 'owner' || ways?.hasPassword || ways?.hasPasskey
  if (mustConfirm && confirmedId !== id) return { next: 'confirm', userId: id }
  if (!(await ssoQueries.insertIdentity.first(tx, { ...identity, userId: id }))) return { next: 'another account' }
  await ssoQueries.joinBySingleSignOn.run(tx, { id, name })
  if (found?.joinedTime === null) await queries.deleteLinks.run(tx, { userId: id })
  return { next: 'signed in', userId: id }
}

const purposeOf = ({ organizationId, issuer, subject }: Identity, userId: string) => [
  'single sign-on link',
  organizationId,
  issuer,
  subject,
  userId,
]

/** Makes the token with which a person confirms, as they sign in with what they had before, that the account is theirs. */
export async function newLink(db: Db, keyring: Keyring, identity: Identity, userId: string): Promise<string> {
  const challenge = await newChallenge(db, keyring, purposeOf(identity, userId), limits.singleSignOnMinutes)
  return `${Buffer.from(identity.subject).toString('base64url')}.${challenge}`
}

/**
 * Links a person who has proven who they are. Refuses with `link_invalid` a token that is for someone else, was used, has
 * expired, or is of another issuer than the present one.
 */
export async function link(tx: Transaction, keyring: Keyring, userId: string, token: string): Promise<void> {
  const provider = (await ssoQueries.lockProviderOf.first(tx, { userId })) ?? refuse('link_invalid')
  const [encoded = '', text = ''] = token.split('.')
  const identity = { ...provider, subject: Buffer.from(encoded, 'base64url').toString() }
  const challenge = await openChallenge(tx, keyring, purposeOf(identity, userId), text)
  if (!challenge || !(await challenge.use(tx))) refuse('link_invalid')
  if (!(await ssoQueries.insertIdentity.first(tx, { ...identity, userId }))) refuse('link_invalid')
}
