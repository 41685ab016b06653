import { type Connector, changedIdentity, incompatibilities } from '@penstock/connector'
import type { ActingAccount, Answer, Call } from '../call.ts'
import type { Db } from '../db/database.ts'
import { violates } from '../db/errors.ts'
import { newIdentifier } from '../identifiers.ts'
import { refuse, refuseFieldErrors, requireEditable } from '../refusal.ts'
import { type Catalogue, isNamed } from './catalogue.ts'
import {
  type ConfigurationDeps,
  currentValues,
  findConfiguration,
  lockConfiguration,
  requireConfiguration,
  saveConfiguration,
  usersNamedMax,
} from './configuration.ts'
import { identityValues } from './identity-values.ts'
import * as queries from './queries.ts'
import { etagOf, viewAdded, viewConfiguration, viewSaved, viewSupported, viewWords } from './view.ts'

/** Connectors of a sub-account (specification, sections 2.3 to 2.6 and 4.2; invariant 1). */

/** Dependencies of the handlers of connectors. */
export type ConnectorDeps = ConfigurationDeps & { readonly catalogue: Catalogue }

export async function listConnectors(
  { query }: Call<'listConnectors'>,
  { catalogue }: ConnectorDeps,
): Promise<Answer<'listConnectors'>> {
  return catalogue.page(query)
}

export async function getConnector(
  { id }: Call<'getConnector'>,
  { catalogue }: ConnectorDeps,
): Promise<Answer<'getConnector'>> {
  const connector = catalogue.find(id) ?? refuse('not_found')
  return { reply: catalogue.view(connector), etag: catalogue.etag(connector) }
}

/** The search words of each listed connector. There are as many entries as connectors, which fit in one list. */
export async function listConnectorWords(
  _: Call<'listConnectorWords'>,
  { catalogue }: ConnectorDeps,
): Promise<Answer<'listConnectorWords'>> {
  return { reply: catalogue.listed.map(viewWords) }
}

/** Adds connectors to the sub-account, all or none. Connectors that it already has do not change. */
export const addConnectors = (call: Call<'addConnectors'>, deps: ConnectorDeps) => addToAccount(call, deps)

/** The same for a rule that adds them with what else it does. */
export async function addToAccount(
  { db: tx, account, body: { connectorIds } }: Pick<Call<'addConnectors'>, 'db' | 'account' | 'body'>,
  deps: ConnectorDeps,
): Promise<Answer<'addConnectors'>> {
  const { catalogue, config } = deps
  const wanted = [...new Set(connectorIds)]
  const unknown = wanted.filter((id) => !catalogue.listed.some((connector) => connector.id === id))
  refuseFieldErrors(
    unknown.map((id) => ({
      field: `body.connectorIds.${connectorIds.indexOf(id)}`,
      message: `no connector of the catalogue is ${id}`,
    })),
    'not_found',
  )
  const chosen = wanted.map(catalogue.known)
  // In the same order everywhere, so that two concurrent calls do not deadlock.
  const inserted = columns(
    chosen.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    account,
  )
  const { connectorIds: ids } = inserted
  await queries.insertAdded.run(tx, { accountId: account.id, env: config.environment.name, connectorIds: ids })
  const added = await queries.insertFirstConfigurations.all(tx, { accountId: account.id, ...inserted })
  const rows = await queries.listAdded.all(tx, {
    accountId: account.id,
    connectorIds: wanted,
    configured: null,
    size: null,
    offset: 0,
  })
  const byId = new Map(rows.map((row) => [row.connectorId, row]))
  const reply = chosen.flatMap((connector) => {
    const row = byId.get(connector.id)
    return row ? [viewAdded(connector, row, deps)] : []
  })
  const newIds = rows.map(({ connectorId }) => connectorId).filter((id) => added.some((one) => one.connectorId === id))
  return { reply, audited: { after: { connectorIds: newIds }, unchanged: newIds.length === 0 } }
}

/** Whether a sub-account has a connector, for a rule that adds it with what else it does. */
export const isConnectorAdded = async (db: Db, { id }: Pick<ActingAccount, 'id'>, connectorId: string) =>
  (await queries.isAdded.first(db, { accountId: id, connectorId })) !== undefined

/** A connector without fields to fill is configured from the start. */
export const isConfiguredFromStart = ({ secrets }: Connector): boolean =>
  Object.values(secrets).every((field) => field.readonly)

const columns = (connectors: readonly Connector[], account: ActingAccount) => ({
  connectorIds: connectors.map(({ id }) => id),
  configurationIds: connectors.map(newIdentifier),
  configured: connectors.map(isConfiguredFromStart),
  secretNames: connectors.map(({ slug }) => `${slug}/${account.id}`),
})

export async function listAddedConnectors(
  { db, account, query }: Call<'listAddedConnectors'>,
  deps: ConnectorDeps,
): Promise<Answer<'listAddedConnectors'>> {
  const { catalogue } = deps
  const { q, configured, sort = '-added', size, offset } = query
  const filter = { accountId: account.id, connectorIds: idsNamed(catalogue, q), configured: configured ?? null }
  const idsByName = catalogue.all.map(({ id }) => id)
  const [rows, count] = await Promise.all([
    queries.addedList(sort).all(db, { ...filter, idsByName, size, offset }),
    queries.countAdded.first(db, filter),
  ])
  return {
    reply: rows.map((row) => viewAdded(catalogue.known(row.connectorId), row, deps)),
    total: count?.total ?? 0,
  }
}

