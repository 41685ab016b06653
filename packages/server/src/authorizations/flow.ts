import type { Authorization, Connector } from '@penstock/connector'
import { errors, limits } from '@penstock/wire'
import { changesBetween, record, serviceActor } from '../audit/record.ts'
import type { ActingAccount, Awaitable } from '../call.ts'
import type { Config } from '../config.ts'
import type { Catalogue } from '../connectors/catalogue.ts'
import { lockConfiguration, saveConfiguration } from '../connectors/configuration.ts'
import type { Database, Db } from '../db/database.ts'
import { isEditable, Refusal } from '../refusal.ts'
import type { SecretManagers } from '../secret-managers/secret-managers.ts'
import type { Keyring } from '../secrets/keyring.ts'
import { openOAuthApp } from '../secrets/oauth-apps.ts'
import type { InteractiveJobs } from '../transfers/interactive.ts'
import { JobHost } from '../transfers/job-host.ts'
import {
  deleteAuthorization,
  endAuthorization,
  findLink,
  findState,
  openAuthorization,
  takeAuthorization,
} from './queries.ts'
import { challengeOf, digestOf, isToken, newToken, verifierOf } from './tokens.ts'

/**
 * The flow in the browser of the person who consents: it opens the link, goes to the platform, and comes back. The link
 * can be used once, and so can the answer of the platform, in the browser that opened the link.
 */

/** A page of the flow. Of the data from the platform or the browser, it contains only codes. */
export type FlowPage = {
  readonly status: number
  readonly title: string
  readonly message: string
  /** The sub-account that the page leads back to. `elsewhere` means that the flow did not start in the console. */
  readonly accountId?: string | 'elsewhere'
}

/** Page for a person who comes from another site, before the link is used. It names the organization that gets the access. */
export type ConfirmPage = { readonly platform: string; readonly connector: string; readonly receiver: string }

export type OpenedLink = { readonly url: string; readonly state: string; readonly browser: string } | FlowPage

/** Query parameters of the platform's redirect, unvalidated. */
export type PlatformAnswer = {
  readonly state: unknown
  readonly code: unknown
  readonly error: unknown
  readonly iss: unknown
}

export type FlowDeps = {
  readonly config: Config
  readonly database: Database
  readonly keyring: Keyring
  readonly secretManagers: SecretManagers
  readonly catalogue: Catalogue
  readonly interactive: InteractiveJobs
  readonly accounts: {
    find(db: Db, organizationId: string, accountId: string, forWrite: boolean): Awaitable<ActingAccount | undefined>
  }
  /** Whether the page of a connect link still works, which has the person consent. */
  readonly isLinkOpen: (db: Db, id: string) => Promise<boolean>
}

const exchangeTimeoutMs = 30_000
/** Characters of a code. The standard does not limit the length. */
const codePattern = /^[\x20-\x7e]{1,4096}$/
const again = 'Start the authorization again from the connector.'

const pages = {
  unknownLink: {
    status: 404,
    title: 'This link is not known',
    message: `It was never given out, its connector was removed, or it is too old. ${again}`,
  },
  usedLink: { status: 410, title: 'This link was opened before', message: `A link can be opened once. ${again}` },
  expired: {
    status: 410,
    title: 'The authorization has expired',
    message: `It can be completed within ${limits.authorizationMinutes} minutes. ${again}`,
  },
  unknownState: {
    status: 400,
    title: 'This answer is not expected',
    message: `It was used before, is too old, or belongs to no authorization that was started here. Nothing was changed. ${again}`,
  },
  otherBrowser: {
    status: 403,
    title: 'The authorization was started in another browser',
    message: `Nothing was changed. Open the link and consent in the same browser, and allow cookies of this site. ${again}`,
  },
  invalidAnswer: {
    status: 400,
    title: 'The answer of the platform is not valid',
    message: `Nothing was changed. ${again}`,
  },
  removed: {
    status: 409,
    title: 'The connector was removed',
    message:
      'It was removed from the sub-account after the authorization was started. Add it again, then authorize it.',
  },
  linkEnded: {
    status: 409,
    title: 'The link that led here has ended',
    message: 'Nothing was saved. Ask the one who sent you the link for a new one.',
  },
} as const satisfies Record<string, FlowPage>

/** The address that the operator registers with platforms: they send the browser back to it. */
export const redirectUriOf = ({ publicUrl }: Pick<Config, 'publicUrl'>): string => `${publicUrl}/oauth/callback`

