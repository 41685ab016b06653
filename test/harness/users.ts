import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { UserRole } from '@penstock/wire'
import { addPasswordReset } from '../../packages/server/src/users/links.ts'
import type { Organization, Reply, TestService } from './service.ts'

/** People who have accepted their invitation, and the sessions of their browsers. */

export type Person = {
  readonly id: string
  readonly email: string
  readonly password: string
  readonly organizationId: string
  /** Headers of their browser: the cookie, and the token against cross-site request forgery. */
  readonly headers: { readonly cookie: string; readonly 'x-csrf-token': string }
}

export const newEmail = () => `person-${randomBytes(4).toString('hex')}@example.com`
export const goodPassword = 'a sentence of its own kind'

type Service = Pick<TestService, 'call'>

/** Invites a person, without accepting. */
export async function invite(
  service: Service,
  { token }: Partial<Pick<Organization, 'token'>>,
  {
    email = newEmail(),
    role = 'viewer',
    accountIds = null,
  }: { email?: string; role?: UserRole; accountIds?: string[] | null } = {},
): Promise<{ id: string; email: string; link: string; token: string }> {
  const reply = await service.call('inviteUser', {
    ...(token === undefined ? {} : { token }),
    body: { email, role, accountIds },
  })
  assert.equal(reply.status, 201, reply.text)
  const { user, link } = reply.response
  return { id: user.id, email, link, token: link.split('#')[1] ?? '' }
}

/** Adds a person who has accepted, and is signed in. */
export async function addPerson(
  service: Service,
  organization: Partial<Pick<Organization, 'token'>>,
  options: { email?: string; role?: UserRole; accountIds?: string[] | null; password?: string } = {},
): Promise<Person> {
  const { password = goodPassword } = options
  const invited = await invite(service, organization, options)
  const body = { token: invited.token, name: 'Ada Lopez', password }
  return personOf(await service.call('acceptInvitation', { body }), invited.email, password)
}

/** Signs a person in once more, in another browser. */
export async function signInAgain(service: Service, { email, password, organizationId }: Person): Promise<Person> {
  return personOf(await service.call('signIn', { body: { email, password, organizationId } }), email, password)
}

type MeReply = Reply<{ id: string; organizationId: string; csrfToken: string | null }>

function personOf(reply: MeReply, email: string, password: string): Person {
  assert.equal(reply.status, 200, reply.text)
  const { id, organizationId, csrfToken } = reply.response
  return { id, email, password, organizationId, headers: { cookie: cookieOf(reply), 'x-csrf-token': csrfToken ?? '' } }
}

/** The pair of name and value that a reply sets. */
export function cookieOf({ headers }: Pick<Reply, 'headers'>): string {
  const pair = headers['set-cookie']?.split(';')[0]
  assert(pair, 'the reply sets a cookie')
  return pair
}

/** The token of a link with which a person sets another password, as the operator's command makes it. */
export async function addResetLink({ database, config }: TestService, id: string): Promise<string> {
  const link = await database.transaction((tx) => addPasswordReset(tx, { id }, { config }))
  return link?.split('#')[1] ?? ''
}
