import { type ConnectPage, type ConnectPageResult, connectLinkScopes, limits } from '@penstock/wire'
import { configurationOfLink } from '../access.ts'
import { type AuditEntry, record } from '../audit/record.ts'
import { auditActorOf } from '../audit/requests.ts'
import type { ActingAccount, Actor, Answer, Call } from '../call.ts'
import { addConnection, triggerConnection } from '../connections/connections.ts'
import { findConfiguration } from '../connectors/configuration.ts'
import type { Database, Db, Transaction } from '../db/database.ts'
import { emit } from '../events/events.ts'
import { Refusal, refuse, refuseFieldErrors } from '../refusal.ts'
import { unixSeconds } from '../time.ts'
import type { Attempts } from '../tokens/attempts.ts'
import { isCovered } from './creator.ts'
import type { ConnectLinkDeps } from './links.ts'
import * as queries from './queries.ts'
import { digestOf, isPageToken, newToken } from './tokens.ts'
import { viewBranding } from './view.ts'

/**
 * Operations of the page of a connect link, except configuring its connectors. For that, the page calls the usual
 * operations with its own token.
 */

export type ConnectPageDeps = ConnectLinkDeps & { readonly attempts: Attempts }

/** Guesses of all links from one address count together. */
const attemptsKey = 'connect link'

/** Refuses with `link_invalid`, whatever is wrong with the link, and with `rate_limited` after too many. */
async function requireUsable(
  { db, address, body: { token } }: { db: Database; address: string; body: { token: string } },
  { attempts }: ConnectPageDeps,
): Promise<queries.PageRow> {
  await attempts.check(attemptsKey, address)
  const find = isPageToken(token) ? queries.findOpen : queries.findUnopened
  const row = await find.first(db, { digest: digestOf(token) })
  if (row && isCovered(row)) return row
  await attempts.failed(attemptsKey, address)
  refuse('link_invalid')
}

export async function getConnectPage(
  call: Call<'getConnectPage'>,
  deps: ConnectPageDeps,
): Promise<Answer<'getConnectPage'>> {
  const row = await requireUsable(call, deps)
  const [branding, connectors] = await Promise.all([
    queries.findBranding.first(call.db, { organizationId: row.organizationId }).then(viewBranding),
    viewConnectors(call.db, row, deps),
  ])
  const reply: ConnectPage = {
    id: row.id,
    accountId: row.accountId,
    accountName: row.accountName,
    organizationName: branding.name ?? row.organizationName,
    logo: branding.logo,
    colours: branding.colours,
    allowedOrigins: branding.allowedOrigins,
    connectors,
    connectionName: row.template?.name ?? null,
    activates: row.template?.activate ?? false,
    opened: row.openedTime !== null,
    expiresTime: unixSeconds(row.expiresTime),
  }
  return { reply }
}

async function viewConnectors(db: Db, row: queries.PageRow, { catalogue }: ConnectLinkDeps) {
  const { accountId, connectorIds } = row
  const rows = await Promise.all(
    connectorIds.map((connectorId) => {
      const configurationId = configurationOfLink(row, connectorId)
      return findConfiguration(db, { accountId, connectorId, configurationId })
    }),
  )
  return connectorIds.map((connectorId, index) => {
    const connector = catalogue.known(connectorId)
    return {
      connectorId,
      name: connector.name,
      logo: catalogue.logo(connector),
      platform: connector.platform.name,
      configured: rows[index]?.configured ?? false,
      checkable: connector.check !== undefined,
    }
  })
}

/** The page of a link as an actor: in one sub-account, with some of its connectors. */
const actorOf = ({ id, organizationId, accountId, connectorIds, configurationIds }: queries.PageRow): Actor => ({
  kind: 'link',
  id,
  name: null,
  organizationId,
  scopes: connectLinkScopes,
  accountIds: [accountId],
  link: { connectorIds, configurationIds },
})

/**
 * Finds the actor behind the token of a page, as long as its link can be used. Nothing is cached, so a revocation takes effect
 * immediately.
 */
export function createConnectPageAuthenticator(
  database: Database,
): (token: string) => Promise<Actor | undefined> | undefined {
  return (token) => (isPageToken(token) ? findActor(database, token) : undefined)
}
async function findActor(database: Database, token: string): Promise<Actor | undefined> {
  const row = await queries.findOpen.first(database, { digest: digestOf(token) })
  return row && isCovered(row) ? actorOf(row) : undefined
}

/** Whether the page of a link still works. */
export async function isLinkOpen(db: Db, id: string): Promise<boolean> {
  const row = await queries.findOpenById.first(db, { id })
  return row !== undefined && isCovered(row)
}

