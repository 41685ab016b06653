import { limits, type UserRole, userRoles } from '@penstock/wire'
import { hasScope } from '../access.ts'
import type { Actor, Answer, Call } from '../call.ts'
import type { Db, Transaction } from '../db/database.ts'
import { violates } from '../db/errors.ts'
import { containing } from '../db/like.ts'
import { newIdentifier } from '../identifiers.ts'
import { requireAccounts } from '../organizations/clients.ts'
import { countMails } from '../organizations/mail-limit.ts'
import { refuse, requireShare } from '../refusal.ts'
import type { UserDeps } from './deps.ts'
import { addInvitation, invitationMail } from './links.ts'
import * as queries from './queries.ts'
import { endSessions, refreshSessions } from './sessions.ts'
import { viewUser } from './view.ts'

/**
 * The people of an organization. Actors see only people who are limited to the same sub-accounts or fewer. They can create or
 * change only people who can do no more than they can themselves.
 */

export async function listUsers({
  db,
  actor: { organizationId, accountIds },
  query: { q, size, offset },
}: Call<'listUsers'>): Promise<Answer<'listUsers'>> {
  const filter = { organizationId, accountIds, like: containing(q) }
  const [rows, count] = await Promise.all([
    queries.listUsers.all(db, { ...filter, size, offset }),
    queries.countUsers.first(db, filter),
  ])
  return { reply: rows.map(viewUser), total: count?.total ?? 0 }
}

export async function getUser({ db, actor, id }: Call<'getUser'>): Promise<Answer<'getUser'>> {
  return { reply: viewUser(await requireUser(db, actor, id)) }
}

/** Refuses with `forbidden` permissions that the actor does not have, and with `user_exists` an address that is taken. */
export async function inviteUser(
  { db: tx, actor, body }: Call<'inviteUser'>,
  deps: UserDeps,
): Promise<Answer<'inviteUser'>> {
  const { role, accountIds = null } = body
  await requireGrantableRole(tx, actor, role, accountIds)
  const person = { email: body.email.trim(), name: body.name?.trim() ?? null, role, accountIds }
  const id = await addUser(tx, actor.organizationId, person, actor.accountIds)
  return inviteAgain(tx, await requireUser(tx, actor, id), deps)
}

/** The link before it is not valid any more. */
export async function resendInvitation(
  { db: tx, actor, id }: Call<'resendInvitation'>,
  deps: UserDeps,
): Promise<Answer<'resendInvitation'>> {
  const row = await lockUser(tx, actor, id)
  requireRole(actor, row.role)
  if (row.joinedTime !== null || row.deactivatedTime !== null) refuse('user_joined')
  return inviteAgain(tx, row, deps)
}

async function inviteAgain(tx: Transaction, row: queries.UserRow, deps: UserDeps) {
  const link = await addInvitation(tx, row, deps)
  const { organizationId, id } = row
  const mail = { organizationId, kind: 'invitation', recipients: [row.email] } as const
  const mailed = deps.mailer.isSetUp && (await countMails(tx, mail)).allowed.length > 0
  if (mailed) tx.afterCommit(() => deps.mailer.send(invitationMail(row, link)))
  const user = await queries.findUser.first(tx, { organizationId, accountIds: null, id })
  return { reply: { user: viewUser(user ?? row), link, mailed } }
}

/**
 * Takes effect immediately, in every session of the person. Of two people with the same address, only one can have all
 * sub-accounts.
 */
export async function updateUser(
  { db: tx, actor, id, body: { role, accountIds = null } }: Call<'updateUser'>,
  { userSessions }: UserDeps,
): Promise<Answer<'updateUser'>> {
  const { organizationId } = actor
  // One change at a time: of two owners who demote each other, one stays.
  await queries.lockOrganization.first(tx, { organizationId })
  const row = await lockUser(tx, actor, id)
  if (id === actor.id) refuse('forbidden', [{ field: 'id', message: 'you cannot change what you may do yourself' }])
  requireRole(actor, row.role)
  await requireGrantableRole(tx, actor, role, accountIds)
  if (role !== 'owner') await requireOtherOwner(tx, row)
  try {
    await queries.updateRole.run(tx, { id, role, accountIds })
  } catch (error) {
    if (violates(error, 'users_email')) refuse('user_exists')
    throw error
  }
  await refreshSessions(tx, id, userSessions)
  return { reply: viewUser(await requireUser(tx, actor, id)), audited: { before: viewUser(row) } }
}