export function createAuthorizationFlow(deps: FlowDeps) {
  const { config, database, catalogue } = deps
  const redirectUri = redirectUriOf(config)
  return {
    /**
     * Describes whom the access is for. A person who did not come from the console needs this: anyone can send such a link, and
     * the platform shows only the name of the operator's app. Does not use up the link.
     */
    async describe(link: unknown): Promise<ConfirmPage | FlowPage> {
      const row = isToken(link) ? await findLink.first(database, { linkDigest: digestOf(link) }) : undefined
      const connector = row && catalogue.known(row.connectorId)
      if (!row || !connector?.authorization) return pages.unknownLink
      if (row.opened) return pages.usedLink
      if (!row.live) return pages.expired
      const receiver = `${row.accountName} (${row.organizationName})`
      return { platform: connector.authorization.server.name, connector: connector.name, receiver }
    },

    /**
     * Opens a link, which can be done once: it is bound to the browser.
     * @returns where to send the browser, and the token that it keeps for this state. The token is always a new one: one
     *   that the browser brings can be another person's.
     */
    async open(link: unknown): Promise<OpenedLink> {
      if (!isToken(link)) return pages.unknownLink
      const linkDigest = digestOf(link)
      const state = newToken()
      const browser = newToken()
      const digests = { linkDigest, stateDigest: digestOf(state), browserDigest: digestOf(browser) }
      const row = await openAuthorization.first(database, digests)
      if (!row) {
        const found = await findLink.first(database, { linkDigest })
        return found ? (found.opened ? pages.usedLink : pages.expired) : pages.unknownLink
      }
      const { authorization } = catalogue.known(row.connectorId)
      if (!authorization) return pages.unknownLink
      const verifier = authorization.server.pkce ? verifierOf(browser, state) : undefined
      return { url: addressOf(authorization, { clientId: row.clientId, redirectUri, state, verifier }), state, browser }
    },

    /**
     * Handles the answer of the platform: exchanges the code in a runner, and saves the grant in the same way as configuring
     * does.
     * @param cookie the token of the browser
     * @param signal aborted when the browser has gone
     */
    async finish(answer: PlatformAnswer, cookie: unknown, signal: AbortSignal): Promise<FlowPage> {
      const { state, error } = answer
      if (!isToken(state)) return pages.unknownState
      const stateDigest = digestOf(state)
      const taken = isToken(cookie)
        ? await takeAuthorization.first(database, { stateDigest, browserDigest: digestOf(cookie) })
        : undefined
      if (!taken || !isToken(cookie)) {
        return (await findState.first(database, { stateDigest })) ? pages.otherBrowser : pages.unknownState
      }
      // A customer came from the page of a connect link, and knows no console.
      const accountId = taken.actorKind === 'link' ? 'elsewhere' : taken.accountId
      const { linkDigest } = taken
      const end = (outcome: 'declined' | 'failed') => endAuthorization.run(database, { linkDigest, outcome })
      const isDeclined = declines.includes(error as string)
      try {
        const refusal = await complete(deps, taken, answer, { redirectUri, browser: cookie, state }, signal)
        if (refusal) await end(isDeclined ? 'declined' : 'failed')
        return { ...(refusal ?? granted(catalogue.known(taken.connectorId))), accountId }
      } catch (thrown) {
        await end('failed').catch(() => {})
        throw thrown
      }
    },
  }
}

/** Error codes of platforms if the user did not consent: of the standard, and of LinkedIn. */
const declines = ['access_denied', 'user_cancelled_authorize', 'user_cancelled_login']

/** Exchanges what the platform answered, and saves it. Resolves with a page if there is nothing to save. */
async function complete(
  deps: FlowDeps,
  taken: Taken,
  { code, error, iss }: PlatformAnswer,
  { redirectUri, browser, state }: { redirectUri: string; browser: string; state: string },
  signal: AbortSignal,
): Promise<FlowPage | undefined> {
  if (!taken.live) return pages.expired
  const connector = deps.catalogue.known(taken.connectorId)
  const { authorization } = connector
  if (!authorization) return pages.unknownState
  const { server } = authorization
  if (iss !== undefined && server.issuer !== undefined && iss !== server.issuer) return pages.invalidAnswer
  if (error !== undefined) return refusedBy(server.name, error)
  if (typeof code !== 'string' || !codePattern.test(code)) return pages.invalidAnswer
  const verifier = server.pkce ? verifierOf(browser, state) : null
  const exchanged = await exchange(deps, connector, authorization, taken, { code, verifier, redirectUri }, signal)
  if ('status' in exchanged) return exchanged
  return save(deps, connector, authorization, taken, exchanged.refreshToken)
}

type Taken = NonNullable<Awaited<ReturnType<typeof takeAuthorization.first>>>