export async function openConnectPage(
  call: Call<'openConnectPage'>,
  deps: ConnectPageDeps,
): Promise<Answer<'openConnectPage'>> {
  const row = await requireUsable(call, deps)
  if (row.openedTime) refuse('link_invalid')
  const { id, organizationId, accountId } = row
  const accessToken = newToken('page')
  const { address, requestId } = call
  const opened = await call.db.transaction(async (tx) => {
    const pageDigest = digestOf(accessToken)
    const first = await queries.openLink.first(tx, { id, pageDigest, minutes: limits.connectPageMinutes })
    record(tx, {
      organizationId,
      actor: auditActorOf(actorOf(row)),
      action: 'openConnectPage',
      accountId,
      targetId: id,
      after: { status: 'opened' },
      address,
      requestId,
    })
    return first ?? refuse('link_invalid')
  })
  return { reply: { accessToken, expiresTime: unixSeconds(opened.expiresTime) } }
}

export async function finishConnectPage(
  call: Call<'finishConnectPage'>,
  deps: ConnectPageDeps,
): Promise<Answer<'finishConnectPage'>> {
  const found = await requireUsable(call, deps)
  const { outcome, token } = call.body
  if (!isPageToken(token)) refuse('link_invalid')
  const actor = actorOf(found)
  const reply = await call.db.transaction(async (tx) => {
    const { organizationId, accountId } = found
    const account = (await deps.accounts.find(tx, organizationId, accountId, true)) ?? refuse('link_invalid')
    const row = await queries.lockOpen.first(tx, { digest: digestOf(token) })
    if (!row || !isCovered(row)) refuse('link_invalid')
    const { address, requestId } = call
    const about = { organizationId, actor: auditActorOf(actor), accountId, address, requestId }
    const made = outcome === 'completed' ? await complete({ tx, account, about }, row, deps) : undefined
    const { id } = row
    await queries.finishLink.run(tx, { id, outcome, connectionId: made?.id ?? null })
    if (outcome === 'completed') {
      const data = { connectLinkId: id, connectorIds: row.connectorIds, connectionId: made?.id ?? null }
      const type = 'connect_link.completed'
      await emit(tx, { type, organizationId, accountId, connectionId: made?.id ?? null, data })
    }
    const result = { id, status: outcome, connectionId: made?.id ?? null, connectionStatus: made?.status ?? null }
    record(tx, { ...about, action: 'finishConnectPage', targetId: id, after: result })
    return { ...result, redirectUrl: row.redirectUrl && leadBack(row.redirectUrl, id, outcome) }
  }, actor)
  return { reply: reply satisfies ConnectPageResult }
}

type Finishing = {
  readonly tx: Transaction
  readonly account: ActingAccount
  /** Common properties of the audit events. */
  readonly about: Pick<AuditEntry, 'organizationId' | 'actor' | 'accountId' | 'address' | 'requestId'>
}

/** Refuses unless every connector is configured. Creates the connection of the template, and activates it if it is ready. */
async function complete({ tx, account, about }: Finishing, row: queries.PageRow, deps: ConnectPageDeps) {
  refuseFieldErrors(
    (await viewConnectors(tx, row, deps))
      .filter(({ configured }) => !configured)
      .map(({ connectorId, name }) => ({ field: `connector.${connectorId}`, message: `${name} is not configured` })),
    'connector_not_configured',
  )
  if (!row.template) return undefined
  const { activate, ...template } = row.template
  // Unless the template names another configuration, use the configuration that the customer has saved.
  const ofLink = (key: 'src' | 'dest') => ({
    [`${key}ConfigurationId`]: configurationOfLink(row, template[`${key}ConnectorId`]) ?? undefined,
  })
  const body = { ...ofLink('src'), ...ofLink('dest'), ...template }
  const made = await addConnection({ db: tx, account, body }, deps)
  const { id } = made.reply
  record(tx, { ...about, action: 'createConnection', targetId: id, after: made.reply })
  if (!activate) return made.reply
  try {
    const precondition = { check: () => {} }
    const { reply } = await triggerConnection({ db: tx, account, id, precondition }, deps, 'activate')
    const moved = { before: { status: made.reply.status }, after: { status: reply.status } }
    record(tx, { ...about, action: 'updateConnectionStatus', targetId: id, ...moved })
    return reply
  } catch (error) {
    // The connection stays as it was created, because the customer cannot add what is missing.
    if (error instanceof Refusal && error.code === 'connection_not_ready') return made.reply
    throw error
  }
}

/** The address with what became of the link. */
function leadBack(redirectUrl: string, id: string, status: string): string {
  const url = new URL(redirectUrl)
  url.searchParams.set('status', status)
  url.searchParams.set('connectLinkId', id)
  return url.href
}

/** Origins whose pages can show the page of a link in a frame. */
export async function embeddingOrigins(db: Database, id: string): Promise<readonly string[]> {
  return (await queries.findOrigins.first(db, { id }))?.allowedOrigins ?? []
}
