import { createHmac } from 'node:crypto'
import { identifierPattern, limits } from '@penstock/wire'
import { challengeOf, digestOf, isToken, newToken, verifierOf } from '../authorizations/tokens.ts'
import type { Database, Transaction } from '../db/database.ts'
import { Refusal } from '../refusal.ts'
import type { Keyring } from '../secrets/keyring.ts'
import { newChallenge, openChallenge } from '../users/challenges.ts'
import type { BegunSession, SignInPlace } from '../users/sessions.ts'
import { completeSignIn, failSignIn } from '../users/sign-ins.ts'
import { linkByEmail, newLink, redirectUriOf } from '../users/single-sign-on.ts'
import { askProvider, openClient, type SingleSignOnDeps } from './provider.ts'
import * as queries from './queries.ts'

/**
 * The flow in the browser of a person who signs in with the identity provider of their organization: it goes to the
 * provider and comes back. The answer can be used once, in the browser that began.
 */

/** A page of the flow. Of the data from the provider or the browser, it contains only codes. */
export type SignInPage = {
  readonly status: number
  readonly title: string
  readonly message: string
  /** The token with which the person confirms that it is them, as they sign in in another way. */
  readonly link?: string
}

export type SingleSignOnFlowDeps = SingleSignOnDeps & { readonly database: Database }

/** Query parameters of the provider's redirect, unvalidated. */
export type ProviderAnswer = Readonly<Record<'state' | 'code' | 'error' | 'iss', unknown>>

const again = 'Start again from the sign-in page.'
const pages = {
  unknown: {
    status: 404,
    title: 'No single sign-on here',
    message:
      'There is no organization with single sign-on at this address. Check the address, or ask your administrator.',
  },
  unknownState: {
    status: 400,
    title: 'This answer is not expected',
    message: `It was used before, is older than ${limits.singleSignOnMinutes} minutes, or the sign-in was started in another browser. ${again}`,
  },
  invalidAnswer: { status: 400, title: 'The answer of the identity provider is not valid', message: again },
  notAllowed: {
    status: 403,
    title: 'You are not in this organization',
    message:
      'The identity provider knows you, but no person of the organization has an e-mail address that it has verified for you. Ask your administrator to invite you.',
  },
  invitedOwner: {
    status: 403,
    title: 'Accept your invitation first',
    message:
      'You are invited as an owner. Open the link of your invitation and set a password. Then sign in with single sign-on again.',
  },
  confirm: {
    status: 403,
    title: 'Confirm that it is you',
    message: `A person of the organization has your e-mail address, and signs in with a password or a passkey. Sign in with it once, within ${limits.singleSignOnMinutes} minutes: from then on, single sign-on is enough. If you have neither, request a new password there.`,
  },
  deactivated: {
    status: 403,
    title: 'You are deactivated',
    message: 'Your organization has deactivated you here. Ask your administrator to activate you.',
  },
  otherIdentity: {
    status: 403,
    title: 'This e-mail address belongs to another account',
    message:
      'Another account at the identity provider has signed in as this person. Ask your administrator to remove the person and invite you again.',
  },
} as const satisfies Record<string, SignInPage>

/** Characters of the values that the provider returns. The standards do not limit their length. */
const parameterPattern = /^[\x20-\x7e]{1,4096}$/
const wellFormedId = new RegExp(identifierPattern)
const emailPattern = /^[^\s@<>()[\]\\,;:"\p{Cc}]+@([^\s@<>()[\]\\,;:"\p{Cc}]+)$/u

/** Binding of a state to its organization and its browser. */
const purposeOf = (organizationId: string, browser: string) => [
  'single sign-on',
  organizationId,
  digestOf(browser).toString('hex'),
]
/** Derived from a value that only the browser has, like the code verifier. */
const nonceOf = (browser: string, state: string): string =>
  createHmac('sha256', browser).update(`nonce ${state}`).digest('base64url')