/** Takes effect immediately. Resources that the person created stay. */
export async function removeUser(
  { db: tx, actor, id }: Call<'removeUser'>,
  { userSessions }: UserDeps,
): Promise<Answer<'removeUser'>> {
  await queries.lockOrganization.first(tx, { organizationId: actor.organizationId })
  const row = await lockUser(tx, actor, id)
  requireRole(actor, row.role)
  await requireOtherOwner(tx, row)
  await endSessions(tx, id, userSessions)
  await queries.deleteUser.run(tx, { id })
  return { reply: { done: true }, audited: { before: viewUser(row), after: null } }
}

/**
 * Adds a person who has not accepted yet. Refuses with `user_exists` and `quota_exceeded`. If the address belongs to a
 * person whom the actor cannot see, another person is created, since a refusal would reveal that person.
 * @param seenBy the sub-accounts that the actor is limited to
 */
export async function addUser(
  tx: Transaction,
  organizationId: string,
  person: { email: string; name: string | null; role: UserRole; accountIds: readonly string[] | null },
  seenBy: readonly string[] | null = null,
): Promise<string> {
  await queries.lockOrganization.first(tx, { organizationId })
  const count = await queries.countForQuota.first(tx, { organizationId, accountIds: person.accountIds ?? [] })
  requireShare(
    count ?? { total: 0, ofAccount: 0 },
    { total: limits.usersMax, ofAccount: limits.usersOfAccountMax },
    {
      field: 'users',
      what: 'of the organization',
      ofAccount: 'who are limited to a sub-account',
      advice: 'remove people who have left',
    },
  )
  const id = newIdentifier()
  const same = { organizationId, accountIds: seenBy, email: person.email, exceptId: id }
  if (await queries.findVisibleByEmail.first(tx, same)) refuse('user_exists')
  try {
    await queries.insertUser.run(tx, { id, organizationId, ...person })
  } catch (error) {
    if (violates(error, 'users_email')) refuse('user_exists')
    throw error
  }
  return id
}

async function requireUser(db: Db, { organizationId, accountIds }: Actor, id: string): Promise<queries.UserRow> {
  return (await queries.findUser.first(db, { organizationId, accountIds, id })) ?? refuse('not_found')
}

async function lockUser(tx: Transaction, { organizationId, accountIds }: Actor, id: string): Promise<queries.UserRow> {
  return (await queries.lockUser.first(tx, { organizationId, accountIds, id })) ?? refuse('not_found')
}

/** Refuses with `forbidden` a role that can do more than the actor. */
function requireRole(actor: Actor, role: UserRole): void {
  if (role === 'owner') {
    if (actor.scopes === null && actor.accountIds === null) return
    refuse('forbidden', [{ field: 'body.role', message: 'only owners make, change and remove owners' }])
  }
  const missing = userRoles[role].filter((scope) => !hasScope(actor, scope))
  if (missing.length > 0) {
    refuse('forbidden', [{ field: 'body.role', message: `you do not have ${missing.join(', ')}` }])
  }
}

/** Refuses a role, or sub-accounts, that the actor cannot give. */
export async function requireGrantableRole(
  tx: Transaction,
  actor: Actor,
  role: UserRole,
  accountIds: readonly string[] | null,
): Promise<void> {
  requireRole(actor, role)
  if (role === 'owner' && accountIds !== null) {
    refuse('invalid_request', [{ field: 'body.accountIds', message: 'an owner is not limited to sub-accounts' }])
  }
  if (actor.accountIds !== null && accountIds === null) {
    const message = 'you are limited to named sub-accounts: name those to grant'
    refuse('forbidden', [{ field: 'body.accountIds', message }])
  }
  await requireAccounts(tx, actor, accountIds ?? [], (index) => `body.accountIds.${index}`)
}

/** Refuses with `last_owner` if the person is the only owner who can sign in. */
export async function requireOtherOwner(
  tx: Transaction,
  {
    id,
    organizationId,
    role,
    joinedTime,
    deactivatedTime,
  }: Pick<queries.UserRow, 'id' | 'organizationId' | 'role' | 'joinedTime' | 'deactivatedTime'>,
): Promise<void> {
  if (role !== 'owner' || joinedTime === null || deactivatedTime !== null) return
  const count = await queries.countOtherOwners.first(tx, { organizationId, id })
  if ((count?.total ?? 0) === 0) refuse('last_owner')
}