/** Given a source its compatible destinations, given a destination its compatible sources, by name. */
export async function listSupportedConnectors(
  { db, account, query: { srcConnectorId, destConnectorId, added } }: Call<'listSupportedConnectors'>,
  { catalogue }: ConnectorDeps,
): Promise<Answer<'listSupportedConnectors'>> {
  const given = catalogue.find(srcConnectorId ?? destConnectorId ?? '') ?? refuse('not_found')
  const fits = (other: Connector) =>
    (srcConnectorId ? incompatibilities(given, other) : incompatibilities(other, given)).length === 0
  const rows = await queries.listAdded.all(db, {
    accountId: account.id,
    connectorIds: null,
    configured: null,
    size: null,
    offset: 0,
  })
  const byId = new Map(rows.map((row) => [row.connectorId, row]))
  const reply = catalogue.listed
    .filter((other) => fits(other) && (added === undefined || byId.has(other.id) === added))
    .map((other) => viewSupported(other, srcConnectorId ? 'Destination' : 'Source', byId.get(other.id)))
  return { reply }
}

export async function getConnectorConfiguration(
  { db, actor, account, id: connectorId, query: { configurationId } }: Call<'getConnectorConfiguration'>,
  deps: ConnectorDeps,
): Promise<Answer<'getConnectorConfiguration'>> {
  const connector = deps.catalogue.find(connectorId) ?? refuse('not_found')
  const wanted = { actor, accountId: account.id, connectorId, configurationId, field: 'query.configurationId' }
  const row = await requireConfiguration(db, wanted, findConfiguration)
  const stored = await currentValues(db, account, row)
  const values = { ...stored, ...identityValues(connector, deps.config, account) }
  const states = await countStates(db, account, connectorId, row)
  return { reply: viewConfiguration(connector, row, values, deps), etag: etagOf(row), states }
}

/** Saves a connector's configuration. `saveConfiguration` defines what is given, kept and refused. */
export async function configureConnector(
  { db: tx, actor, account, id: connectorId, body, precondition }: Call<'configureConnector'>,
  deps: ConnectorDeps,
): Promise<Answer<'configureConnector'>> {
  const { name, secretConfig, configurationId, secretName } = body
  const connector = deps.catalogue.find(connectorId) ?? refuse('not_found')
  const wanted = { actor, accountId: account.id, connectorId, configurationId, field: 'body.configurationId' }
  const row = await requireConfiguration(tx, wanted, lockConfiguration)
  requireEditable(row, deps)
  precondition.check(etagOf(row))

  const given = { actor, secretConfig, name, secretName }
  const { now, audited } = await saveConfiguration(tx, connector, account, row, given, deps)
  const changed = changedIdentity(connector.secrets, row.settings, now.settings)
  const states = changed.length > 0 ? await countStates(tx, account, connectorId, row) : 0
  return { reply: viewSaved(now), etag: etagOf(now), audited, states }
}

/** How many connections have a state that describes the data which a configuration names. */
async function countStates(
  db: Db,
  { id: accountId }: ActingAccount,
  connectorId: string,
  { configurationId }: queries.ConfigurationRow,
): Promise<number> {
  return (await queries.statesUsing.first(db, { accountId, connectorId, configurationId }))?.states ?? 0
}

/** Removes a connector from the sub-account with all its configurations, and destroys their secrets (invariant 4). */
export async function removeConnector(
  { db: tx, account, id: connectorId, precondition }: Call<'removeConnector'>,
  deps: ConnectorDeps,
): Promise<Answer<'removeConnector'>> {
  const connector = deps.catalogue.find(connectorId) ?? refuse('not_found')
  const owner = { accountId: account.id, connectorId }
  if (!(await queries.lockAdded.first(tx, owner))) refuse('connector_not_added')
  // Waits for a save of its configuration, so that the answer is what was removed.
  const of = { ...owner, configurationId: null }
  const row = (await queries.lockConfiguration.first(tx, of)) ?? refuse('connector_not_added')
  requireEditable(row, deps)
  precondition.check(etagOf(row))
  const users = await queries.connectionsUsing.all(tx, { ...of, limit: usersNamedMax })
  refuseFieldErrors(
    users.map(({ id, name }) => ({ field: `connection.${id}`, message: `${name} uses this connector` })),
    'connector_in_use',
  )
  try {
    const removed = await queries.deleteAdded.run(tx, owner)
    if (removed === 0) refuse('connector_not_added')
  } catch (error) {
    // A connection was created meanwhile. The database decides.
    if (violates(error, ...heldByConnections)) refuse('connector_in_use')
    throw error
  }
  const { name, secretName, settings, ...removed } = row
  const before = { connectorId, configurationId: removed.configurationId, name, secretName, settings }
  // It could be deleted, so no connection used it.
  const unused = { ...row, srcConnections: 0, destConnections: 0 }
  return { reply: viewAdded(connector, unused, deps), audited: { before, after: null } }
}

/** The constraints with which connections keep the connectors and configurations that they use. */
export const heldByConnections = [
  'connections_src_added',
  'connections_dest_added',
  'connections_src_configuration',
  'connections_dest_configuration',
]

/** The connectors that a `q` filter names. Null if it filters nothing. */
export const idsNamed = (catalogue: Catalogue, q: string | undefined): string[] | null =>
  q ? catalogue.all.filter((connector) => isNamed(connector, q)).map(({ id }) => id) : null
