import { isPlainHttpAllowed } from '@penstock/connector'
import type { SingleSignOnJob } from '@penstock/engine'
import { type SingleSignOn, secretMask, type UserRole } from '@penstock/wire'
import { requireAllAccounts, requireUnlimited } from '../access.ts'
import { changesBetween, record } from '../audit/record.ts'
import type { Answer, Call } from '../call.ts'
import type { Config } from '../config.ts'
import type { Database } from '../db/database.ts'
import { refuse, refuseFieldErrors } from '../refusal.ts'
import type { Keyring } from '../secrets/keyring.ts'
import { openOAuthApp, removeOAuthApp, setOAuthApp } from '../secrets/oauth-apps.ts'
import { unixSeconds } from '../time.ts'
import type { InteractiveJobs } from '../transfers/interactive.ts'
import { JobHost } from '../transfers/job-host.ts'
import type { UserDeps } from '../users/deps.ts'
import { endProviderSessions, endSessionsBefore, forgetIdentities, redirectUriOf } from '../users/single-sign-on.ts'
import { requireGrantableRole } from '../users/users.ts'
import * as queries from './queries.ts'

/** The identity provider of an organization: its settings, and requests to it. */

export type SingleSignOnDeps = UserDeps & { readonly interactive: InteractiveJobs }

const deadlineMs = 30_000

/** Under which the client secret is sealed: the client is an app that the organization registered with its provider. */
const appOf = (organizationId: string) => ({ env: `organization:${organizationId}`, slug: 'single-sign-on' })

/**
 * Sends requests to a provider from a runner and through egress, because a tenant chooses its address, and so controls its
 * answers.
 */
export function askProvider(
  {
    config,
    database,
    keyring,
    interactive,
  }: { config: Config; database: Database; keyring: Keyring; interactive: InteractiveJobs },
  organizationId: string,
  asked: Pick<SingleSignOnJob, 'issuer' | 'client' | 'answer'>,
  signal: AbortSignal,
) {
  return interactive.run(
    { kind: 'single sign-on', ...asked, redirectUri: redirectUriOf(config), deadlineMs },
    // Separate turns: sign-ins do not delay checks, and checks do not delay sign-ins.
    { organizationId: `single sign-on ${organizationId}`, id: organizationId },
    signal,
    new JobHost({ database, keyring }),
  )
}

/** The client with its secret. Undefined if there is no client for this client ID. */
export async function openClient(
  database: Database,
  keyring: Keyring,
  { organizationId, clientId }: Pick<queries.ProviderRow, 'organizationId' | 'clientId'>,
): Promise<{ id: string; secret: string } | undefined> {
  const app = await openOAuthApp(database, keyring, appOf(organizationId))
  return app?.clientId === clientId ? { id: clientId, secret: app.clientSecret } : undefined
}

const view = (row: queries.ProviderRow, config: Config): SingleSignOn => ({
  issuer: row.issuer,
  clientId: row.clientId,
  clientSecret: secretMask,
  emailDomains: row.emailDomains,
  newUsers: row.newUserRole && {
    role: row.newUserRole as Exclude<UserRole, 'owner'>,
    accountIds: row.newUserAccountIds,
  },
  required: row.required,
  redirectUri: redirectUriOf(config),
  signInUrl: `${config.publicUrl}/sso/${row.organizationId}`,
  savedTime: unixSeconds(row.savedTime),
})

export async function getSingleSignOn(
  { db, actor }: Call<'getSingleSignOn'>,
  { config }: SingleSignOnDeps,
): Promise<Answer<'getSingleSignOn'>> {
  requireAllAccounts(actor)
  const row = await queries.findProvider.first(db, { organizationId: actor.organizationId })
  return { reply: view(row ?? refuse('not_found'), config) }
}

