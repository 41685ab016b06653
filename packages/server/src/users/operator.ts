import type { AuditActor, UserRole } from '@penstock/wire'
import { operatorActor, record, serviceActor } from '../audit/record.ts'
import type { Config } from '../config.ts'
import type { Db, Transaction } from '../db/database.ts'
import { unknownEmail } from './invitations.ts'
import { addInvitation, addPasswordReset } from './links.ts'
import * as passkeyQueries from './passkey-queries.ts'
import * as queries from './queries.ts'
import { endSessions } from './sessions.ts'
import { requireSecondFactorOf } from './sign-in-rules.ts'
import { addUser } from './users.ts'

/** Operator commands on people. Roles do not limit them. */

type InConfig = Pick<Config, 'publicUrl'>

/**
 * Creates a link for a person: an invitation, or if they have accepted one already, a link to set another password.
 * Throws if there is no such organization.
 */
export async function inviteOrReset(
  tx: Transaction,
  { organizationId, email, role }: { organizationId: string; email: string; role: UserRole },
  config: InConfig,
  actor: AuditActor = operatorActor(),
): Promise<{ id: string; role: UserRole; link: string; isReset: boolean }> {
  const made = await makeLink(tx, { organizationId, email, role }, config)
  const details = { email, role: made.role, link: made.isReset ? 'password reset' : 'invitation' }
  record(tx, { organizationId, actor, action: 'user invite', targetId: made.id, details })
  return made
}

async function makeLink(
  tx: Transaction,
  { organizationId, email, role }: { organizationId: string; email: string; role: UserRole },
  config: InConfig,
) {
  await requireOrganization(tx, organizationId)
  // The invitation of the first start is not needed any more.
  if (email !== unknownEmail) await queries.deleteInvited.run(tx, { organizationId, email: unknownEmail })
  const row = await queries.findUserByEmail.first(tx, { organizationId, email })
  if (row && row.deactivatedTime !== null) {
    throw new Error(
      `${email} is deactivated by the identity provider: activate the person there, or remove them first.`,
    )
  }
  if (row && row.joinedTime !== null) {
    // Earlier links of the person are lost. The operator's link is always counted.
    await queries.deleteLinks.run(tx, { userId: row.id })
    const link = await addPasswordReset(tx, row, { config })
    if (link === undefined) throw new Error(`No link could be made for ${email}.`)
    return { id: row.id, role: row.role, link, isReset: true }
  }
  const id = row?.id ?? (await addUser(tx, organizationId, { email, name: null, role, accountIds: null }))
  if (row) await queries.updateRole.run(tx, { id, role, accountIds: null })
  return { id, role, link: await addInvitation(tx, { id }, { config }), isReset: false }
}

/** Invites the owner of the first organization, whose address is not known yet: they name it as they accept. */
export const inviteFirstOwner = async (tx: Transaction, organizationId: string, config: InConfig): Promise<string> =>
  (await inviteOrReset(tx, { organizationId, email: unknownEmail, role: 'owner' }, config, serviceActor)).link

/** The people of an organization, or all of them. */
export const usersOf = (db: Db, organizationId: string | null): Promise<queries.UserRow[]> =>
  queries.selectUsers.all(db, { organizationId })

/** Whether anyone has accepted an invitation, in any organization. */
export const hasPeople = async (db: Db): Promise<boolean> => (await queries.findJoinedUser.first(db, {})) !== undefined

/**
 * Removes a person with their sessions and links, the last owner as well.
 * Throws if there is no such person.
 */
export async function removePerson(tx: Transaction, id: string): Promise<void> {
  const { organizationId, email, role } = await requirePerson(tx, id)
  await endSessions(tx, id)
  await queries.deleteUser.run(tx, { id })
  const before = { email, role }
  record(tx, { organizationId, actor: operatorActor(), action: 'user remove', targetId: id, before })
}

/**
 * Removes the passkeys of a person who has lost their device, with every session.
 * Throws if there is no such person.
 * @returns how many there were
 */
export async function removePasskeys(tx: Transaction, id: string): Promise<number> {
  const { organizationId } = await requirePerson(tx, id)
  const removed = await passkeyQueries.deletePasskeys.run(tx, { userId: id })
  await endSessions(tx, id)
  const details = { passkeys: removed }
  record(tx, { organizationId, actor: operatorActor(), action: 'user remove-passkeys', targetId: id, details })
  return removed
}

/**
 * Makes a password sufficient again in an organization. Throws if the organization does not exist.
 * @returns whether that changes anything
 */
export async function allowPasswords(tx: Transaction, organizationId: string): Promise<boolean> {
  await requireOrganization(tx, organizationId)
  const changed = await requireSecondFactorOf(tx, organizationId, false)
  const [before, after] = [{ secondFactorRequired: true }, { secondFactorRequired: false }]
  const done = { actor: operatorActor(), action: 'org allow-passwords', targetId: organizationId }
  if (changed) record(tx, { organizationId, ...done, before, after })
  return changed
}

async function requireOrganization(tx: Transaction, organizationId: string): Promise<void> {
  if (await queries.findOrganization.first(tx, { organizationId })) return
  throw new Error(`The organization ${organizationId} does not exist. penstock org list shows all organizations.`)
}

async function requirePerson(tx: Transaction, id: string): Promise<queries.UserRow> {
  await queries.lockUserRow.first(tx, { userId: id })
  const row = await queries.findUserById.first(tx, { id })
  if (!row) throw new Error(`The person ${id} does not exist. penstock user list shows all people.`)
  return row
}