export function createSingleSignOnFlow(deps: SingleSignOnFlowDeps) {
  const { config, database, keyring, attempts, userSessions } = deps
  const find = async (organizationId: unknown) =>
    typeof organizationId === 'string' && wellFormedId.test(organizationId)
      ? queries.findProvider.first(database, { organizationId })
      : undefined
  return {
    /** Describes where a person who came from another site is about to sign in. */
    async describe(organizationId: unknown): Promise<{ organization: string } | SignInPage> {
      const provider = await find(organizationId)
      return provider ? { organization: provider.organizationName } : pages.unknown
    },

    /**
     * Returns where to send the browser, and the values that the browser keeps for this state. It stores nothing and calls no
     * other system, because anyone can open this address.
     */
    async open(organizationId: unknown): Promise<{ url: string; state: string; browser: string } | SignInPage> {
      const provider = await find(organizationId)
      if (!provider) return pages.unknown
      const browser = newToken()
      const state = await newChallenge(
        database,
        keyring,
        purposeOf(provider.organizationId, browser),
        limits.singleSignOnMinutes,
      )
      const url = new URL(provider.authorizationEndpoint)
      for (const [name, value] of Object.entries({
        response_type: 'code',
        client_id: provider.clientId,
        redirect_uri: redirectUriOf(config),
        scope: 'openid email profile',
        state,
        nonce: nonceOf(browser, state),
        code_challenge: challengeOf(verifierOf(browser, state)),
        code_challenge_method: 'S256',
      })) {
        url.searchParams.set(name, value)
      }
      return { url: url.href, state, browser: `${provider.organizationId}.${browser}` }
    },

    /**
     * Handles the answer of the provider: a runner asks the provider who the person is, and the person's session begins.
     * @param sessionToken the present session of the browser, which may be needed to confirm who the person is
     */
    async finish(
      { state, code, error, iss }: ProviderAnswer,
      cookie: unknown,
      place: SignInPlace,
      signal: AbortSignal,
      sessionToken: string | undefined,
    ): Promise<{ session: BegunSession } | SignInPage> {
      const [organizationId = '', browser] = typeof cookie === 'string' ? cookie.split('.') : []
      const provider = await find(organizationId)
      if (!provider || !isToken(browser) || typeof state !== 'string') return pages.unknownState
      const challenge = await openChallenge(database, keyring, purposeOf(organizationId, browser), state)
      if (!challenge || !(await challenge.use(database))) return pages.unknownState
      if (error !== undefined) return refusedBy(error)
      const isGiven = (value: unknown): value is string => typeof value === 'string' && parameterPattern.test(value)
      if (!isGiven(code) || (iss !== undefined && !isGiven(iss))) return pages.invalidAnswer
      await attempts.check(attemptsKey, place.address)
      const fail = async (page: SignInPage): Promise<SignInPage> => {
        const failure = { method: 'single sign-on', email: attemptsKey, organizationId } as const
        await failSignIn(failure, place, deps).catch((refusal) => {
          if (!(refusal instanceof Refusal) || refusal.code !== 'sign_in_failed') throw refusal
        })
        return page
      }
      const client = await openClient(database, keyring, provider)
      if (!client) return pages.unknownState
      const parameters = { code, state, ...(iss === undefined ? {} : { iss }) }
      const answer = { parameters, state, nonce: nonceOf(browser, state), verifier: verifierOf(browser, state) }
      const asked = await askProvider(deps, organizationId, { issuer: provider.issuer, client, answer }, signal)
      if (!asked.ok) {
        return fail({
          status: 422,
          title: 'The identity provider did not complete the sign-in',
          message: `${asked.failure.message} ${again}`,
        })
      }
      const { person } = asked.value
      if (!person) return fail(pages.invalidAnswer)
      const present = sessionToken === undefined ? undefined : await userSessions.authenticate(sessionToken)
      // A session that began at a provider proves no more than the provider's answer.
      const confirmedId = present?.person?.method === 'single sign-on' ? undefined : present?.id
      const found = await database.transaction(async (tx) => {
        const userId = await findPerson(tx, keyring, provider, person, confirmedId)
        if (typeof userId !== 'string') return userId
        const by = { userId, method: 'single sign-on', action: 'signInWithSingleSignOn' } as const
        return { session: await completeSignIn(tx, by, place) }
      })
      // A person who must confirm has not failed.
      return 'session' in found || found.link !== undefined ? found : fail(found)
    },
  }
}

/** Failures are counted only by address, because the person is not known before the provider answers. */
const attemptsKey = 'single sign-on'

type Person = { subject: string; email: string | null; emailVerified: boolean; name: string | null }

/**
 * Finds the person of this organization by issuer and subject, or by a verified e-mail address, which links them if
 * that suffices. The provider affects only this organization.
 */
async function findPerson(
  tx: Transaction,
  keyring: Keyring,
  { organizationId, issuer, emailDomains, newUserRole, newUserAccountIds }: queries.ProviderRow,
  { subject, email, emailVerified, name }: Person,
  confirmedId: string | undefined,
): Promise<string | SignInPage> {
  // The lock keeps the settings unchanged until the session has begun.
  const present = await queries.lockProvider.first(tx, { organizationId })
  if (present?.issuer !== issuer) return pages.unknownState
  const known = await queries.findIdentity.first(tx, { organizationId, issuer, subject })
  if (known) return known.isDeactivated ? pages.deactivated : known.userId
  const domain = email !== null && email.length <= limits.emailLengthMax ? emailPattern.exec(email)?.[1] : undefined
  if (email === null || domain === undefined || !emailVerified) return pages.notAllowed
  if (emailDomains && !emailDomains.includes(domain.toLowerCase())) return pages.notAllowed
  const newUser = newUserRole ? { role: newUserRole, accountIds: newUserAccountIds } : undefined
  const shown =
    name
      ?.replaceAll(/\p{Cc}+/gu, ' ')
      .trim()
      .slice(0, limits.nameLengthMax) || email
  const identity = { organizationId, issuer, subject }
  const found = await linkByEmail(tx, identity, { email, name: shown }, newUser, confirmedId)
  switch (found.next) {
    case 'signed in':
      return found.userId
    case 'confirm':
      return { ...pages.confirm, link: await newLink(tx, keyring, identity, found.userId) }
    case 'invited as an owner':
      return pages.invitedOwner
    case 'deactivated':
      return pages.deactivated
    case 'another account':
      return pages.otherIdentity
    default:
      return pages.notAllowed
  }
}

function refusedBy(error: unknown): SignInPage {
  const code = typeof error === 'string' && /^[a-z_]{1,40}$/.test(error) ? ` (${error})` : ''
  return {
    status: 403,
    title: 'The identity provider refused the sign-in',
    message: `It reports an error${code}. ${again}`,
  }
}
