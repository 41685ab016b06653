import {
  type Connector,
  incompatibilities,
  insecureAddresses,
  missingValues,
  readValues,
  rebindSecrets,
  type Values,
} from '@penstock/connector'
import type { FieldError } from '@penstock/wire'
import type { ActingAccount, Answer, Call } from '../call.ts'
import type { Config } from '../config.ts'
import type { Db, Transaction } from '../db/database.ts'
import { violates } from '../db/errors.ts'
import { newIdentifier } from '../identifiers.ts'
import { refuse, refuseFieldErrors, requireEditable } from '../refusal.ts'
import type { Keyring } from '../secrets/keyring.ts'
import { namesOfSecrets, saveSecrets } from '../secrets/secrets.ts'
import { type Catalogue, isNamed } from './catalogue.ts'
import * as queries from './queries.ts'
import { missingForRole } from './readiness.ts'
import { viewAdded, viewConfiguration, viewSaved, viewSupported } from './view.ts'

/** Connectors of a sub-account (specification, sections 2.3 to 2.6 and 4.2; invariant 1). */

/** What the handlers of connectors need. */
export type ConnectorDeps = { readonly config: Config; readonly catalogue: Catalogue; readonly keyring: Keyring }

const usersNamedMax = 10

/** One version of a configuration; a connector that was removed and added again is not the one it was. */
const etagOf = ({ configurationId, version }: Pick<queries.ConfigurationRow, 'configurationId' | 'version'>) =>
  `${configurationId}-${version}`

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

/** Adds connectors to the sub-account, all or none; those it has already stay as they are. */
export async function addConnectors(
  { db: tx, account, body: { connectorIds } }: Call<'addConnectors'>,
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
  await queries.insertAdded.run(tx, {
    accountId: account.id,
    env: config.environment.name,
    // In one order everywhere, so that two such calls at once never wait for each other crosswise.
    ...columns(
      chosen.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
      account,
    ),
  })
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
  return { reply }
}

const columns = (connectors: readonly Connector[], account: ActingAccount) => ({
  connectorIds: connectors.map(({ id }) => id),
  configurationIds: connectors.map(newIdentifier),
  // A connector without fields to fill is configured from the start.
  configured: connectors.map(({ secrets }) => Object.values(secrets).every((field) => field.readonly)),
  secretNames: connectors.map(({ slug }) => `${slug}/${account.id}`),
})

