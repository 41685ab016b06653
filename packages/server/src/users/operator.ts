import type { UserRole } from '@penstock/wire'
import type { Config } from '../config.ts'
import type { Db, Transaction } from '../db/database.ts'
import { unknownEmail } from './invitations.ts'
import { addInvitation, addPasswordReset } from './links.ts'
import * as queries from './queries.ts'
import { endSessions } from './sessions.ts'
import { addUser } from './users.ts'

/** What the operator does about people, by the command line; not bound by roles. */

type InConfig = Pick<Config, 'publicUrl'>

/**
 * Makes a link for a person: one that invites them, or where they have accepted, one to set another password.
 * Throws where there is no such organization.
 */
export async function inviteOrReset(
  tx: Transaction,
  { organizationId, email, role }: { organizationId: string; email: string; role: UserRole },
  config: InConfig,
): Promise<{ id: string; role: UserRole; link: string; isReset: boolean }> {
  if (!(await queries.findOrganization.first(tx, { organizationId }))) {
    throw new Error(`There is no organization ${organizationId}: penstock org list shows those there are.`)
  }
  // The invitation of the first start is not needed any more.
  if (email !== unknownEmail) await queries.deleteInvited.run(tx, { organizationId, email: unknownEmail })
  const row = await queries.findUserByEmail.first(tx, { organizationId, email })
  if (row && row.joinedTime !== null) {
    // Those before it are lost; the operator's counts in any case.
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
  (await inviteOrReset(tx, { organizationId, email: unknownEmail, role: 'owner' }, config)).link

/** The people of an organization, or all of them. */
export const usersOf = (db: Db, organizationId: string | null): Promise<queries.UserRow[]> =>
  queries.selectUsers.all(db, { organizationId })

/** Whether anyone has accepted an invitation, in any organization. */
export const hasPeople = async (db: Db): Promise<boolean> => (await queries.findJoinedUser.first(db, {})) !== undefined

/**
 * Removes a person with their sessions and links, the last owner as well.
 * Throws where there is no such person.
 */
export async function removePerson(tx: Transaction, id: string): Promise<void> {
  if (!(await queries.lockUserRow.first(tx, { userId: id }))) {
    throw new Error(`There is no person ${id}: penstock user list shows those there are.`)
  }
  await endSessions(tx, id)
  await queries.deleteUser.run(tx, { id })
}
