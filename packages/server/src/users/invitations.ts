import { record } from '../audit/record.ts'
import type { Answer, Call } from '../call.ts'
import type { Database } from '../db/database.ts'
import { violates } from '../db/errors.ts'
import { countMails } from '../organizations/mail-limit.ts'
import { refuse, refuseFieldErrors } from '../refusal.ts'
import { unixSeconds } from '../time.ts'
import type { UserDeps } from './deps.ts'
import { addPasswordReset, passwordResetMail } from './links.ts'
import * as queries from './queries.ts'
import { answerSelf } from './self.ts'
import { digestOf, endSessions } from './sessions.ts'
import { requireGoodPassword, withPasswordDigest } from './set-password.ts'
import { completeSignIn } from './sign-ins.ts'

/** Operations with links that people received: accept an invitation, set another password. */

/** The address of a person who was invited before their address was known. They enter it when they accept. */
export const unknownEmail = 'owner@localhost'

/** Finds the person of a link, without using it up. Refuses with `link_invalid`, and `rate_limited` after too many. */
async function requireLink(
  { db, address, body: { token } }: { db: Database; address: string; body: { token: string } },
  purpose: queries.LinkPurpose,
  { attempts }: UserDeps,
) {
  await attempts.check(purpose, address)
  const found = await queries.findLink.first(db, { digest: digestOf(token), purpose })
  if (found) return found
  await attempts.failed(purpose, address)
  refuse('link_invalid')
}

export async function getInvitation(call: Call<'getInvitation'>, deps: UserDeps): Promise<Answer<'getInvitation'>> {
  const { email, name, role, organizationId, organizationName, expiresTime } = await requireLink(
    call,
    'invitation',
    deps,
  )
  return {
    reply: {
      email: email === unknownEmail ? null : email,
      name,
      role,
      organizationId,
      organizationName,
      expiresTime: unixSeconds(expiresTime),
    },
  }
}

/** Signs the person in. Of two requests with one link, one succeeds. */
export async function acceptInvitation(
  call: Call<'acceptInvitation'>,
  deps: UserDeps,
): Promise<Answer<'acceptInvitation'>> {
  const { db, body } = call
  const invited = await requireLink(call, 'invitation', deps)
  const { organizationName } = invited
  const given = body.email?.trim()
  if (invited.email === unknownEmail && given === undefined) {
    refuseFieldErrors([{ field: 'body.email', message: 'is missing: the invitation names none' }])
  }
  if (invited.email !== unknownEmail && given !== undefined && given.toLowerCase() !== invited.email.toLowerCase()) {
    refuseFieldErrors([{ field: 'body.email', message: 'is not the address that is invited' }])
  }
  const email = invited.email === unknownEmail ? (given ?? invited.email) : invited.email
  requireGoodPassword('body.password', body.password, { email, organizationName })
  const person = { email, password: body.password, address: call.address }
  const session = await withPasswordDigest(db, deps.passwords, person, async (tx, passwordDigest) => {
    const used = await queries.takeLink.first(tx, { digest: digestOf(body.token), purpose: 'invitation' })
    const { userId } = used ?? refuse('link_invalid')
    await queries.deleteLinks.run(tx, { userId })
    if (invited.email === unknownEmail) {
      const { organizationId } = invited
      await queries.lockOrganization.first(tx, { organizationId })
      const same = { organizationId, accountIds: null, email, exceptId: userId }
      if (await queries.findVisibleByEmail.first(tx, same)) refuse('user_exists')
    }
    try {
      await queries.joinUser.run(tx, { id: userId, name: body.name.trim(), email, passwordDigest })
    } catch (error) {
      if (violates(error, 'users_email')) refuse('user_exists')
      throw error
    }
    return completeSignIn(tx, { userId, method: 'password', action: 'acceptInvitation' }, call)
  })
  return answerSelf(db, invited.id, 'password', session, deps)
}

/** Everything that depends on whether there is such a person happens after the answer. */
export async function requestPasswordReset(
  { db, body, address }: Call<'requestPasswordReset'>,
  { attempts, mailer, config }: UserDeps,
): Promise<Answer<'requestPasswordReset'>> {
  const email = body.email.trim()
  // Each counts, so that no mailbox can be filled from one address.
  const key = `reset\n${email.toLowerCase()}`
  await attempts.check(key, address)
  await attempts.failed(key, address)
  mailer.inBackground(async () => {
    let limited = 0
    for (const row of await queries.joinedByEmail.all(db, { email, limit: 20 })) {
      const { organizationId } = row
      const link = await db.transaction(async (tx) => {
        const added = await addPasswordReset(tx, row, { config })
        if (added === undefined) return undefined
        const mail = { organizationId, kind: 'passwordReset', recipients: [row.email] } as const
        if ((await countMails(tx, mail)).allowed.length > 0) return added
        limited++
        return undefined
      })
      if (link !== undefined) mailer.send(passwordResetMail(row, link))
    }
    // The request was answered long ago: the log says it.
    if (limited > 0)
      throw new Error('The limit of mails of an organization or a recipient is reached: no link was mailed')
  })
  return { reply: { mail: mailer.isSetUp } }
}

/** Ends every session of the person. They then sign in with the new password. */
export async function resetPassword(call: Call<'resetPassword'>, deps: UserDeps): Promise<Answer<'resetPassword'>> {
  const { db, body } = call
  const { email, name, organizationId, organizationName } = await requireLink(call, 'password reset', deps)
  requireGoodPassword('body.newPassword', body.newPassword, { email, organizationName })
  const person = { email, password: body.newPassword, address: call.address }
  await withPasswordDigest(db, deps.passwords, person, async (tx, passwordDigest) => {
    const used = await queries.takeLink.first(tx, { digest: digestOf(body.token), purpose: 'password reset' })
    const { userId } = used ?? refuse('link_invalid')
    await queries.savePassword.run(tx, { id: userId, passwordDigest })
    await queries.deleteLinks.run(tx, { userId })
    await endSessions(tx, userId, deps.userSessions)
    const { address, requestId } = call
    const actor = { kind: 'user', id: userId, name } as const
    record(tx, { organizationId, actor, action: 'resetPassword', targetId: userId, address, requestId })
  })
  return { reply: { email, organizationId } }
}
