import { type BodyOf, type FieldError, limits } from '@penstock/wire'
import { requireGrantable } from '../access.ts'
import { record } from '../audit/record.ts'
import { auditActorOf } from '../audit/requests.ts'
import type { ActingAccount, Answer, Awaitable, Call } from '../call.ts'
import { type ConnectionDeps, readTemplate } from '../connections/connections.ts'
import { connectorsOfConfigurations, findConfiguration } from '../connectors/configuration.ts'
import { addToAccount, type ConnectorDeps } from '../connectors/connectors.ts'
import type { Db } from '../db/database.ts'
import { newIdentifier } from '../identifiers.ts'
import { refuse, refuseFieldErrors, requireEditable, requireShare } from '../refusal.ts'
import { readRedirectUrl } from './addresses.ts'
import { scopesOfPage } from './creator.ts'
import * as queries from './queries.ts'
import { digestOf, newToken } from './tokens.ts'
import { viewLink } from './view.ts'

/** Operations on connect links for their creators. `page.ts` has the operations of their pages. */

export type ConnectLinkDeps = ConnectorDeps &
  ConnectionDeps & {
    readonly accounts: {
      find(db: Db, organizationId: string, accountId: string, forWrite: boolean): Awaitable<ActingAccount | undefined>
    }
  }

/** Creates a link. Connectors that the sub-account does not have yet are added. */
export async function createConnectLink(
  call: Call<'createConnectLink'>,
  deps: ConnectLinkDeps,
): Promise<Answer<'createConnectLink'>> {
  const { db: tx, actor, body } = call
  const { accountId, connectionTemplate: template } = body
  requireGrantable(actor, {
    scopes: scopesOfPage(template !== undefined),
    accountIds: [accountId],
  })
  const found = actor.accountIds?.includes(accountId) ?? true
  const account = found ? await deps.accounts.find(tx, actor.organizationId, accountId, true) : undefined
  if (!account) {
    refuse('invalid_request', [{ field: 'body.accountId', message: 'is not a sub-account of the organization' }])
  }
  const { connectorIds, redirectUrl } = readBody(body, deps)
  const configurationIds = await readConfigurations(call, connectorIds)
  await addMissing(call, account, [...new Set([...connectorIds, ...sidesOf(template)])], deps)
  const { organizationId } = actor
  await queries.lockOrganization.first(tx, { organizationId })
  const count = await queries.countUsable.first(tx, { organizationId, accountId })
  requireShare(
    count ?? { total: 0, ofAccount: 0 },
    { total: limits.connectLinksMax, ofAccount: limits.connectLinksOfAccountMax },
    {
      field: 'connectLinks',
      what: 'that can be used',
      ofAccount: 'of a sub-account that can be used',
      advice: 'revoke links that are not needed',
    },
  )
  const token = newToken('link')
  const row = await queries.insertLink.first(tx, {
    id: newIdentifier(),
    organizationId,
    accountId,
    digest: digestOf(token),
    connectorIds,
    configurationIds,
    redirectUrl,
    template: template ? JSON.stringify(template) : null,
    clientId: actor.clientId ?? null,
    userId: actor.kind === 'user' ? actor.id : null,
    seconds: body.expiry ?? limits.connectLinkSecondsDefault,
  })
  if (!row) throw new Error('The connect link was not stored')
  return { reply: { ...viewLink(row), url: `${deps.config.publicUrl}/connect/${row.id}#${token}` } }
}

const sidesOf = (template: BodyOf<'createConnectLink'>['connectionTemplate']) =>
  template ? [template.srcConnectorId, template.destConnectorId] : []

/** Parses the content of a link. Refuses it with all of its errors. */
function readBody(body: BodyOf<'createConnectLink'>, { catalogue }: ConnectLinkDeps) {
  const { connectionTemplate: template } = body
  const fieldErrors: FieldError[] = []
  const connectorIds = body.connectorIds ?? [...new Set(sidesOf(template))]
  if (connectorIds.length === 0) {
    fieldErrors.push({ field: 'body.connectorIds', message: 'is missing: name connectors, or a template' })
  }
  for (const [index, id] of (body.connectorIds ?? []).entries()) {
    if (!catalogue.listed.some((connector) => connector.id === id)) {
      fieldErrors.push({ field: `body.connectorIds.${index}`, message: 'is not a connector of the catalogue' })
    }
    if (template && !sidesOf(template).includes(id)) {
      fieldErrors.push({ field: `body.connectorIds.${index}`, message: 'is neither side of the template' })
    }
  }
  const redirect = body.redirectUrl === undefined ? { url: null } : readRedirectUrl(body.redirectUrl)
  if ('message' in redirect) fieldErrors.push({ field: 'body.redirectUrl', message: redirect.message })
  refuseFieldErrors(fieldErrors)
  if (template) readTemplate(catalogue, template, 'body.connectionTemplate')
  return { connectorIds, redirectUrl: 'url' in redirect ? redirect.url : null }
}