/** Refuses a provider that does not answer as one: nothing is saved then. */
export async function setSingleSignOn(
  call: Call<'setSingleSignOn'>,
  deps: SingleSignOnDeps,
): Promise<Answer<'setSingleSignOn'>> {
  const { db: database, actor, body, signal } = call
  const { config, keyring, userSessions } = deps
  const { organizationId } = actor
  requireUnlimited(actor)
  const { issuer, clientId, clientSecret, emailDomains = null, newUsers = null, required } = body
  const url = URL.canParse(issuer) ? new URL(issuer) : undefined
  const isSecure =
    url?.protocol === 'https:' || (url?.protocol === 'http:' && isPlainHttpAllowed(url, config.plainHttp))
  if (!url || !isSecure || url.username || url.password || url.search || url.hash) {
    const message = 'must be an address that begins with https://, without user name, query or fragment'
    refuseFieldErrors([{ field: 'body.issuer', message }])
  }
  const before = await queries.findProvider.first(database, { organizationId })
  // A secret is valid only for its own client, and is sent only to the issuer that it was saved for.
  const isSame = before?.issuer === issuer && before.clientId === clientId
  const saved = isSame ? await openClient(database, keyring, { organizationId, clientId }) : undefined
  const secret = clientSecret === undefined || clientSecret === secretMask ? saved?.secret : clientSecret
  if (secret === undefined) {
    const message = 'is missing: it is needed for another issuer or client'
    return refuse('invalid_request', [{ field: 'body.clientSecret', message }])
  }
  // Before the transaction: no connection waits for the provider.
  const client = { id: clientId, secret }
  const asked = await askProvider({ ...deps, database }, organizationId, { issuer, client, answer: null }, signal)
  if (!asked.ok) return refuse('provider_refused', [{ field: 'body.issuer', message: asked.failure.message }])
  const { authorizationEndpoint } = asked.value
  return database.transaction(async (tx) => {
    if (newUsers) await requireGrantableRole(tx, actor, newUsers.role, newUsers.accountIds ?? null)
    await queries.lockProvider.first(tx, { organizationId })
    const present = await queries.findProvider.first(tx, { organizationId })
    await setOAuthApp(tx, keyring, appOf(organizationId), { clientId, clientSecret: secret })
    await queries.saveProvider.run(tx, {
      organizationId,
      issuer,
      clientId,
      authorizationEndpoint,
      required,
      emailDomains: emailDomains?.map((domain) => domain.toLowerCase()) ?? null,
      newUserRole: newUsers?.role ?? null,
      newUserAccountIds: newUsers?.accountIds ?? null,
    })
    if (present && present.issuer !== issuer) await endProviderSessions(tx, organizationId, userSessions)
    if (required) await endSessionsBefore(tx, organizationId, userSessions)
    const row = (await queries.findProvider.first(tx, { organizationId })) ?? refuse('not_found')
    const reply = view(row, config)
    const changes = changesBetween(present ? view(present, config) : null, reply)
    const { address, requestId } = call
    record(tx, {
      organizationId,
      actor: { kind: actor.kind, id: actor.id, name: actor.name },
      action: 'setSingleSignOn',
      address,
      requestId,
      ...changes,
      details: { secretReplaced: secret !== saved?.secret },
    })
    return { reply }
  }, actor)
}

/** People sign in as before. Their identifiers at the provider are removed, and the sessions that began there end. */
export async function deleteSingleSignOn(
  { db: tx, actor }: Call<'deleteSingleSignOn'>,
  { config, userSessions }: SingleSignOnDeps,
): Promise<Answer<'deleteSingleSignOn'>> {
  const { organizationId } = actor
  requireUnlimited(actor)
  await queries.lockProvider.first(tx, { organizationId })
  const row = (await queries.findProvider.first(tx, { organizationId })) ?? refuse('not_found')
  await queries.deleteProvider.run(tx, { organizationId })
  await forgetIdentities(tx, organizationId)
  await endProviderSessions(tx, organizationId, userSessions)
  await removeOAuthApp(tx, appOf(organizationId))
  return { reply: { done: true }, audited: { before: view(row, config), after: null } }
}
