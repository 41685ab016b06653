import { limits, type Me, type SignInMethod } from '@penstock/wire'
import type { Answer, Call } from '../call.ts'
import { csrfTokenOf } from '../csrf.ts'
import type { Db } from '../db/database.ts'
import { refuse } from '../refusal.ts'
import type { UserDeps } from './deps.ts'
import * as queries from './queries.ts'
import { type BegunSession, endSession, endSessions, refreshSessions } from './sessions.ts'
import { requireGoodPassword, withPasswordDigest } from './set-password.ts'
import { addressesOf, attemptsKey, completeSignIn } from './sign-ins.ts'
import { viewSelf, viewSession } from './view.ts'

/** Operations of the caller: their identity, and a person's own account. */

/** The present state of a person, for that person. */
export const findSelf = async (db: Db, id: string): Promise<queries.UserRow> =>
  (await queries.findUserById.first(db, { id })) ?? refuse('unauthorized')

/** Returns the person who has just signed in, with the cookie of their session. */
export async function answerSelf(
  db: Db,
  userId: string,
  method: SignInMethod,
  session: BegunSession,
  { mailer }: Pick<UserDeps, 'mailer'>,
): Promise<{ reply: Me; session: BegunSession }> {
  return { reply: viewSelf(await findSelf(db, userId), method, csrfTokenOf(session.token), mailer.isSetUp), session }
}

export async function getMe({ db, actor, csrfToken }: Call<'getMe'>, { mailer }: UserDeps): Promise<Answer<'getMe'>> {
  const { person, scopes, kind, id, name, organizationId } = actor
  if (person) return { reply: viewSelf(await findSelf(db, id), person.method, csrfToken, mailer.isSetUp) }
  const organization = await queries.findOrganization.first(db, { organizationId })
  return {
    reply: {
      kind,
      id,
      name,
      email: null,
      organizationId,
      organizationName: organization?.name ?? '',
      role: null,
      scopes: scopes && [...scopes],
      accountIds: actor.accountIds && [...actor.accountIds],
      method: kind === 'session' ? 'session token' : kind === 'link' ? 'connect link' : 'client credentials',
      hasPassword: false,
      mustRegisterPasskey: false,
      mail: mailer.isSetUp,
      csrfToken: null,
    },
  }
}

export async function updateMe(
  { db: tx, actor, body: { name }, csrfToken }: Call<'updateMe'>,
  { userSessions, mailer }: UserDeps,
): Promise<Answer<'updateMe'>> {
  const before = await findSelf(tx, actor.id)
  await queries.updateName.run(tx, { id: actor.id, name: name.trim() })
  await refreshSessions(tx, actor.id, userSessions)
  const method = actor.person?.method ?? 'password'
  const view = (row: queries.UserRow) => viewSelf(row, method, csrfToken, mailer.isSetUp)
  return { reply: view(await findSelf(tx, actor.id)), audited: { before: view(before) } }
}

/** Guesses of the present password are counted like sign-ins: a session that was stolen must not give it away. */
export async function changePassword(
  call: Call<'changePassword'>,
  { attempts, failedSignIns, mailer, passwords, userSessions }: UserDeps,
): Promise<Answer<'changePassword'>> {
  const { db, actor, body, address } = call
  const row = await findSelf(db, actor.id)
  const { email, organizationName } = row
  if (row.hasPassword) {
    const key = attemptsKey(email)
    const proven = addressesOf(db, email)
    await attempts.check(key, address, proven)
    const present = await queries.findPassword.first(db, { id: actor.id })
    const [right] = await passwords.matches(
      body.currentPassword ?? '',
      [present?.passwordDigest ?? refuse('unauthorized')],
      address,
    )
    if (!right) {
      failedSignIns.add({ kind: 'user', name: key, action: 'changePassword', address, requestId: call.requestId })
      await attempts.failed(key, address, proven)
      refuse('wrong_password', [{ field: 'body.currentPassword', message: 'is not your present password' }])
    }
    await attempts.check(key, address, proven)
  }
  requireGoodPassword('body.newPassword', body.newPassword, { email, organizationName })
  const method = actor.person?.method ?? 'password'
  const person = { email, password: body.newPassword, address }
  const session = await withPasswordDigest(db, passwords, person, async (tx, passwordDigest) => {
    await queries.savePassword.run(tx, { id: actor.id, passwordDigest })
    await queries.deleteLinks.run(tx, { userId: actor.id })
    await endSessions(tx, actor.id, userSessions)
    return completeSignIn(tx, { userId: actor.id, method, action: 'changePassword' }, call)
  })
  return answerSelf(db, actor.id, method, session, { mailer })
}

export async function listMySessions({ db, actor }: Call<'listMySessions'>): Promise<Answer<'listMySessions'>> {
  const rows = await queries.listSessions.all(db, { userId: actor.id, idleDays: limits.userSessionIdleDays })
  return { reply: rows.map((row) => viewSession(row, actor.person?.sessionId)) }
}

export async function endMySession(
  { db: tx, actor, id }: Call<'endMySession'>,
  { userSessions }: UserDeps,
): Promise<Answer<'endMySession'>> {
  if (!(await endSession(tx, { userId: actor.id, id }, userSessions))) refuse('not_found')
  const audited = { before: { id }, after: null }
  return { reply: { done: true }, audited, ...(id === actor.person?.sessionId ? { session: 'ended' as const } : {}) }
}