/**
 * The configuration of each connector of a link. Empty means the first configuration. Refuses a configuration that does not
 * belong to one of these connectors in the sub-account, a second configuration of a connector, and a template with
 * configurations of other connectors.
 */
async function readConfigurations(
  { db: tx, body }: Call<'createConnectLink'>,
  connectorIds: readonly string[],
): Promise<string[]> {
  const { accountId, configurationIds = [], connectionTemplate: template } = body
  const { srcConfigurationId, destConfigurationId } = template ?? {}
  const ofTemplate = [srcConfigurationId, destConfigurationId].filter((id) => id !== undefined)
  const connectorOf = await connectorsOfConfigurations(tx, accountId, [...configurationIds, ...ofTemplate])
  const fieldErrors: FieldError[] = []
  const chosen = new Map<string, string>()
  for (const [index, id] of configurationIds.entries()) {
    const field = `body.configurationIds.${index}`
    const connectorId = connectorOf.get(id)
    if (connectorId === undefined || !connectorIds.includes(connectorId)) {
      fieldErrors.push({ field, message: 'is not a configuration of one of the connectors in this sub-account' })
    } else if (chosen.has(connectorId)) {
      fieldErrors.push({ field, message: 'is the second configuration of its connector' })
    } else chosen.set(connectorId, id)
  }
  for (const key of ['src', 'dest'] as const) {
    const id = template?.[`${key}ConfigurationId`]
    if (id === undefined || connectorOf.get(id) === template?.[`${key}ConnectorId`]) continue
    const field = `body.connectionTemplate.${key}ConfigurationId`
    fieldErrors.push({ field, message: 'is not a configuration of that connector in this sub-account' })
  }
  refuseFieldErrors(fieldErrors)
  return connectorIds.map((connectorId) => chosen.get(connectorId) ?? '')
}

/** Adds the connectors that the sub-account does not have. Those that it has must be changeable here. */
async function addMissing(
  call: Call<'createConnectLink'>,
  account: ActingAccount,
  connectorIds: readonly string[],
  deps: ConnectLinkDeps,
): Promise<void> {
  const { db: tx, actor, address, requestId } = call
  const missing: string[] = []
  for (const connectorId of connectorIds) {
    const row = await findConfiguration(tx, { accountId: account.id, connectorId, configurationId: null })
    if (row) requireEditable(row, deps)
    else missing.push(connectorId)
  }
  if (missing.length === 0) return
  await addToAccount({ db: tx, account, body: { connectorIds: missing } }, deps)
  record(tx, {
    organizationId: actor.organizationId,
    actor: auditActorOf(actor),
    action: 'addConnectors',
    accountId: account.id,
    after: { connectorIds: missing },
    address,
    requestId,
  })
}

export async function listConnectLinks({
  db,
  actor: { organizationId, accountIds },
  account,
  query: { size, offset },
}: Call<'listConnectLinks'>): Promise<Answer<'listConnectLinks'>> {
  const filter = { organizationId, accountIds, accountId: account?.id ?? null }
  const [rows, count] = await Promise.all([
    queries.listLinks.all(db, { ...filter, size, offset }),
    queries.countLinks.first(db, filter),
  ])
  return { reply: rows.map(viewLink), total: count?.total ?? 0 }
}

export async function getConnectLink({
  db,
  actor: { organizationId, accountIds },
  id,
}: Call<'getConnectLink'>): Promise<Answer<'getConnectLink'>> {
  const row = await queries.findLink.first(db, { organizationId, accountIds, id })
  return { reply: viewLink(row ?? refuse('not_found')) }
}

export async function revokeConnectLink({
  db: tx,
  actor: { organizationId, accountIds },
  id,
}: Call<'revokeConnectLink'>): Promise<Answer<'revokeConnectLink'>> {
  const of = { organizationId, accountIds, id }
  const found = (await queries.lockLink.first(tx, of)) ?? refuse('not_found')
  const before = viewLink(found)
  // A link that its creator can no longer use can be revoked permanently.
  if (found.outcome ?? found.revokedTime ?? found.expired) return { reply: before, audited: { unchanged: true } }
  await queries.revokeLink.run(tx, { id })
  const row = await queries.findLink.first(tx, of)
  return { reply: viewLink(row ?? refuse('not_found')), audited: { before, after: null } }
}
