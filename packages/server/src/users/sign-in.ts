import type { Answer, Call } from '../call.ts'
import { refuse } from '../refusal.ts'
import type { UserDeps } from './deps.ts'
import * as queries from './queries.ts'
import { answerSelf } from './self.ts'
import { endSession, endSessions } from './sessions.ts'
import { addressesOf, attemptsKey, completeSignIn, failSignIn, methodOf } from './sign-ins.ts'

/** Sign-in with e-mail address and password, and sign-out. */

/**
 * Every failure takes the same work: one statement and one run of argon2id. An address can belong to several organizations,
 * which do not know of each other. The password decides which one the person signs in to.
 */
export async function signIn(call: Call<'signIn'>, deps: UserDeps): Promise<Answer<'signIn'>> {
  const { db, body, address } = call
  const { attempts, passwords, requestLimit } = deps
  const email = body.email.trim()
  const organizationId = body.organizationId ?? null
  const key = attemptsKey(email)
  const proven = addressesOf(db, email)
  await attempts.check(key, address, proven)
  const found = await queries.findPasswords.all(db, { email, organizationId })
  const people = found.flatMap(({ passwordDigest, ...one }) => (passwordDigest ? [{ ...one, passwordDigest }] : []))
  const right = await passwords.matches(
    body.password,
    people.map(({ passwordDigest }) => passwordDigest),
    address,
  )
  const [person, ...more] = people.filter((_, i) => right[i])
  if (!person) {
    return failSignIn({ method: 'password', email, organizationId: body.organizationId }, call, deps, proven)
  }
  // Concurrent guesses are limited in the same way as sequential ones.
  await attempts.check(key, address, proven)
  attempts.succeeded(key, address)
  await requestLimit(person.id)
  // If two people of one organization have the same address and password, the person who joined first is signed in.
  const others = more.filter((one) => one.organizationId !== person.organizationId)
  if (others.length > 0) {
    const names = [person, ...others].map((one) => `${one.organizationId} (${one.organizationName})`)
    refuse('organization_required', [{ field: 'body.organizationId', message: `name one of ${names.join(', ')}` }])
  }
  const { id: userId, passwordDigest: before } = person
  let passwordDigest = before
  if (passwords.isOutdated(before)) {
    const fresh = await passwords.digest(body.password, before, address)
    const replaced = await queries.replaceDigest.run(db, { id: userId, before, passwordDigest: fresh })
    if (replaced > 0) passwordDigest = fresh
  }
  const signedIn = { userId, method: 'password', passwordDigest } as const
  const confirming = { keyring: deps.keyring, token: body.link }
  const session = await db.transaction((tx) => completeSignIn(tx, signedIn, call, confirming))
  return answerSelf(db, person.id, methodOf('password', body.link), session, deps)
}

export async function signOut(
  { db: tx, actor: { id: userId, person } }: Call<'signOut'>,
  { userSessions }: UserDeps,
): Promise<Answer<'signOut'>> {
  if (person) await endSession(tx, { userId, id: person.sessionId }, userSessions)
  return { reply: { done: true }, session: 'ended' }
}

export async function endMySessions(
  { db: tx, actor: { id: userId } }: Call<'endMySessions'>,
  { userSessions }: UserDeps,
): Promise<Answer<'endMySessions'>> {
  await endSessions(tx, userId, userSessions)
  return { reply: { done: true }, session: 'ended' }
}
