import { limits, streamConnectorIds } from '@penstock/wire'
import type { Answer, Call } from '../call.ts'
import { violates } from '../db/errors.ts'
import { newIdentifier } from '../identifiers.ts'
import { refuse, refuseFieldErrors, requireEditable } from '../refusal.ts'
import {
  lockConfiguration,
  requireConfiguration,
  saveConfiguration,
  uniqueName,
  usersNamedMax,
} from './configuration.ts'
import { type ConnectorDeps, heldByConnections, isConfiguredFromStart } from './connectors.ts'
import * as queries from './queries.ts'
import { etagOf, viewSaved, viewSavedValues } from './view.ts'

/** Which configurations an added connector has: the first one since it was added, and others that are created. */

/** The configurations of one sub-account, or all that the actor can see, without their secrets. */
export async function listConnectorConfigurations(
  { db, actor, account, query: { connectorId, streams, size, offset } }: Call<'listConnectorConfigurations'>,
  deps: ConnectorDeps,
): Promise<Answer<'listConnectorConfigurations'>> {
  const { organizationId, accountIds } = actor
  const filter = {
    organizationId,
    accountIds: account ? [account.id] : accountIds,
    connectorId: connectorId ?? null,
    streamConnectorIds,
    streams: streams ?? null,
  }
  const [rows, count] = await Promise.all([
    queries.listConfigurations.all(db, { ...filter, size, offset }),
    queries.countConfigurations.first(db, filter),
  ])
  return {
    reply: rows.map((row) => viewSavedValues(deps.catalogue.known(row.connectorId), row, deps)),
    total: count?.total ?? 0,
  }
}

/**
 * Adds another configuration to an added connector. If the request has values, it saves them as Configure Connector does.
 * Refuses with `configuration_exists` if another configuration has the name, and with `quota_exceeded` if the connector has
 * reached its limit of configurations.
 */
export async function createConnectorConfiguration(
  { db: tx, actor, account, id: connectorId, body }: Call<'createConnectorConfiguration'>,
  deps: ConnectorDeps,
): Promise<Answer<'createConnectorConfiguration'>> {
  const connector = deps.catalogue.find(connectorId) ?? refuse('not_found')
  const owner = { accountId: account.id, connectorId }
  // Configurations of one connector are created one after another, so that each counts those before it.
  const added = (await queries.lockAdded.first(tx, owner)) ?? refuse('connector_not_added')
  requireEditable(added, deps)
  const count = await queries.countOfConnector.first(tx, owner)
  if ((count?.total ?? 0) >= limits.configurationsOfConnectorMax) {
    const message = `at most ${limits.configurationsOfConnectorMax} of a connector: delete configurations that are not needed`
    refuse('quota_exceeded', [{ field: 'configurations', message }])
  }
  const of = { ...owner, configurationId: newIdentifier() }
  await uniqueName(() =>
    queries.insertConfiguration.run(tx, {
      ...of,
      configured: isConfiguredFromStart(connector),
      name: body.name.trim(),
      secretName: body.secretName?.trim() ?? `${connector.slug}/${account.id}/${of.configurationId}`,
    }),
  )
  const row = await lockConfiguration(tx, of)
  if (!row) throw new Error(`Configuration ${of.configurationId} was not made`)
  const { name, secretName, configured } = row
  const made = { configurationId: of.configurationId, name, secretName, configured }
  if (!body.secretConfig) return { reply: viewSaved(row), etag: etagOf(row), audited: { after: made } }
  const given = { actor, secretConfig: body.secretConfig }
  const { now, audited } = await saveConfiguration(tx, connector, account, row, given, deps)
  const after = { ...made, ...audited.after }
  return { reply: viewSaved(now), etag: etagOf(now), audited: { after, details: audited.details } }
}

/** Deletes a configuration with its secrets. The first configuration can only be deleted with its connector. */
export async function deleteConnectorConfiguration(
  {
    db: tx,
    actor,
    account,
    id: connectorId,
    query: { configurationId },
    precondition,
  }: Call<'deleteConnectorConfiguration'>,
  deps: ConnectorDeps,
): Promise<Answer<'deleteConnectorConfiguration'>> {
  if (!deps.catalogue.find(connectorId)) refuse('not_found')
  const wanted = { actor, accountId: account.id, connectorId, configurationId, field: 'query.configurationId' }
  const row = await requireConfiguration(tx, wanted, lockConfiguration)
  requireEditable(row, deps)
  precondition.check(etagOf(row))
  if (row.first) refuse('configuration_is_first')
  const of = { accountId: account.id, connectorId, configurationId }
  const users = await queries.connectionsUsing.all(tx, { ...of, limit: usersNamedMax })
  refuseFieldErrors(
    users.map(({ id, name }) => ({ field: `connection.${id}`, message: `${name} uses this configuration` })),
    'configuration_in_use',
  )
  try {
    await queries.deleteConfiguration.run(tx, of)
  } catch (error) {
    // A connection was created meanwhile, and the foreign key rejects the delete.
    if (violates(error, ...heldByConnections)) refuse('configuration_in_use')
    throw error
  }
  const { name, secretName, settings } = row
  return { reply: viewSaved(row), audited: { before: { configurationId, name, secretName, settings }, after: null } }
}
