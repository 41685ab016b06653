import type { UserRole } from '@penstock/wire'
import type { Config } from '../config.ts'
import type { Transaction } from '../db/database.ts'
import * as queries from './queries.ts'
import { announce, type UserSessions } from './sessions.ts'
import { lockPeople } from './sign-in-rules-queries.ts'
import * as ssoQueries from './single-sign-on-queries.ts'
import { addUser } from './users.ts'

/** People who come from the identity provider of their organization. */

/** Where providers send browsers back to. */
export const redirectUriOf = ({ publicUrl }: Pick<Config, 'publicUrl'>): string => `${publicUrl}/sso/callback`

/** Ends every session that began in another way, apart from those of owners. */
export const endSessionsBefore = async (
  tx: Transaction,
  organizationId: string,
  sessions: UserSessions,
): Promise<void> => {
  await lockPeople.all(tx, { organizationId })
  await announce(tx, await ssoQueries.deleteOtherSessions.all(tx, { organizationId }), sessions)
}

/**
 * Finds the person of an organization with an e-mail address that the provider has verified, or adds them. One who was
 * invited has accepted with that. Undefined where there is none, and none is to be added.
 */
export async function findOrAddByEmail(
  tx: Transaction,
  organizationId: string,
  { email, name }: { email: string; name: string },
  newUser: { role: UserRole; accountIds: readonly string[] | null } | undefined,
): Promise<string | undefined> {
  const found = await queries.findUserByEmail.first(tx, { organizationId, email })
  const id = found?.id ?? (newUser && (await addUser(tx, organizationId, { email, name, ...newUser })))
  if (id === undefined) return undefined
  await ssoQueries.joinBySingleSignOn.run(tx, { id, name })
  if (found?.joinedTime === null) await queries.deleteLinks.run(tx, { userId: id })
  return id
}
