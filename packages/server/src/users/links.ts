import { limits } from '@penstock/wire'
import type { Config } from '../config.ts'
import type { Transaction } from '../db/database.ts'
import { type Mail, unlinked } from '../mail.ts'
import * as queries from './queries.ts'
import { digestOf, newToken } from './sessions.ts'

/**
 * Links that invite people, or with which people set another password. The token is in the fragment, which browsers do not send
 * to servers. It is stored only as a digest, and can be used one time.
 */

type Person = { readonly id: string; readonly email: string; readonly organizationName: string }
type InConfig = { readonly config: Pick<Config, 'publicUrl'> }

/** Creates a link that invites a person. Earlier links become invalid. */
export async function addInvitation(tx: Transaction, { id: userId }: Pick<Person, 'id'>, { config }: InConfig) {
  const token = newToken('psi')
  await queries.deleteLinks.run(tx, { userId })
  const minutes = limits.invitationDays * 24 * 60
  await queries.insertLink.run(tx, { digest: digestOf(token), userId, purpose: 'invitation', minutes })
  return `${config.publicUrl}/accept-invitation#${token}`
}

/** Creates a link with which a person sets another password. Undefined if enough links are valid already. */
export async function addPasswordReset(tx: Transaction, { id: userId }: Pick<Person, 'id'>, { config }: InConfig) {
  const token = newToken('psr')
  const purpose = 'password reset'
  await queries.lockUserRow.first(tx, { userId })
  const count = await queries.countLinks.first(tx, { userId, purpose })
  if ((count?.total ?? 0) >= limits.passwordResetsMax) return undefined
  const minutes = limits.passwordResetMinutes
  await queries.insertLink.run(tx, { digest: digestOf(token), userId, purpose, minutes })
  return `${config.publicUrl}/reset-password#${token}`
}

export const invitationMail = ({ email, organizationName }: Person, link: string): Mail => ({
  to: email,
  subject: `Invitation to ${unlinked(organizationName)} in Penstock`,
  text: `You are invited to ${unlinked(organizationName)} in Penstock. Open this link to set your password:

${link}

The link is valid for ${limits.invitationDays} days and can be used once. If you do not know why you got it, ignore this mail.
`,
})

export const passwordResetMail = ({ email, organizationName }: Person, link: string): Mail => ({
  to: email,
  subject: 'Reset your password for Penstock',
  text: `Open this link to set another password for ${unlinked(organizationName)} in Penstock:

${link}

The link is valid for ${limits.passwordResetMinutes} minutes and can be used once. If you did not request it, ignore this mail: your password is unchanged.
`,
})