export async function listAddedConnectors(
  { db, account, query: { q, configured, size, offset } }: Call<'listAddedConnectors'>,
  deps: ConnectorDeps,
): Promise<Answer<'listAddedConnectors'>> {
  const { catalogue } = deps
  const filter = { accountId: account.id, connectorIds: idsNamed(catalogue, q), configured: configured ?? null }
  const [rows, count] = await Promise.all([
    queries.listAdded.all(db, { ...filter, size, offset }),
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
    .map((other) => viewSupported(other, byId.get(other.id)))
  return { reply }
}

export async function getConnectorConfiguration(
  { db, account, id: connectorId }: Call<'getConnectorConfiguration'>,
  deps: ConnectorDeps,
): Promise<Answer<'getConnectorConfiguration'>> {
  const connector = deps.catalogue.find(connectorId) ?? refuse('not_found')
  const row =
    (await queries.findAdded.first(db, { accountId: account.id, connectorId })) ?? refuse('connector_not_added')
  const values = await currentValues(db, account, row)
  return { reply: viewConfiguration(connector, row, values, deps), etag: etagOf(row) }
}

/**
 * Saves a connector's configuration: keys given replace, keys left out stay, null clears. Stored secrets do not follow to
 * a new destination, and none goes over http:// to where the operator does not allow it.
 */
export async function configureConnector(
  { db: tx, account, id: connectorId, body, precondition }: Call<'configureConnector'>,
  deps: ConnectorDeps,
): Promise<Answer<'configureConnector'>> {
  const { catalogue, config, keyring } = deps
  const { name, secretConfig, configurationId, secretName } = body
  const connector = catalogue.find(connectorId) ?? refuse('not_found')
  const owner = { accountId: account.id, connectorId }
  const row = (await queries.lockAdded.first(tx, owner)) ?? refuse('connector_not_added')
  if (configurationId !== undefined && configurationId !== row.configurationId) {
    refuse('not_found', [{ field: 'body.configurationId', message: 'is not the configuration of this connector' }])
  }
  requireEditable(row, deps)
  precondition.check(etagOf(row))

  const current = await currentValues(tx, account, row)
  const reading = readValues(connector.secrets, secretConfig, 'body.secretConfig', current)
  const rebinding = rebindSecrets(connector.secrets, current, reading, 'body.secretConfig')
  const { set } = reading
  const cleared = [...reading.cleared, ...rebinding.dropped]
  const fieldErrors = [...reading.fieldErrors, ...withoutRepeats(rebinding.fieldErrors, reading.fieldErrors)]
  const merged: Record<string, Values[string]> = { ...current, ...set }
  for (const key of cleared) delete merged[key]
  const insecure = insecureAddresses(connector.secrets, merged, config.plainHttp)
  fieldErrors.push(...insecure.map(({ key, message }) => ({ field: `body.secretConfig.${key}`, message })))
  refuseFieldErrors([
    ...fieldErrors,
    ...withoutRepeats(missingValues(connector.secrets, merged, 'body.secretConfig'), fieldErrors),
  ])

  const isSecret = (key: string) => connector.secrets[key]?.type === 'Password'
  await requireActiveReady(tx, connector, owner, merged)
  const only = (values: Values, wanted: (key: string) => boolean) =>
    Object.fromEntries(Object.entries(values).filter(([key]) => wanted(key)))
  await saveSecrets(tx, keyring, owner, only(set, isSecret) as Record<string, string>, cleared.filter(isSecret))
  const change = { name: name?.trim() ?? row.name, secretName: secretName?.trim() ?? row.secretName }
  const settings = only(merged, (key) => !isSecret(key))
  const saved = await queries.saveConfiguration.first(tx, { ...owner, ...change, settings: JSON.stringify(settings) })
  const now = { ...row, ...change, ...saved, configured: true }
  return { reply: viewSaved(now), etag: etagOf(now) }
}

/** Removes a connector from the sub-account, and destroys its secrets with it (invariant 4). */
export async function removeConnector(
  { db: tx, account, id: connectorId, precondition }: Call<'removeConnector'>,
  deps: ConnectorDeps,
): Promise<Answer<'removeConnector'>> {
  const connector = deps.catalogue.find(connectorId) ?? refuse('not_found')
  const owner = { accountId: account.id, connectorId }
  // Waits for a save of its configuration, so that the answer is what was removed.
  if (!(await queries.lockAdded.first(tx, owner))) refuse('connector_not_added')
  const row = (await queries.findAdded.first(tx, owner)) ?? refuse('connector_not_added')
  requireEditable(row, deps)
  precondition.check(etagOf(row))
  const users = await queries.connectionsUsing.all(tx, { ...owner, limit: usersNamedMax })
  refuseFieldErrors(
    users.map(({ id, name }) => ({ field: `connection.${id}`, message: `${name} uses this connector` })),
    'connector_in_use',
  )
  try {
    const removed = await queries.deleteAdded.run(tx, owner)
    if (removed === 0) refuse('connector_not_added')
  } catch (error) {
    // A connection came in between; the database has the last word.
    if (violates(error, 'connections_src_added', 'connections_dest_added')) refuse('connector_in_use')
    throw error
  }
  return { reply: viewAdded(connector, row, deps) }
}

/** An active connection stays complete, as when its own settings are changed: what it needs of its source and destination stays there. */
async function requireActiveReady(
  tx: Transaction,
  connector: Connector,
  owner: { accountId: string; connectorId: string },
  settings: Values,
): Promise<void> {
  const lacking = connector.roles
    .map((role) => ({
      role,
      fieldErrors: missingForRole(connector, role, { settings, secretNames: [] }, 'body.secretConfig'),
    }))
    .filter(({ fieldErrors }) => fieldErrors.length > 0)
  if (lacking.length === 0) return
  const roles = lacking.map(({ role }) => role)
  const users = await queries.activeConnectionsUsing.all(tx, { ...owner, roles, limit: usersNamedMax })
  if (users.length === 0) return
  const fieldErrors = lacking.flatMap((one) => one.fieldErrors)
  refuse('connection_not_ready', [
    ...fieldErrors.filter(
      ({ field }, index) => fieldErrors.findIndex((fieldError) => fieldError.field === field) === index,
    ),
    ...users.map(({ id, name }) => ({ field: `connection.${id}`, message: `${name} is active and needs it` })),
  ])
}

/** What is set: settings as they are, secrets as an empty text, since only their presence counts here. */
async function currentValues(db: Db, account: ActingAccount, row: queries.ConfigurationRow): Promise<Values> {
  const names = await namesOfSecrets(db, { accountId: account.id, connectorId: row.connectorId })
  return { ...row.settings, ...Object.fromEntries(names.map((name) => [name, ''])) }
}

/** A field that has an error already is not also called missing. */
const withoutRepeats = (fieldErrors: readonly FieldError[], known: readonly FieldError[]) =>
  fieldErrors.filter(({ field }) => !known.some((fieldError) => fieldError.field === field))

/** The connectors that a `q` filter names; null where it filters nothing. */
export const idsNamed = (catalogue: Catalogue, q: string | undefined): string[] | null =>
  q ? catalogue.listed.filter((connector) => isNamed(connector, q)).map(({ id }) => id) : null