/** Where the person consents. Spaces are written as %20, which every platform reads. */
function addressOf(
  { server, scopes }: Authorization,
  given: { clientId: string; redirectUri: string; state: string; verifier: string | undefined },
): string {
  const { clientId, redirectUri, state, verifier } = given
  const parameters = {
    ...server.authorizeParameters,
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    state,
    scope: scopes.join(server.scopeSeparator ?? ' '),
    ...(verifier === undefined ? {} : { code_challenge: challengeOf(verifier), code_challenge_method: 'S256' }),
  }
  const query = Object.entries(parameters).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  return `${server.authorizeUrl}?${query.join('&')}`
}

/** Has a runner exchange the code. */
async function exchange(
  { config, database, keyring, interactive }: FlowDeps,
  connector: Connector,
  { server }: Authorization,
  { accountId, organizationId, clientId }: Taken,
  consented: { code: string; verifier: string | null; redirectUri: string },
  signal: AbortSignal,
): Promise<{ refreshToken: string } | FlowPage> {
  const app = await openOAuthApp(database, keyring, { env: config.environment.name, slug: server.slug })
  if (app?.clientId !== clientId || app === undefined) {
    return {
      status: 409,
      title: `The app at ${server.name} was changed`,
      message: `The operator removed it or registered another one after the authorization was started. ${again}`,
    }
  }
  const client = { id: app.clientId, secret: app.clientSecret }
  const result = await interactive.run(
    { kind: 'authorization', slug: connector.slug, client, ...consented, deadlineMs: exchangeTimeoutMs },
    { organizationId, id: accountId },
    signal,
    new JobHost({ database, keyring }),
  )
  if (result.ok) return result.value
  return {
    status: 422,
    title: `${server.name} did not complete the authorization`,
    message: `${result.failure.message} Nothing was changed. ${again}`,
  }
}

/** Saves the grant. Resolves with a page if that is no longer possible. */
async function save(
  deps: FlowDeps,
  connector: Connector,
  { client, refreshToken: key, sets }: Authorization,
  { linkDigest, accountId, organizationId, connectorId, configurationId, clientId, ...by }: Taken,
  refreshToken: string,
): Promise<FlowPage | undefined> {
  // The actor is the person or client that requested the link. Only the platform knows the person who consents.
  const actor = by.actorKind ? { kind: by.actorKind, id: by.actorId, name: by.actorName } : serviceActor
  try {
    return await deps.database.transaction(async (tx) => {
      if (by.actorKind === 'link' && !(await deps.isLinkOpen(tx, by.actorId ?? ''))) return pages.linkEnded
      const account = await deps.accounts.find(tx, organizationId, accountId, true)
      // If the connector was removed and added again, the consent was not for this configuration.
      const row = account && (await lockConfiguration(tx, { accountId, connectorId, configurationId }))
      if (!row || !isEditable(row, deps)) return pages.removed
      const secretConfig = { ...sets, [client.id]: null, [client.secret]: null, [key]: refreshToken }
      const given = { secretConfig, oauthClientId: clientId }
      const { audited } = await saveConfiguration(tx, connector, account, row, given, deps)
      const { before, after } = changesBetween(audited.before, audited.after) ?? { before: null, after: null }
      record(tx, {
        organizationId,
        actor,
        action: 'authorizationSaved',
        accountId,
        targetId: connectorId,
        before,
        after,
        details: audited.details,
      })
      await deleteAuthorization.run(tx, { linkDigest })
      return undefined
    }, actor)
  } catch (error) {
    if (!(error instanceof Refusal) || errors[error.code].status >= 500) throw error
    const details = error.fieldErrors.map(({ message }) => message).join('; ')
    return { status: 409, title: 'What was granted cannot be saved', message: `${error.message} ${details}`.trim() }
  }
}

const granted = ({ name }: Connector): FlowPage => ({
  status: 200,
  title: `${name} is authorized`,
  message:
    'What was granted is sealed and saved in the connector. If a connection was broken, activate it. You can close this page.',
})

function refusedBy(platform: string, error: unknown): FlowPage {
  if (declines.includes(error as string)) {
    return {
      status: 403,
      title: 'Access was not granted',
      message: `You declined at ${platform}, or your user may not grant this access. Nothing was changed. ${again}`,
    }
  }
  const code = typeof error === 'string' && /^[a-z_]{1,40}$/.test(error) ? ` (${error})` : ''
  return {
    status: 422,
    title: `${platform} refused the authorization`,
    message: `${platform} reports an error${code}. Nothing was changed. Ask your operator to check the app at ${platform}: its redirect URI, its scopes and whether it is approved.`,
  }
}
